"""Every public name has its place and its example, every page its place in the menu, every picture its code."""

import ast
import importlib
import json
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PACKAGES = {
    "springback.elastic": "elastic",
    "springback.spiking": "spiking",
    "springback.spiking.composed": "spiking",
    "springback.spiking.plots": "spiking",
    "springback.spiking.exchange": "spiking",
    "springback.heads": "heads",
    "springback.heads.onnx": "heads",
    "springback.torch": "heads",
    "springback.live": "live",
    "springback.data": "index",
    "springback_paper.baselines": "applications",
    "springback_bench.rivals": "applications",
    "springback_bench.stream_sets": "applications",
}
"""Each package whose names are public, and its page."""

MODULES = {
    "springback.streaming.records": "index",
    "springback.streaming.readout": "index",
    "springback.streaming.metrics": "index",
    "springback.data.pretrained": "index",
    "springback_paper.report": "applications",
}


def menu() -> list[str]:
    def pages(entry: object) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        inner = entry.values() if isinstance(entry, dict) else entry
        return [page for one in inner for page in pages(one)]

    return pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])


def api_page(package: str) -> str:
    return (DOCS / "api" / f"{(PACKAGES | MODULES)[package]}.md").read_text()


def test_the_pages_are_few_enough_to_be_read():
    assert 20 < len(menu()) <= 30


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_on_the_page_of_its_package(package):
    public = importlib.import_module(package).__all__
    shown = re.findall(
        rf"^::: {re.escape(package)}\.(\w+)$",
        api_page(package),
        re.MULTILINE,
    )
    assert sorted(shown) == sorted(public)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_an_example_in_its_docstring_or_below_it(package):
    module = importlib.import_module(package)
    page = api_page(package)
    below = dict(re.findall(rf"^::: {re.escape(package)}\.(\w+)$(.*?)(?=^:::|\Z)", page, re.MULTILINE | re.DOTALL))
    without = [
        name
        for name in module.__all__
        if ">>>" not in (getattr(module, name).__doc__ or "") and not re.search(rf">>> .*\b{name}\b", below[name])
    ]
    used_above = [name for name in without if re.search(rf">>> .*\b{name}\b", page) and ">>>" in below[name]]
    assert sorted(without) == sorted(used_above)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_of_the_other_modules_has_its_place_and_its_example(module):
    loaded = importlib.import_module(module)
    page = api_page(module)
    public = getattr(loaded, "__all__", None) or [
        name
        for name, made in vars(loaded).items()
        if not name.startswith("_") and callable(made) and getattr(made, "__module__", "") == loaded.__name__
    ]
    assert public
    for name in public:
        assert f"::: {module}.{name}\n" in page
        assert ">>>" in (getattr(loaded, name).__doc__ or "") or re.search(rf"^>>> .*\b{name}\b", page, re.MULTILINE)


def test_the_readme_shows_the_accuracies_of_the_results():
    def numbers(record: object) -> set[str]:
        if isinstance(record, dict) and {"mean", "std"} <= set(record):
            return {f"{100 * record['mean']:.2f} ± {100 * record['std']:.2f}"}
        return {one for part in record.values() for one in numbers(part)} if isinstance(record, dict) else set()

    results = json.loads((DOCS / "data" / "results.json").read_text())
    table = (ROOT / "README.md").read_text().split("## What it reaches")[1].split("\n## ")[0]
    shown = set(re.findall(r"\d+\.\d+ ± \d+\.\d+", table))
    assert len(shown) > 10
    assert shown <= numbers(results)


def test_every_page_is_in_the_menu_once():
    hidden = {DOCS / "building", DOCS / "data"}
    pages = [path for path in DOCS.rglob("*.md") if not hidden & set(path.parents)]
    assert sorted(menu()) == sorted(str(path.relative_to(DOCS)) for path in pages)


def test_every_picture_on_a_page_exists():
    for page in DOCS.rglob("*.md"):
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text()):
            assert (page.parent / target).is_file(), f"{page}: {target}"


def test_python_blocks_are_either_examples_that_run_or_code_that_parses():
    blocks = [
        block
        for page in DOCS.rglob("*.md")
        for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    ]
    assert len(blocks) > 20
    for block in blocks:
        assert block.startswith(">>>") or ast.parse(block).body


def test_pages_name_no_host_for_scripts_fonts_or_styles():
    for path in [*DOCS.rglob("*.md"), ROOT / "mkdocs.yml", DOCS / "style.css", DOCS / "iframe-worker.js"]:
        assert not re.search(r"(src|href)=.https?://|url\(https?://|fonts\.g|unpkg|jsdelivr", path.read_text()), path


def test_every_table_of_a_page_stands_in_the_file_itself_right_below_its_mark():
    marked = 0
    for page in DOCS.rglob("*.md"):
        for table in re.findall(
            r"^<!-- table: [\w ]+ -->\n(.*?)^<!-- end of", page.read_text(), re.MULTILINE | re.DOTALL
        ):
            rows = [line for line in table.splitlines() if line.startswith("|")]
            assert table.startswith(f"\n{rows[0]}\n| --- |")
            assert len(rows) > 2
            assert len({line.count(" | ") for line in rows}) == 1
            marked += 1
    assert marked >= 6


def test_every_mark_on_a_page_has_content_and_an_end():
    for page in DOCS.rglob("*.md"):
        begins = re.findall(r"^<!-- (?!end of)(.+) -->$", page.read_text(), re.MULTILINE)
        parts = re.findall(
            r"^<!-- ([^\n]+) -->\n\n.+?\n\n<!-- end of [^\n]+ -->$", page.read_text(), re.MULTILINE | re.DOTALL
        )
        assert begins == parts, page


def test_every_file_that_a_page_links_to_exists():
    for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)[^)\s]*\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page}: {target}"


INVENTED = {"object_lengths", "always_noise", "label_shift", "blobs", "random_walk", "slow"}
"""The files that the guide to extending springback lets its reader write."""


@pytest.mark.parametrize("page", [*sorted(DOCS.glob("*.md")), ROOT / "README.md"], ids=lambda page: page.stem)
def test_every_file_of_ours_that_a_page_names_exists(page):
    named = re.findall(r"(?<![\w./-])(?:src|docs|tests|tools|examples)/[\w./-]*\w", page.read_text())
    assert [one for one in named if Path(one).stem not in INVENTED and not (ROOT / one).exists()] == []
