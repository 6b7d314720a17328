"""The tables of the report, from results.json and from single results."""

from collections.abc import Sequence
from typing import Any

from springback.streaming.wording import duration, percent
from springback_paper.models import MODELS
from springback_paper.report.document import TableBlock
from springback_paper.results.results_json import statistic
from springback_paper.wording import spread


def comparison_table(results: dict[str, Any]) -> TableBlock:
    """Every model on still digits and on the video, ours and the paper's."""
    paper = results["paper"]
    rows = [
        (
            MODELS[model].name,
            *(
                text
                for table in ("omnist_test", "mnist_test")
                for text in (
                    spread(results[table].get(model), missing=_absent(model, table)),
                    spread(paper[table].get(model), missing="-"),
                )
            ),
            MODELS[model].trained_on,
        )
        for model in _listed()
    ]
    fewer = _fewer_digits(results)
    return TableBlock(
        columns=("model", "video", "paper", "still digits", "paper", "trained on"),
        rows=tuple(rows),
        caption=(
            "Accuracy in percent on the frames of the OMNIST test video and on the MNIST test digits; mean ± standard "
            "deviation over seeds where there are several. Still digits are shown at rest, so a model has the same "
            f"value there with and without short-term plasticity.{fewer}"
        ),
        words=(0, 5),
    )


def occlusion_table(results: dict[str, Any], table: str = "by_rows_hidden") -> TableBlock:
    """Accuracy of every model by what is hidden."""
    entries = results[table]
    keys = list(dict.fromkeys(key for entry in entries.values() for key in entry if key != "noise"))
    keys.sort(key=lambda key: float(key.split("-")[0]))
    rows = [
        (MODELS[model].name, *(_short(entries[model].get(key)) for key in (*keys, "noise")))
        for model in _listed()
        if model in entries
    ]
    what = "rows hidden" if table == "by_rows_hidden" else "percent of the ink hidden"
    return TableBlock(
        columns=(what, *keys, "noise"),
        rows=tuple(rows),
        caption=f"Accuracy in percent. Columns: {what}. The paper has no table.",
    )


def methods_table(followed: Sequence[Any]) -> TableBlock:
    """The trained CNN on the video: the elastic head beside every other method, over all seeds."""
    reached = {name: statistic([one.accuracy[name] for one in followed]) for name in followed[0].accuracy}
    rows = [
        (
            name,
            "; ".join(sorted({one.settings[name] or "-" for one in followed})),
            spread(statistic([one.practice[name] for one in followed])),
            spread(reached[name]),
        )
        for name in sorted(reached, key=lambda name: -reached[name]["mean"])
    ]
    still = spread(statistic([one.still for one in followed]))
    return TableBlock(
        columns=("way to follow the video", "settings", "practice video", "test video"),
        rows=tuple(rows),
        caption=(
            f"Accuracy in percent of a CNN, trained on still digits and noise ({still} % on still test digits), on "
            f"{followed[0].video}; mean ± standard deviation over seeds where there are several. Every way has its "
            "settings chosen on a video of training digits. Not in the paper. `springback bench streams` compares more "
            "methods on more streams."
        ),
        words=(0, 1),
    )


def speed_table(results: dict[str, Any]) -> TableBlock:
    """Images and frames per second."""
    names = {
        "spiking_training_images_per_s": "spiking network, training, images/s",
        "spiking_static_frames_per_s": "spiking network, video, static, frames/s",
        "spiking_st_stdp_frames_per_s": "spiking network, video, ST-STDP, frames/s",
        "elastic_frames_per_s": "elastic clustering, video, frames/s",
    }
    speed = results["speed"]
    rows = [(text, f"{speed[name]:,.0f}" if name in speed else "not run") for name, text in names.items()]
    return TableBlock(
        columns=("work", "per second"),
        rows=tuple(rows),
        caption="Processor time of one core, while other tasks ran beside it. The paper gives no speeds.",
    )


def times_table(results: dict[str, Any]) -> TableBlock:
    """How long each task took."""
    seconds = results["speed"].get("task_seconds", {})
    rows = sorted(seconds.items(), key=lambda one: -one[1])
    return TableBlock(columns=("task", "time"), rows=tuple((name, duration(value)) for name, value in rows))


def _listed() -> list[str]:
    """Every model but those of the table of the theory as written."""
    return [key for key, model in MODELS.items() if not model.why]


def _short(stat: dict[str, Any] | None) -> str:
    return "-" if stat is None else percent(stat["mean"], 1)


def _absent(model: str, table: str) -> str:
    """Recurrent networks see no still digits; anything else that is missing was not run."""
    return "-" if table == "mnist_test" and not MODELS[model].sees_stills else "not run"


def _fewer_digits(results: dict[str, Any]) -> str:
    shown = results["environment"].get("scope", {}).get("test_digits", {})
    most = max(shown.values(), default=0)
    fewer = [f"{MODELS[model].name}: {n:,}" for model, n in shown.items() if n < most]
    return f" On fewer test digits than the {most:,} of the others: {'; '.join(fewer)}." if fewer else ""
