"""The learning rates that plain gradient descent was tried with, as one table."""

from collections.abc import Mapping
from typing import Any

from springback.streaming.wording import percent
from springback_paper.report.document import TableBlock


def descent_table(found: Mapping[str, Any]) -> TableBlock | None:
    """Accuracy of each network by its learning rate; None if no rates were tried.

    Parameters
    ----------
    found : Mapping[str, Any]
        Results of tasks by name; those named `..._sgd_rates-SEED` are taken.
    """
    tried = [result for name, result in sorted(found.items()) if "_sgd_rates-" in name]
    if not tried:
        return None
    rates = sorted({rate for one in tried for rate in one.rates})
    rows = []
    for one in tried:
        reached = dict(zip(one.rates, one.accuracies, strict=True))
        cells = (percent(reached[rate]) if rate in reached else "-" for rate in rates)
        rows.append((one.model.upper(), *cells, f"{one.best:g}"))
    return TableBlock(
        columns=("network, learning rate", *(f"{rate:g}" for rate in rates), "best"),
        rows=tuple(rows),
        caption=(
            "Accuracy in percent after training on video by plain gradient descent, on a video of "
            f"{tried[0].n_held_out:,} training digits that the networks did not learn from. The paper gives 0.001; the "
            "models with a tuned rate have the best."
        ),
        words=(0,),
    )
