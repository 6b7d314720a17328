"""The other models of the comparison as pieces: each answers with `Scores`, in percent."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from springback.experiments import elastic_omnist, sampling_omnist
from springback.experiments.elastic_omnist import ElasticOmnist
from springback.experiments.sampling_omnist import SamplingOmnist
from springback.reproduction.digits import digits, video_of_tests
from springback.reproduction.scores import Scores


@dataclass(frozen=True, kw_only=True)
class ElasticPiece:
    """Elastic clustering: its parameters, and how many images of each split (None: all)."""

    elastic: ElasticOmnist
    limit: int | None = None


@dataclass(frozen=True, kw_only=True)
class SamplingPiece:
    """One sampling network: which, its parameters, how many training images, and how many test images (None: all)."""

    network: str
    sampling: SamplingOmnist
    limit: int | None = None
    test_limit: int | None = None


def score_elastic(params: ElasticPiece, seed: int, inputs: Mapping[str, Any]) -> Scores:  # noqa: ARG001
    """Elastic clustering on still digits and on the video, with centroids at rest and elastic."""
    train, tests = digits("train", params.limit), digits("test", params.limit)
    found = elastic_omnist.evaluate(params.elastic, train, tests, seed)
    both = {"elastic_static": found.static, "elastic": found.elastic}
    return Scores(
        n_train=len(train),
        n_test=len(tests),
        n_frames=found.n_frames,
        mnist_test=dict.fromkeys(both, 100 * found.still_accuracy),
        omnist_test={model: 100 * score.accuracy for model, score in both.items()},
        by_rows_hidden={
            model: {str(rows): 100 * right for rows, right in score.by_rows_hidden.items()}
            | {"noise": 100 * score.noise}
            for model, score in both.items()
        },
    )


def score_sampling(params: SamplingPiece, seed: int, inputs: Mapping[str, Any]) -> Scores:  # noqa: ARG001
    """One of the two sampling networks of the supplement, with short-term STDP."""
    train, tests = digits("train", params.limit), digits("test", params.test_limit)
    one = replace(params.sampling, networks={params.network: sampling_omnist.all_networks()[params.network]})
    found = sampling_omnist.evaluate(one, train, tests, seed)[params.network]
    model = f"sampling_{params.network}"
    return Scores(
        n_train=len(train),
        n_test=len(tests),
        n_frames=len(video_of_tests(params.test_limit, seed)),
        mnist_test={model: found.still_accuracy},
        omnist_test={model: found.short_term.accuracy},
        by_rows_hidden={model: found.short_term.by_rows},
    )
