"""An elastic model as an ExecuTorch program."""

import pytest

import torch
from springback.heads.onnx import Layout
from springback.torch import Observer, Springs, elasticize, export_executorch, track
from torch import nn

runtime = pytest.importorskip("executorch.runtime", exc_type=ImportError)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("settings", [Observer(depth=6), Springs(pull=5.0)], ids=["observer", "springs"])
def test_the_program_gives_the_answers_of_the_model(settings, tmp_path):
    torch.manual_seed(0)
    model = elasticize(nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4)), settings)
    frames = torch.randn(7, 1, 1, 6, 6)
    layout = export_executorch(model, tmp_path / "model.pte", frames[0], classes=list("abcd"))
    program = runtime.Runtime.get().load_program(tmp_path / "model.pte")
    assert Layout.from_json(program.load_method("springback").execute([])[0]) == layout
    method = program.load_method("forward")
    state = [torch.from_numpy(part.at_rest(1)) for part in layout.state]
    for frame, wanted in zip(frames, track(model, frames).softmax(dim=-1), strict=True):
        _, probability, _, *after = method.execute([frame, torch.ones(1), *state])
        state = [part.clone() for part in after]
        torch.testing.assert_close(probability, wanted)
