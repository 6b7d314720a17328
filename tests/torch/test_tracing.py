"""Recording an elastic model: its state is carried, or the recording is refused."""

import io
import warnings

import pytest

import torch
from springback.torch import Springs, deelasticize, elasticize, reset
from torch import nn


def a_model(springs=None):
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4)).eval()
    return elasticize(plain, springs or Springs(pull=5.0))


def some_frames():
    return torch.randn(5, 2, 6, generator=torch.Generator().manual_seed(1))


def to_onnx(model, dynamo):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, (some_frames()[0],), file, dynamo=dynamo)
    return file.getvalue()


@pytest.mark.parametrize("posterior_from", ["layer", "output"])
def test_an_export_before_the_streams_are_started_is_refused(posterior_from):
    model = a_model(Springs(pull=5.0, posterior_from=posterior_from))
    with pytest.raises(RuntimeError, match=r"must exist before torch.export .* call reset\(model, n_streams\) first"):
        torch.export.export(model, (some_frames()[0],))
    assert model[2].n_streams is None


def test_an_export_of_started_streams_carries_the_state_and_leaves_the_model_at_rest():
    model, frames = reset(a_model(), 2), some_frames()
    exported = torch.export.export(model, (frames[0],)).module()
    assert model[2].state_short_term.abs().max() == 0
    with torch.no_grad():
        wanted = torch.stack([reset(model, 2)(x) if t == 0 else model(x) for t, x in enumerate(frames)])
        got = torch.stack([exported(x) for x in frames])
        static = deelasticize(model)(frames.flatten(0, 1)).unflatten(0, (5, 2))
    torch.testing.assert_close(got, wanted)
    assert (got - static).abs().max() > 0.1


@pytest.mark.parametrize("started", [True, False])
def test_onnx_would_lose_the_state_and_is_refused(started, monkeypatch):
    model = reset(a_model(), 2) if started else a_model()
    monkeypatch.setattr(torch.jit, "is_tracing", lambda: True)
    monkeypatch.setattr(torch.onnx, "is_in_onnx_export", lambda: True)
    with pytest.raises(
        RuntimeError, match=r"torch.onnx.export would lose the short-term state .* torch.export.export after"
    ):
        model(some_frames()[0])


@pytest.mark.parametrize("started", [True, False])
def test_the_torchscript_exporter_of_onnx_is_refused(started):
    model = reset(a_model(), 2) if started else a_model()
    with pytest.raises(RuntimeError, match=r"torch.onnx.export would lose the short-term state"):
        to_onnx(model, dynamo=False)


@pytest.mark.parametrize("started", [True, False])
def test_the_newer_exporter_of_onnx_is_refused(started):
    pytest.importorskip("onnxscript")
    model = reset(a_model(), 2) if started else a_model()
    with pytest.raises(Exception, match="export") as caught:
        to_onnx(model, dynamo=True)
    causes = [caught.value]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    assert any("torch.onnx.export would lose the short-term state" in str(cause) for cause in causes)


def test_a_plain_model_taken_from_an_elastic_one_can_be_exported():
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    plain, x = deelasticize(a_model()), some_frames()[0]
    session = onnxruntime.InferenceSession(to_onnx(plain, dynamo=False))
    (found,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    torch.testing.assert_close(torch.from_numpy(found), plain(x).detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("started", [True, False])
@pytest.mark.parametrize("way", ["trace", "script"])
def test_torchscript_is_refused(way, started):
    model, x = reset(a_model(), 2) if started else a_model(), some_frames()[0]
    with pytest.raises(
        RuntimeError, match=f"torch.jit.{way} would lose the short-term state .* torch.export.export after"
    ):
        torch.jit.trace(model, (x,)) if way == "trace" else torch.jit.script(model)
    assert not started or model[2].state_short_term.abs().max() == 0


@pytest.mark.filterwarnings("ignore")
def test_springs_that_never_move_lose_nothing():
    model, x = a_model(Springs(pull=0.0)), some_frames()[0]
    traced = torch.jit.trace(model, (x,))
    assert torch.equal(traced(x), model(x))
