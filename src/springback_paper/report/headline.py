"""What opens the report: the main models on the video, ours beside the paper's."""

from typing import Any

from springback_paper.models import MODELS
from springback_paper.report.document import Bar, Headline


def headline(results: dict[str, Any]) -> Headline | None:
    """The models this library is about and those of the paper, as far as they were run; None if none was.

    Examples
    --------
    >>> run = {"omnist_test": {"elastic": {"mean": 0.9, "std": 0.01, "n": 3}}, "paper": {"omnist_test": {}}}
    >>> headline(run).bars
    (Bar(name='Elastic clustering', trained_on='still digits, no labels', ours=0.9, paper=None, emphasised=True),)
    """
    ours, paper = results["omnist_test"], results["paper"]["omnist_test"]
    bars = tuple(
        Bar(
            name=model.name,
            trained_on=model.trained_on,
            ours=float(ours[key]["mean"]),
            paper=float(paper[key]["mean"]) if key in paper else None,
            emphasised=model.emphasised,
        )
        for key, model in MODELS.items()
        if key in ours and model.in_figures and (model.emphasised or key in paper)
    )
    title = "Accuracy on the video of slowly hidden digits and noise, in percent; the mark is the paper's"
    return Headline(title, bars) if bars else None
