"""Which models there are, and which of them can run here."""

from springback import check
from springback.check import DataError
from springback.data import pretrained as shipped
from springback.extras import is_installed, missing_extra
from springback.studio.controls import MODELS
from springback.studio.elastic_pair import ElasticPair
from springback.studio.pair import Pair
from springback.studio.spiking_pair import SpikingPair
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


def make_pair(view: View) -> Pair:
    """The model of a view, with and without short-term plasticity.

    Examples
    --------
    >>> make_pair(View(model="elastic")).map_shape
    (28, 28)
    """
    absent = missing(view.model)
    if absent:
        raise DataError(absent)
    if view.model == "spiking":
        return SpikingPair(shipped.shipped_spiking(), view.settings, seed=view.seed)
    if view.model == "elastic":
        return ElasticPair(shipped.shipped_elastic(), view.settings)
    try:
        from springback.studio.cnn_pair import CnnPair
    except (ImportError, OSError) as error:
        raise DataError(
            f"The CNN needs PyTorch, which is installed but cannot be imported ({error}); "
            "reinstall it with: pip install --force-reinstall torch"
        ) from error
    return CnnPair(shipped.shipped_cnn(), view.settings)
