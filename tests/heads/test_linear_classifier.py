"""Linear classifiers of scikit-learn on a stream."""

import warnings

import numpy as np
import pytest
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import springback
from springback.heads import ElasticHead, ElasticLinearClassifier, Observer, Springs
from springback.heads.transforms import Called

LABELS = {"two words": ["cat", "dog"], "three numbers": [3, 7, 9], "truth": [False, True]}
CLASSIFIERS = {
    "logistic": LogisticRegression(max_iter=3000),
    "svc": LinearSVC(),
    "ridge": RidgeClassifier(),
    "ridge without bias": RidgeClassifier(fit_intercept=False),
    "lda": LinearDiscriminantAnalysis(),
    "centroid": NearestCentroid(),
    "centroid with priors": NearestCentroid(priors="empirical"),
    "sgd": SGDClassifier(random_state=0),
    "search": GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 1.0]}),
    "pca": make_pipeline(StandardScaler(), PCA(4, whiten=True), Normalizer(), RidgeClassifier()),
    "scalers": make_pipeline(
        RobustScaler(), MinMaxScaler(), MaxAbsScaler(), make_pipeline(SelectKBest(k=4), LinearSVC())
    ),
    "svd": make_pipeline(TruncatedSVD(3), "passthrough", RidgeClassifier()),
    "polynomial": make_pipeline(StandardScaler(), PolynomialFeatures(), RidgeClassifier()),
}


def labelled(classes, n=120):
    """Rows of six channels around one place for each class; the third has a large offset."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, len(classes), n)
    places = 3 * rng.normal(size=(len(classes), 6)) + [0, 0, 50, 0, 0, 0]
    return places[y] + rng.normal(size=(n, 6)), np.array(classes)[y]


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_at_rest_it_answers_as_the_classifier_does_and_a_stream_moves_it(name, labels):
    X, y = labelled(LABELS[labels])
    estimator = CLASSIFIERS[name].fit(X, y)
    for rows in (None, X):
        model = springback.elasticize(estimator, rows=rows)
        assert np.array_equal(model.predict(X), estimator.predict(X))
        stream = X[np.argsort(y, kind="stable")]
        tracked = model.track(stream)
        stepped = np.array([model.step(x) for x in stream])
        assert np.allclose(stepped, tracked, atol=1e-4)
        moved = model.get_state()
        assert moved != model.reset().get_state()
        assert set(model.track_labels(X)) <= set(LABELS[labels])


def test_probabilities_at_rest_with_springs_are_those_of_logistic_regression():
    for classes in LABELS.values():
        X, y = labelled(classes)
        estimator = LogisticRegression(max_iter=3000).fit(X, y)
        for scale in ("auto", "standard", None):
            model = springback.elasticize(estimator, Springs(pull=1.0), rows=X, scaling=scale)
            assert np.allclose(model.predict_proba(X), estimator.predict_proba(X), atol=2e-4)


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (SVC(), "SVC with kernel 'rbf'"),
        (SVC(kernel="linear"), "SVC with answers other than"),
        (DecisionTreeRegressor(), "DecisionTreeRegressor: use one with predict_proba"),
        (NearestCentroid(metric="manhattan"), "metric='euclidean'"),
        (make_pipeline(StandardScaler(), SVC()), "SVC with kernel 'rbf'"),
    ],
    ids=["kernel", "pairs", "tree", "manhattan", "pipeline"],
)
def test_what_is_not_linear_is_refused_with_a_remedy(estimator, said):
    with pytest.raises(TypeError, match=said) as error:
        springback.elasticize(estimator.fit(*labelled([3, 7, 9])))
    assert "\n" not in str(error.value)


def test_what_cannot_be_made_elastic_is_refused():
    with pytest.raises(NotFittedError):
        springback.elasticize(LogisticRegression())
    with pytest.raises(TypeError, match=r"use springback\.ElasticHead"):
        springback.elasticize(np.eye(2))
    with pytest.raises(TypeError, match="follows a stream already"):
        springback.elasticize(ElasticHead(np.eye(2), np.zeros(2)))
    with pytest.raises(ValueError, match="rows must"):
        springback.elasticize(RidgeClassifier().fit(*labelled([0, 1])), rows=[[np.nan] * 6])
    model = springback.elasticize(RidgeClassifier().fit(*labelled([0, 1])))
    for wrong in (["a"] * 6, [1.0] * 5, [np.inf] * 6):
        with pytest.raises(ValueError, match="x must"):
            model.step(wrong)


def test_scikit_learn_accepts_the_estimator():
    results = check_estimator(ElasticLinearClassifier(RidgeClassifier()), on_fail=None, on_skip=None)
    assert len(results) > 40
    allowed = {"check_array_api_input": "skipped", "check_classifier_data_not_an_array": "skipped"}
    for one in results:
        assert one["status"] in ("passed", allowed.get(one["check_name"])), one["exception"]


def test_settings_are_chosen_with_labels_or_without():
    rng = np.random.default_rng(1)
    places = np.eye(3, 8) * 3
    kinds = np.repeat(rng.integers(0, 3, 40), 10)
    wander = rng.normal(0, 0.7, (40, 10, 8)).cumsum(axis=1).reshape(400, 8)
    stream, names = places[kinds] + wander, np.array(["a", "b", "c"])[kinds]
    still = np.repeat(np.arange(3), 30)
    model = ElasticLinearClassifier(RidgeClassifier())
    model.fit(places[still] + rng.normal(0, 0.5, (90, 8)), np.array(["a", "b", "c"])[still])
    static = np.mean(model.predict(stream) == names)
    partly = [*names[:-50], *[None] * 50]
    for labels, criterion, gain in ((partly, "accuracy", 0.05), (None, "agreement", -0.005)):
        assert model.tune(stream, labels, n_trials=10, variants=("observer",)) is model
        assert model.found_.criterion == criterion
        assert model.settings_ == model.found_.in_use
        assert np.mean(model.track_labels(stream) == names) > static + gain
    model.tune([stream[:200], stream[200:]], [names[:200], names[200:]], n_trials=2, variants=("classes",))
    with pytest.raises(ValueError, match="labels must be among the classes"):
        model.tune(stream, ["x"] * 400)


def test_a_pipeline_of_texts_follows_a_stream_of_texts_but_is_not_saved(tmp_path):
    texts, kinds = ["good fine", "bad poor", "fine good good", "poor bad"], ["yes", "no", "yes", "no"]
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, kinds)
    model = springback.elasticize(pipeline, rows=texts)
    assert model.predict(texts).tolist() == kinds
    tracked = model.track(texts)
    assert np.allclose([model.step(text) for text in texts], tracked)
    with pytest.raises(TypeError, match=r"'tfidfvectorizer' \(TfidfVectorizer\) of the pipeline cannot be saved"):
        model.save(tmp_path / "model.safetensors")
    assert not any(tmp_path.iterdir())


def test_usual_transforms_become_arrays_and_others_are_called():
    X, y = labelled([3, 7, 9])
    for name, called in (("pca", 0), ("svd", 0), ("scalers", 0), ("polynomial", 1)):
        pipeline = CLASSIFIERS[name].fit(X, y)
        steps = springback.elasticize(pipeline).transforms_
        assert sum(isinstance(step, Called) for step in steps.steps) == called
        before = pipeline[:-1].transform(X)
        assert np.allclose(steps(X), pipeline[-1][:-1].transform(before) if name == "scalers" else before, atol=1e-6)
    clipped = make_pipeline(MinMaxScaler(clip=True), RidgeClassifier()).fit(X, y)
    assert isinstance(springback.elasticize(clipped).transforms_.steps[0], Called)


def test_names_of_columns_are_kept_and_single_rows_need_none(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = labelled([3, 7])
    table = pandas.DataFrame(X, columns=list("abcdef"))
    model = ElasticLinearClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(table, y)
    model.save(tmp_path / "m.safetensors")
    loaded = springback.load_model(tmp_path / "m.safetensors")
    assert loaded.feature_names_in_.tolist() == list("abcdef")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(loaded.track(table), model.track(table))
        model.step(X[0])


def test_many_streams_share_one_model_by_their_states():
    X, y = labelled([3, 7, 9])
    model = springback.elasticize(RidgeClassifier().fit(X, y), Observer(depth=5), rows=X)
    alone = model.track(X[:20]), model.track(X[20:40])
    states, answers = {"a": model.state_, "b": model.state_}, {"a": [], "b": []}
    for i in range(20):
        for key, row in (("a", X[i]), ("b", X[20 + i])):
            model.state_ = states[key]
            answers[key].append(model.step(row))
            states[key] = model.state_
    assert np.allclose(answers["a"], alone[0])
    assert np.allclose(answers["b"], alone[1])
    with pytest.raises(TypeError, match="state_ must be the state of a head with Observer"):
        model.state_ = springback.elasticize(RidgeClassifier().fit(X, y), Springs()).state_
