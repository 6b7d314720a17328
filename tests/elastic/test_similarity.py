import numpy as np

from springback.elastic import ElasticClustering


def test_the_transformed_rows_are_cosines_and_zero_for_nothing():
    rng = np.random.default_rng(0)
    g, x = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    slow = [[a @ b / np.sqrt((a @ a) * (b @ b)) for a in g] for b in x]
    model = ElasticClustering(3, resting=g, scaling=None).fit(x)
    np.testing.assert_allclose(model.transform(x), slow, rtol=1e-12)
    assert (model.transform(np.zeros((2, 4))) == 0).all()
    model = ElasticClustering(3, resting=np.vstack([g[:2], np.zeros(4)]), scaling=None).fit(x)
    np.testing.assert_allclose(model.transform(x)[:, :2], np.array(slow)[:, :2], rtol=1e-12)
    assert (model.transform(x)[:, 2] == 0).all()
