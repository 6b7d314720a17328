"""The table of the theory as written: each row with one sentence on why it reaches what it reaches."""

from typing import Any

from springback_paper.models import MODELS
from springback_paper.report.document import TableBlock
from springback_paper.wording import spread


def theory_table(results: dict[str, Any]) -> TableBlock | None:
    """The rows that were run, with the tuned model for comparison; None if there are none.

    Examples
    --------
    >>> theory_table({"omnist_test": {}}) is None
    True
    """
    reached = results["omnist_test"]
    shown = [model for model in MODELS.values() if model.why and model.key in reached]
    if not shown:
        return None
    rows = [(model.name, spread(reached[model.key]), model.why) for model in shown]
    tuned = MODELS["elastic"]
    return TableBlock(
        columns=("model", "video", "why"),
        rows=((tuned.name, spread(reached.get(tuned.key)), "For comparison: pull, kappa and memory are tuned."), *rows),
        caption=(
            "Elastic clustering with the settings of the paper's theory in place of tuned ones. Accuracy in percent on "
            "the frames of the OMNIST test video; mean ± standard deviation over seeds where there are several. "
            "Centroids, their labels, memory and beta are those of the tuned model; the noise threshold is each row's "
            "own, from a video of training digits."
        ),
        words=(0, 2),
    )
