"""Everything a reproduction is made of: the pieces, and the names a user can ask for.

A new model or figure is a few lines here: its piece, and the entry that asks for it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from springback import check
from springback.experiments.elastic_omnist import ElasticOmnist
from springback.experiments.mechanisms import Mechanisms
from springback.experiments.parameter_sweeps import ParameterSweeps
from springback.experiments.sampling_omnist import SamplingOmnist
from springback.experiments.time_constant import TimeConstant
from springback.experiments.world_dynamics import WorldDynamics
from springback.extras import is_installed
from springback.reproduction import figure_pieces, model_pieces, network_pieces
from springback.reproduction.figure_pieces import FigurePiece
from springback.reproduction.model_pieces import ElasticPiece, SamplingPiece
from springback.reproduction.network_pieces import NetworkPiece
from springback.reproduction.pieces import Piece, Run
from springback.reproduction.scores import MODELS
from springback.spiking.presets import moraitis_2020, springback_2026

LARGE = 1600
"""Neurons of the large network."""

_N_SHARDS = 8


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How much to run.

    full     also what takes long: the baselines trained on video, the large network, every test digit everywhere
    seeds    every model is run once with each
    limit    use only the first images of each split, for a quick look; None: all
    neurons  neurons of the network, and centroids
    """

    full: bool = False
    seeds: tuple[int, ...] = (0,)
    limit: int | None = None
    neurons: int = 400

    def __post_init__(self) -> None:
        check.require(len(self.seeds) > 0, "Scope.seeds", "have at least one", self.seeds)
        if self.limit is not None:
            check.integer("Scope.limit", self.limit, low=10)
        check.integer("Scope.neurons", self.neurons, low=2)


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """All pieces of a scope, and for every name a user can ask for the pieces it takes."""

    pieces: tuple[Piece, ...]
    entries: Mapping[str, tuple[str, ...]]

    def choose(self, patterns: Iterable[str]) -> list[str]:
        """The pieces that the names ask for; a name may have the wildcards * and ?.

        >>> catalogue_of(Scope()).choose(["fig_3[de]"])
        ['synapse_snapshots', 'synapse_trace']
        """
        chosen: dict[str, None] = {}
        for pattern in patterns:
            found = [name for name in self.entries if fnmatchcase(name, pattern)]
            check.require(bool(found), "--only", f"name some of {', '.join(self.entries)}", pattern)
            chosen |= dict.fromkeys(piece for name in found for piece in self.entries[name])
        return list(chosen)


def catalogue_of(scope: Scope) -> Catalogue:
    """The pieces and entries of a scope.

    >>> ["snn_1600_st_stdp" in catalogue_of(Scope(full=full)).entries for full in (False, True)]
    [False, True]
    """
    pieces: list[Piece] = []
    entries: dict[str, list[str]] = {}

    def add(names: Iterable[str], piece: Piece) -> None:
        pieces.append(piece)
        for name in names:
            entries.setdefault(name, []).append(piece.name)

    for seed in scope.seeds:
        for names, piece in (*_network(scope, seed), *_models(scope, seed), *_baselines(scope, seed)):
            add(names, piece)
    for name, piece in _figures(scope).items():
        add([name], piece)
    of_models = {piece for model in MODELS for piece in entries.get(model, ())}
    comparison = [piece.name for piece in pieces if piece.name in of_models]
    known = {model: entries[model] for model in MODELS if model in entries}
    figures = {name: some for name, some in entries.items() if name not in known}
    every = {**known, "fig_4a": comparison, "fig_4b": comparison, **figures}
    return Catalogue(pieces=tuple(pieces), entries={name: tuple(some) for name, some in every.items()})


Added = tuple[tuple[str, ...], Piece]
"""Which entries ask for a piece, and the piece."""


def _share(scope: Scope) -> float:
    """How much of the nominal work a quick look is."""
    return 1.0 if scope.limit is None else max(0.02, min(1.0, scope.limit / 60_000))


def _network(scope: Scope, seed: int) -> list[Added]:
    """The paper's network: trained, tested on still digits, and shown the video without and with short-term STDP."""
    params = NetworkPiece(preset=springback_2026(n_neurons=scope.neurons), limit=scope.limit)
    share = _share(scope)
    network = f"snn-{seed}"
    both = ("snn_static", "snn_st_stdp")
    needs = {"network": network}
    train = Piece(
        name=network, run=network_pieces.train_network, params=params, seed=seed, needs={}, seconds=45 * share
    )
    still = Piece(
        name=f"snn_still-{seed}",
        run=network_pieces.score_still,
        params=params,
        seed=seed,
        needs=needs,
        seconds=6 * share,
    )
    found: list[Added] = [(both, train), (both, still)]
    for model, adapts, seconds in (("snn_static", False, 40), ("snn_st_stdp", True, 50)):
        one = replace(params, model=model, adapts=adapts)
        found += _video(model, one, seed, needs, 1, seconds * share)
    if scope.full:
        large = replace(params, preset=springback_2026(n_neurons=LARGE), model="snn_1600_st_stdp")
        trained = Piece(
            name=f"snn_1600-{seed}",
            run=network_pieces.train_network,
            params=large,
            seed=seed,
            needs={},
            seconds=240 * share,
        )
        still = Piece(
            name=f"snn_1600_still-{seed}",
            run=network_pieces.score_still,
            params=large,
            seed=seed,
            needs={"network": trained.name},
            seconds=30 * share,
        )
        found += [(("snn_1600_st_stdp",), trained), (("snn_1600_st_stdp",), still)]
        found += _video("snn_1600_st_stdp", large, seed, {"network": trained.name}, _N_SHARDS, 240 * share)
    return found


def _video(
    model: str, params: NetworkPiece, seed: int, needs: dict[str, str], n_shards: int, seconds: float
) -> list[Added]:
    """The video in one or more parts, and the accuracies of all of them together."""
    shards = [
        Piece(
            name=f"{model}-answers{shard}-{seed}",
            run=network_pieces.answer_shard,
            params=replace(params, shard=shard, n_shards=n_shards),
            seed=seed,
            needs=needs,
            seconds=seconds / n_shards,
        )
        for shard in range(n_shards)
    ]
    whole = Piece(
        name=f"{model}-{seed}",
        run=network_pieces.score_video,
        params=params,
        seed=seed,
        needs={shard.name: shard.name for shard in shards},
        seconds=1,
    )
    return [((model,), piece) for piece in (*shards, whole)]


def _models(scope: Scope, seed: int) -> list[Added]:
    """Elastic clustering and the sampling networks."""
    share = _share(scope)
    elastic = ElasticPiece(elastic=ElasticOmnist(n_clusters=scope.neurons), limit=scope.limit)
    found: list[Added] = [
        (
            ("elastic_static", "elastic"),
            Piece(
                name=f"elastic-{seed}",
                run=model_pieces.score_elastic,
                params=elastic,
                seed=seed,
                needs={},
                seconds=25 * share,
            ),
        )
    ]
    test_limit = scope.limit if scope.full or scope.limit else SamplingOmnist().test_images
    sampling = SamplingOmnist(
        learning=replace(SamplingOmnist().learning, n_neurons=scope.neurons),
        practice_images=min(SamplingOmnist().practice_images, (scope.limit or 60_000) // 4),
    )
    for network in ("exponential", "relu"):
        params = SamplingPiece(network=network, sampling=sampling, limit=scope.limit, test_limit=test_limit)
        name = f"sampling_{network}"
        piece = Piece(
            name=f"{name}-{seed}",
            run=model_pieces.score_sampling,
            params=params,
            seed=seed,
            needs={},
            seconds=(150 if scope.full else 35) * share,
        )
        found.append(((name,), piece))
    return found


def _baselines(scope: Scope, seed: int) -> list[Added]:
    """The networks trained with labels; none without torch."""
    if not is_installed("torch"):
        return []
    from springback.experiments.adaptation import Adaptation
    from springback.experiments.baselines_omnist import BaselineOmnist
    from springback.reproduction import baseline_pieces
    from springback.reproduction.baseline_pieces import AdaptationPiece, BaselinePiece

    share = _share(scope)
    found: list[Added] = []
    for kind, seconds in (("mlp", 30), ("cnn", 240)):
        params = BaselinePiece(baseline=BaselineOmnist(model=kind, trained_on="mnist"), limit=scope.limit)
        trained = Piece(
            name=f"{kind}_on_mnist-{seed}",
            run=baseline_pieces.train_still,
            params=params,
            seed=seed,
            needs={},
            seconds=seconds * share,
        )
        scored = Piece(
            name=f"{kind}_mnist-{seed}",
            run=baseline_pieces.score_still_network,
            params=params,
            seed=seed,
            needs={"network": trained.name},
            seconds=10 * share,
        )
        entries = (f"{kind}_mnist", "cnn_elastic") if kind == "cnn" else (f"{kind}_mnist",)
        found += [(entries, trained), ((f"{kind}_mnist",), scored)]
    practice = 1000 if scope.limit is None else max(2, scope.limit // 10)
    follow = AdaptationPiece(adaptation=Adaptation(practice_images=practice), limit=scope.limit)
    adapting = Piece(
        name=f"adaptation-{seed}",
        run=baseline_pieces.follow_stream,
        params=follow,
        seed=seed,
        needs={"network": f"cnn_on_mnist-{seed}"},
        seconds=55 * share,
    )
    elastic = Piece(
        name=f"cnn_elastic-{seed}",
        run=baseline_pieces.score_elastic_head,
        params=follow,
        seed=seed,
        needs={"adaptation": adapting.name},
        seconds=1,
    )
    found += [(("cnn_elastic", "adaptation"), adapting), (("cnn_elastic",), elastic)]
    if scope.full:
        found += _streams(scope, seed, practice)
    if scope.full:
        for kind, seconds in (("mlp", 120), ("cnn", 500), ("rnn", 600), ("lstm", 600)):
            params = BaselinePiece(baseline=BaselineOmnist(model=kind, trained_on="omnist"), limit=scope.limit)
            name = f"{kind}_omnist"
            piece = Piece(
                name=f"{name}-{seed}",
                run=baseline_pieces.score_baseline,
                params=params,
                seed=seed,
                needs={},
                seconds=seconds * share,
            )
            found.append(((name,), piece))
    return found


def _streams(scope: Scope, seed: int, practice: int) -> list[Added]:
    """The elastic head on other streams, on clothing, and on the MLP."""
    from springback.experiments.adaptation import STREAMS, Adaptation
    from springback.experiments.baselines_omnist import BaselineOmnist
    from springback.reproduction import baseline_pieces
    from springback.reproduction.baseline_pieces import AdaptationPiece, BaselinePiece

    share = _share(scope)
    fashion = Piece(
        name=f"cnn_on_fashion-{seed}",
        run=baseline_pieces.train_still,
        params=BaselinePiece(baseline=BaselineOmnist(model="cnn", trained_on="mnist"), limit=scope.limit, fashion=True),
        seed=seed,
        needs={},
        seconds=240 * share,
    )
    found: list[Added] = [(("adaptation",), fashion)]
    networks = {stream: ("cnn", f"cnn_on_mnist-{seed}") for stream in STREAMS if stream != "omnist"}
    networks["fashion"] = ("cnn", fashion.name)
    networks["omnist"] = ("mlp", f"mlp_on_mnist-{seed}")
    for stream, (kind, network) in networks.items():
        piece = Piece(
            name=f"adaptation_{kind}_{stream}-{seed}",
            run=baseline_pieces.follow_stream,
            params=AdaptationPiece(adaptation=Adaptation(stream=stream, practice_images=practice), limit=scope.limit),
            seed=seed,
            needs={"network": network},
            seconds=60 * share,
        )
        found.append((("adaptation",), piece))
    return found


def _figures(scope: Scope) -> dict[str, Piece]:
    """The experiments behind single figures, with the network of the first seed, by entry."""
    share, first = _share(scope), scope.seeds[0]
    base = FigurePiece(preset=springback_2026(n_neurons=scope.neurons), limit=scope.limit)
    paper = FigurePiece(preset=moraitis_2020())
    n_digits = 200 if scope.limit is None else max(5, scope.limit // 20)
    repeats = (0, 1, 2) if scope.limit is None else (0,)

    def piece(
        name: str, run: Run, seconds: float, params: FigurePiece = base, *, network: bool = True, **changes: Any
    ) -> Piece:
        return Piece(
            name=name,
            run=run,
            params=replace(params, **changes),
            seed=first,
            needs={"network": f"snn-{first}"} if network else {},
            seconds=max(1.0, seconds * share),
        )

    sweeps = ParameterSweeps()
    if scope.limit is not None:
        kept = scope.limit * 3 // 4
        sweeps = replace(sweeps, n_digits=n_digits, first_digit=kept, n_labelling=kept)
    times = TimeConstant(n_digits=n_digits, elastic=ElasticOmnist(n_clusters=scope.neurons))
    if scope.limit is not None:
        times = replace(times, n_practice=max(2, scope.limit // 10))
    worlds = WorldDynamics()
    if scope.limit is not None:
        worlds = replace(worlds, beta=(0.5,), diffusion=(0.1,), memory=(5.0,), n_steps=50, n_streams=4)
    return {
        "fig_2b": piece("plasticity_window", figure_pieces.window, 2, paper, network=False),
        "fig_3a": piece("frames", figure_pieces.frames, 1, network=False),
        "fig_3c": piece("active_neurons", figure_pieces.active, 10),
        "fig_3d": piece("synapse_snapshots", figure_pieces.snapshots, 10),
        "fig_3e": piece("synapse_trace", figure_pieces.trace, 10),
        "expansion": piece("expansion", figure_pieces.expand, 20),
        "principal_path": piece("principal_path", figure_pieces.path, 10),
        "head": piece("head_recognition", figure_pieces.turn_head, 10, network=False),
        "world_dynamics": piece("world_dynamics", figure_pieces.vary_worlds, 60, network=False, what=worlds),
        "time_constant": piece("time_constant", figure_pieces.vary_time_constant, 75, what=times, seeds=repeats),
        "parameters": piece("parameter_sweeps", figure_pieces.sweep, 45, what=sweeps, seeds=repeats),
        "mechanisms": piece(
            "mechanisms", figure_pieces.take_apart, 30, what=Mechanisms(n_digits=n_digits), seeds=repeats
        ),
        "speed": piece("speed", figure_pieces.time_engines, 10),
    }
