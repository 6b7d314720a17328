"""One `elasticize` for every trained classifier: a network of PyTorch, or an estimator of scikit-learn."""

from importlib import import_module
from typing import Any


def elasticize(model: Any, settings: Any = None, **options: Any) -> Any:
    """Let a trained classifier follow a stream; it is not trained again, and the model itself does not change.

    Parameters
    ----------
    model : Any
        A PyTorch model, whose head becomes elastic (see `springback.torch.elasticize`; needs the extra `torch`), or a
        fitted classifier of scikit-learn that is linear or has `predict_proba`, or a Pipeline that ends in one, which
        becomes an `ElasticLinearClassifier` (see `springback.heads.ElasticLinearClassifier.of`).
    settings : Any
        Such as `Observer` or `Springs`; None: the default `LearningObserver`.
    options : Any
        Passed on: `centre`, `scale`, `layers`, `example` and `copy` for PyTorch; `rows` and `scale` for scikit-learn.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rows, kinds = [[1.0, 0.1], [1.0, -0.1], [0.1, 1.0], [-0.1, 1.0]], ["right", "right", "up", "up"]
    >>> from springback.heads import Observer
    >>> model = elasticize(LogisticRegression().fit(rows, kinds), Observer(), rows=rows)
    >>> model.track_labels([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]]).tolist()
    ['right', 'right', 'right', 'right']
    """
    if any(kind.__module__.partition(".")[0] == "torch" for kind in type(model).__mro__):
        layers = import_module("springback.torch")  # which needs PyTorch, and is above this package
        return layers.elasticize(model, settings, **options)
    if hasattr(model, "track") and hasattr(model, "step"):
        raise TypeError(
            f"the model must not be elastic yet; got {type(model).__name__}, which follows a stream already"
        )
    if hasattr(model, "fit") and hasattr(model, "predict"):
        from springback.heads.linear_classifier import ElasticLinearClassifier

        return ElasticLinearClassifier.of(model, settings, **options)
    raise TypeError(
        "elasticize takes a PyTorch model, a fitted classifier of scikit-learn or a Pipeline that ends in one; got "
        f"{type(model).__name__}: for weights and biases as arrays, use springback.ElasticHead, for class scores, "
        "springback.ElasticLinearClassifier.of_scores"
    )
