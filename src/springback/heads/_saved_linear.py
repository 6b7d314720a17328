"""What an `ElasticLinearClassifier` saves: its head, what prepares its rows, and its classes."""

from typing import Any

import numpy as np

from springback import check
from springback.heads.elastic_head import ElasticHead
from springback.heads.observer import Observer
from springback.heads.preparation import Preparation
from springback.heads.springs import Springs
from springback.outside import from_plain
from springback.plain_values import labels_as_plain, record_as_plain, record_from_plain, sorted_labels_from_plain
from springback.saved_model import Parts, require_names

_VALUES = ("settings", "scale", "steps", "classes", "n_features_in", "feature_names", "head")


def linear_to_parts(model: Any) -> Parts:
    """All of a fitted model but its state; the estimator it was made from is not needed again."""
    head, prepared = model.head_._parts(), model.preparation_.as_parts()
    names = getattr(model, "feature_names_in_", None)
    values = {
        "settings": record_as_plain(model.settings),
        "scale": model.scale,
        "steps": prepared[1],
        "classes": labels_as_plain("classes_", model.classes_),
        "n_features_in": model.n_features_in_,
        "feature_names": None if names is None else [str(name) for name in names],
        "head": head.values,
    }
    return Parts({f"head.{name}": array for name, array in head.arrays.items()} | prepared[0], values)


def linear_from_parts(kind: Any, parts: Parts) -> Any:
    """The model that `linear_to_parts` described, at rest."""
    arrays, values = parts
    require_names(values, *_VALUES)
    inside = {name.removeprefix("head."): one for name, one in arrays.items() if name.startswith("head.")}
    settings = values["settings"]
    model = kind(
        None,
        None if settings is None else record_from_plain("settings", settings, (Observer, Springs)),
        scale=None if values["scale"] is None else check.one_of("scale", values["scale"], ("auto", "standard")),
    )
    model.head_ = ElasticHead._from_parts(Parts(inside, from_plain(values["head"], dict[str, Any])))
    model.classes_ = sorted_labels_from_plain("classes", values["classes"])
    must = f"be {model.head_.n_classes}, one for each row of the weights"
    check.require(len(model.classes_) == model.head_.n_classes, "classes", must, len(model.classes_))
    model.n_features_in_ = check.integer("n_features_in", values["n_features_in"], low=1, high=10**9)
    steps = from_plain(values["steps"], list[str])
    model.preparation_ = Preparation.from_parts(arrays, steps, model.n_features_in_)
    known = {f"head.{name}" for name in inside} | set(model.preparation_.as_parts()[0])
    require_names(arrays, *known)
    check.require(
        model.preparation_.width(model.n_features_in_) == model.head_.n_inputs,
        "steps",
        f"make rows of {model.head_.n_inputs} features",
        model.n_features_in_,
    )
    if values["feature_names"] is not None:
        names = from_plain(values["feature_names"], list[str])
        check.require(len(names) == model.n_features_in_, "feature_names", "be one for each column", len(names))
        model.feature_names_in_ = np.array(names, object)
    return model
