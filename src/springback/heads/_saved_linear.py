"""What an `ElasticLinearClassifier` saves: its head, what prepares its rows, and its classes."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from springback import check
from springback.files.models import SavedRecord, feature_names_of, set_feature_names, sorted_labels
from springback.heads.elastic_head import ElasticHead, SavedHead
from springback.heads.settings import Settings
from springback.heads.transforms import SavedStep, Transforms
from springback.streaming.channels import ScalingRule


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedLinearClassifier(SavedRecord):
    """An `ElasticLinearClassifier`; the estimator that it was made from is not needed again."""

    settings: Settings | None
    scaling: ScalingRule
    steps: tuple[SavedStep, ...]
    classes: NDArray[Any]
    n_features_in: int
    feature_names: tuple[str, ...] | None
    head: SavedHead


def linear_record(model: Any) -> SavedLinearClassifier:
    """All of a fitted model but its state."""
    return SavedLinearClassifier(
        settings=model.settings,
        scaling=model.scaling,
        steps=model.transforms_.to_save(),
        classes=model.classes_,
        n_features_in=model.n_features_in_,
        feature_names=feature_names_of(model),
        head=model.head_._record(),
    )


def linear_from(kind: Any, record: SavedLinearClassifier) -> Any:
    """The model of a record, at rest."""
    model = kind(None, record.settings, scaling=record.scaling)
    model.head_ = ElasticHead._from_record(record.head)
    model.classes_ = sorted_labels("classes", record.classes)
    must = f"be {model.head_.n_classes}, one for each row of the weights"
    check.require(len(model.classes_) == model.head_.n_classes, "classes", must, len(model.classes_))
    model.n_features_in_ = check.integer("n_features_in", record.n_features_in, low=1, high=10**9)
    model.transforms_ = Transforms.saved(record.steps, model.n_features_in_, model.head_.n_inputs)
    set_feature_names(model, record.feature_names)
    return model
