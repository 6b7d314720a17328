"""A model that was fitted on named columns does not warn about columns with the same names."""

import warnings

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from springback import ElasticClassifier, ElasticClustering
from springback.heads.stream_pipeline import StreamPipeline
from springback.live.follower import Follower

pandas = pytest.importorskip("pandas")

ROWS = np.random.default_rng(0).normal(size=(20, 3)) + np.repeat(4 * np.eye(3)[:2], 10, axis=0)
TABLE = pandas.DataFrame(ROWS, columns=["a", "b", "c"])
LABELS = np.repeat(["left", "right"], 10)


def a_classifier():
    return ElasticClassifier(ElasticClustering(2, random_state=0))


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_a_classifier_follows_a_table():
    model = a_classifier().fit(TABLE, LABELS)
    np.testing.assert_array_equal(model.track_response(TABLE).posterior, model.track(TABLE))
    assert model.track_response(TABLE, in_place=True).posterior.shape == (20, 2)
    assert model.track_labels(TABLE).shape == (20,)
    other = a_classifier().fit(TABLE, LABELS).partial_fit(TABLE).partial_fit(TABLE, LABELS)
    np.testing.assert_array_equal(other.predict_proba(TABLE).argmax(axis=1), LABELS == "right")
    np.testing.assert_array_equal(other.step(TABLE.iloc[0]).shape, (2,))


def test_a_pipeline_takes_a_row_of_a_table():
    for output in ("default", "pandas"):
        scaler = StandardScaler().set_output(transform=output)
        pipeline = StreamPipeline([("scale", scaler), ("model", a_classifier())]).fit(TABLE, LABELS)
        wanted = pipeline.track(TABLE)[0]
        np.testing.assert_array_equal(pipeline.step(TABLE.iloc[0]), wanted)


def test_a_saved_model_with_names_follows_rows_whose_columns_were_found_by_name():
    follower = Follower(a_classifier().fit(TABLE, LABELS), "model")
    assert follower.model.column_names_ == ("a", "b", "c")
    assert follower.answer(ROWS, None).posterior.shape == (20, 2)
