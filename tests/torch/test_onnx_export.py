"""An elastic model as an ONNX file: the answers of the model, with the state in and out."""

import dataclasses
import json

import numpy as np
import pytest

import torch
from springback.heads import ElasticHead, KeyedStreams, follow
from springback.heads.onnx import OnnxStream
from springback.torch import (
    ElasticLinear,
    LearningObserver,
    Observer,
    Springs,
    WindowSprings,
    _exporting,
    elasticize,
    export_onnx,
    get_state,
    track,
)
from torch import nn

pytest.importorskip("onnx")
pytest.importorskip("onnxscript")
onnxruntime = pytest.importorskip("onnxruntime")


def a_network(seed=0):
    torch.manual_seed(seed)
    stem = [nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 12), nn.ReLU()]
    return nn.Sequential(*stem, nn.Linear(12, 5)).eval()


def a_stream(steps=12, streams=3):
    return torch.randn(steps, streams, 1, 8, 8, generator=torch.Generator().manual_seed(1))


def a_runner(path):
    """A runner that knows nothing of springback: names and numbers come from the metadata of the file."""
    session = onnxruntime.InferenceSession(path)
    about = json.loads(session.get_modelmeta().custom_metadata_map["springback"])

    def at_rest(n_streams):
        return {
            "state." + part["name"]: np.full([n_streams, *part["shape"]], part["rest"], part["dtype"])
            for part in about["state"]
        }

    def run(frame, elapsed, state):
        names = [one.name for one in session.get_inputs()]
        given = {"frame": frame, "elapsed": np.asarray(elapsed, about["elapsed_dtype"]), **state}
        outputs = dict(
            zip(
                [one.name for one in session.get_outputs()],
                session.run(None, {name: given[name] for name in names}),
                strict=True,
            )
        )
        return outputs, {name: outputs[name.replace("state.", "next.")] for name in state}

    return about, at_rest, run


@pytest.mark.parametrize(
    "settings",
    [Observer(gain=0.4, depth=5), LearningObserver(depth=3), Springs(pull=None, beta=1.0)],
    ids=["observer", "learning observer", "springs"],
)
def test_a_runner_that_only_reads_the_metadata_gets_the_answers_of_the_model(settings, tmp_path):
    model, frames = elasticize(a_network(), settings), a_stream()
    layout = export_onnx(model, tmp_path / "model.onnx", frames[0], classes=["a", "b", "c", "d", "e"])
    assert get_state(model) == {}
    assert layout.n_streams is None
    about, at_rest, run = a_runner(tmp_path / "model.onnx")
    assert about["classes"] == ["a", "b", "c", "d", "e"]
    assert about["memory"] == settings.memory
    for streams in (3, 1):
        some, state = frames[:, :streams], at_rest(streams)
        times = np.cumsum([1.0, 1.0, 2.5, 0.5, *[1.0] * 8])
        outputs = []
        for t, frame in enumerate(some):
            gap = np.full(streams, times[t] - times[t - 1] if t else 1.0)
            answers, state = run(frame.numpy(), gap, state)
            outputs.append(answers)
        wanted = track(model, some, times)
        torch.testing.assert_close(
            torch.from_numpy(np.stack([one["output"] for one in outputs])), wanted, rtol=1e-4, atol=1e-4
        )
        probability = torch.from_numpy(np.stack([one["probability"] for one in outputs]))
        torch.testing.assert_close(probability, wanted.softmax(dim=-1), rtol=1e-4, atol=1e-4)
        frozen = a_network()(some.flatten(0, 1)).softmax(dim=-1).unflatten(0, some.shape[:2]).detach()
        torch.testing.assert_close(
            torch.from_numpy(np.stack([one["frozen"] for one in outputs])), frozen, rtol=1e-4, atol=1e-4
        )
        assert (probability - frozen).abs().max() > 0.01


class PixelsAndMore(nn.Module):
    """Answers at every pixel, in a dict, next to its features."""

    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 3, 1)

    def forward(self, x):
        features = self.body(x).tanh()
        return {"features": features, "out": self.head(features)}


def test_a_head_with_positions_inside_a_dict_is_exported(tmp_path):
    torch.manual_seed(0)
    frames = a_stream(streams=2)[..., :5, :4]
    model = elasticize(PixelsAndMore(), WindowSprings(pull=5.0, memory=2.0, window=4), example=frames[0])
    layout = export_onnx(model, tmp_path / "model.onnx", frames[0, :1])
    assert layout.answer_shape == (3, 2, 3)
    assert {part.name: part.shape for part in layout.state}["head.odds"] == (6, 4)
    _, at_rest, run = a_runner(tmp_path / "model.onnx")
    state, wanted = at_rest(2), track(model, frames)
    for frame, answer in zip(frames, wanted, strict=True):
        outputs, state = run(frame.numpy(), [1.0, 1.0], state)
        np.testing.assert_allclose(outputs["output"], answer, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(outputs["probability"], answer.softmax(dim=1).movedim(1, -1), rtol=1e-4, atol=1e-4)


def test_mistakes_are_answered_in_one_sentence_and_nothing_is_written(tmp_path):
    path, frame = tmp_path / "model.onnx", torch.randn(2, 6)
    plain = nn.Sequential(nn.Linear(6, 4), nn.ReLU()).eval()
    with pytest.raises(
        ValueError, match=r"the model must be elastic; call elasticize\(model\) first; got 'Sequential'"
    ):
        export_onnx(plain, path, frame)
    with pytest.raises(ValueError, match="it is in training mode"):
        export_onnx(elasticize(plain).train(), path, frame)
    with pytest.raises(ValueError, match=r"must return what its last elastic layer gives, .*; got 'Sequential'"):
        export_onnx(elasticize(plain, layers="0"), path, frame)
    with pytest.raises(ValueError, match=r"Springs.pull must not be 0 in an exported layer"):
        export_onnx(elasticize(plain[0], Springs(pull=0.0)), path, frame)
    with pytest.raises(ValueError, match=r"example must be given: frames \(streams, ...\)"):
        export_onnx(elasticize(nn.Sequential(plain[0])), path)
    with pytest.raises(ValueError, match=r"example must have shape \(streams, ...\) and hold at least one frame"):
        export_onnx(elasticize(plain[0]), path, torch.ones(6))
    with pytest.raises(ValueError, match=r"classes must name each of the 4 classes; got 2"):
        export_onnx(elasticize(plain[0]), path, frame, classes=["a", "b"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("settings", [Observer(gain=0.4, depth=5), LearningObserver(depth=3)])
def test_a_file_says_how_new_frames_are_as_the_head_does_and_so_do_keyed_streams(settings, tmp_path):
    model, frames = elasticize(a_network(), settings), a_stream(streams=1)
    export_onnx(model, tmp_path / "model.onnx", frames[0])
    stream, times = OnnxStream(tmp_path / "model.onnx"), [0, 1, 2, 3, 4, 9, 10, 11, 12, 13, 14, 15]
    features = model[:-1](frames[:, 0]).detach().numpy()
    head = ElasticHead(model[-1].weight.detach().numpy(), model[-1].bias.detach().numpy(), settings)
    wanted = head.track_response(features, times).novelty
    assert np.ptp(wanted) > 0.1
    np.testing.assert_allclose(stream.track_response(frames[:, 0].numpy(), times).novelty, wanted, rtol=1e-3)
    for one in (model, stream):
        shown = frames[:, 0] if one is model else frames[:, 0].numpy()
        found = KeyedStreams(one, compact=False).follow("a", shown, times).novelty
        np.testing.assert_allclose(found, wanted, rtol=1e-3)


@pytest.mark.parametrize("step", [2.0**-17, 1 / 32, 32.0], ids=["hours", "seconds", "milliseconds"])
@pytest.mark.parametrize("settings", [LearningObserver(depth=5), Springs(pull=2.0)], ids=["learning", "springs"])
def test_a_memory_in_the_unit_of_time_stamps_is_exported_and_answers_the_same_in_any_unit(settings, step, tmp_path):
    torch.manual_seed(0)
    plain, rows = nn.Linear(8, 5), a_stream(40, 1)[:, 0, 0, 0].numpy()
    timed = dataclasses.replace(settings, memory=settings.memory * step, memory_in="time")
    export_onnx(elasticize(plain, timed), tmp_path / "model.onnx")
    stream = OnnxStream(tmp_path / "model.onnx")
    head = ElasticHead(plain.weight.detach().numpy(), plain.bias.detach().numpy(), settings)
    np.testing.assert_allclose(stream.track(rows, step * np.arange(40)), head.track(rows), atol=1e-5)
    times = step * (np.arange(40) + np.repeat([0, 9], 20))
    wanted = follow(timed, head.weight, head.bias, rows, gaps=np.diff(times, prepend=-1.0))
    np.testing.assert_allclose(stream.track(rows, times), wanted, atol=1e-5)
    with pytest.raises(ValueError, match="times must be given"):
        stream.track(rows)


def test_a_file_of_an_older_version_does_not_say_how_new_frames_are(tmp_path):
    onnx = pytest.importorskip("onnx")
    export_onnx(elasticize(nn.Linear(4, 2)), tmp_path / "model.onnx")
    old = onnx.load(tmp_path / "model.onnx")
    assert old.graph.output.pop().name == "novelty"
    onnx.save(old, tmp_path / "old.onnx")
    rows = np.eye(4, dtype=np.float32)
    new, old = (OnnxStream(tmp_path / f"{name}.onnx").track_response(rows) for name in ("model", "old"))
    assert np.isfinite(new.novelty).all()
    assert np.isnan(old.novelty).all()
    np.testing.assert_array_equal(new.posterior, old.posterior)


@pytest.mark.parametrize("wrong", [0.0, np.nan])
def test_a_program_with_other_answers_is_refused(wrong):
    stateless, example = _exporting.ready(ElasticLinear(6, 4).eval(), None)
    layout = _exporting.layout_of(stateless, example, None, None)

    def run(given):
        outputs = stateless(*(torch.from_numpy(given[name]) for name in layout.inputs))
        output, probability, *others = (part.detach().numpy() for part in outputs)
        return [output, np.full_like(probability, wrong), *others]

    frames = torch.randn(5, 2, 6, generator=torch.Generator().manual_seed(0))
    with pytest.raises(RuntimeError, match=r"must answer as the model does, to 0.001; frame 0 .* nothing was written"):
        _exporting.check_answers(stateless, run, layout, example, frames)
