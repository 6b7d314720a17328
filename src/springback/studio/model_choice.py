"""Which models there are, and which of them can run here."""

from springback import check
from springback import pretrained as shipped
from springback.check import DataError
from springback.extras import is_installed, missing_extra
from springback.studio.controls import MODELS
from springback.studio.elastic_twins import ElasticTwins
from springback.studio.spiking_twins import SpikingTwins
from springback.studio.twins import Twins
from springback.studio.view import View

TITLES = {"spiking": "Spiking network", "elastic": "Elastic clustering", "cnn": "CNN, elastic last layer"}


def missing(model: str) -> str:
    """What keeps a model from running here, in one sentence; empty if nothing does.

    Examples
    --------
    >>> missing("spiking")
    ''
    """
    check.one_of("model", model, MODELS)
    if model == "cnn" and not is_installed("torch"):
        return str(missing_extra("The CNN", "torch"))
    return ""


def make_twins(view: View) -> Twins:
    """The model of a view, with and without short-term plasticity.

    Examples
    --------
    >>> make_twins(View(model="elastic")).map_shape
    (28, 28)
    """
    absent = missing(view.model)
    if absent:
        raise DataError(absent)
    if view.model == "spiking":
        return SpikingTwins(shipped.shipped_spiking(), view.settings, seed=view.seed)
    if view.model == "elastic":
        return ElasticTwins(shipped.shipped_elastic(), view.settings)
    try:
        from springback.studio.cnn_twins import CnnTwins
    except (ImportError, OSError) as error:
        raise DataError(
            f"The CNN needs PyTorch, which is installed but cannot be imported ({error}); "
            "reinstall it with: pip install --force-reinstall torch"
        ) from error
    return CnnTwins(shipped.shipped_cnn(), view.settings)
