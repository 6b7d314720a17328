"""A release: the version, the changelog, the branch and the tag agree, or one sentence says what to do."""

import runpy
import sys
from pathlib import Path

import pytest

from springback import __version__

ROOT = Path(__file__).parents[1]
TOOL = runpy.run_path(str(ROOT / "tools" / "release"))
heading_problem, place_problem = TOOL["heading_problem"], TOOL["place_problem"]


def test_a_dated_heading_of_the_version_is_accepted():
    assert heading_problem("1.2.0", "# Changelog\n\n## 1.2.0 (2026-03-04)\n\n- New.\n\n## 1.1.0 (unreleased)\n") is None


@pytest.mark.parametrize(
    ("heading", "said"),
    [
        ("## 1.2.0 (unreleased)", "Give version 1.2.0 its date in CHANGELOG.md"),
        ("## 1.2.0", "Give version 1.2.0 its date in CHANGELOG.md"),
        ("## 1.2.0 (soon, 2026-03-04)", "Give version 1.2.0 its date in CHANGELOG.md"),
        ("## 1.1.0 (2026-03-04)\n\n## 1.2.0 (2026-03-05)", "must begin with version 1.2.0"),
        ("## 1.2.01 (2026-03-04)", "must begin with version 1.2.0"),
        ("no heading", "must begin with version 1.2.0"),
    ],
)
def test_any_other_heading_is_refused(heading, said):
    assert said in heading_problem("1.2.0", f"# Changelog\n\n{heading}\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"branch": "docs"}, "Switch to main for a release; this is docs."),
        ({"branch": ""}, "Switch to main for a release; this is no branch."),
        ({"all_tags": ["v1.1.0", "v1.2.0"]}, "The tag v1.2.0 exists already"),
        ({"tagged": True}, "This commit must have the tag v1.2.0; it has none."),
        ({"tagged": True, "branch": "", "tags_here": ["v1.1.0"]}, "it has v1.1.0."),
        ({"tagged": True, "branch": "", "tags_here": ["v1.2.0"], "all_tags": ["v1.2.0"]}, None),
    ],
)
def test_a_release_is_a_new_tag_on_main_or_the_tag_itself(change, said):
    place = {"branch": "main", "tags_here": [], "all_tags": ["v1.1.0"], "tagged": False, **change}
    problem = place_problem("v1.2.0", **place)
    assert problem is None if said is None else said in problem


def test_the_changelog_begins_with_the_version_of_the_source():
    problem = heading_problem(__version__, (ROOT / "CHANGELOG.md").read_text())
    assert problem is None or "its date" in problem


def test_the_tool_reads_the_version_that_the_package_has():
    assert TOOL["version_of_source"]() == __version__


def test_a_step_that_fails_is_named_with_the_last_line_that_it_said():
    failing = [sys.executable, "-c", "import sys; sys.exit('many lines\\nno such package')"]
    with pytest.raises(TOOL["ReleaseError"], match=r"^Installing the wheel failed: no such package$"):
        TOOL["run"]("Installing the wheel", *failing)
    with pytest.raises(TOOL["ReleaseError"], match=r"^Building failed: .*no-such-program"):
        TOOL["run"]("Building", "no-such-program")
