import numpy as np

from springback.elastic._similarity import similarity


def test_similarity_is_the_cosine_and_zero_for_nothing():
    rng = np.random.default_rng(0)
    g, x = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    slow = [[a @ b / np.sqrt((a @ a) * (b @ b)) for a in g] for b in x]
    np.testing.assert_allclose(similarity(g, x), slow, rtol=1e-12)
    assert (similarity(np.zeros((1, 4)), x) == 0).all()
    assert (similarity(g, np.zeros(4)) == 0).all()
