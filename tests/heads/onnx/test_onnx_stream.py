"""A stream followed with an ONNX file, without PyTorch."""

import copy
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from springback.check import DataError
from springback.data.pretrained import shipped_cnn, shipped_digits
from springback.files.models import pack_state, unpack_state
from springback.heads import KeyedStreams
from springback.heads.onnx import Layout, OnnxStream, Part
from tests.absent import without

onnx = pytest.importorskip("onnx")
torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")
pytest.importorskip("onnxruntime")

NAMES = [*map(str, range(10)), "noise"]


def the_network():
    from springback_paper.baselines.model_file import set_weights
    from springback_paper.baselines.models import Cnn

    model = Cnn().eval()
    set_weights(model, shipped_cnn())
    return model


def hidden_digits():
    """Twelve frames of a digit that is hidden from the top, five digits one after the other: (60, 28, 28)."""
    pixels = shipped_digits().pixels[[0, 20, 41, 63, 90]].reshape(5, 28, 28) / 255
    rows = np.arange(28)[:, None]
    frames = [np.where(rows < 2 * t, 0.0, one) for one in pixels for t in range(12)]
    return np.asarray(frames, np.float32)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The shipped network with default springs, its file, and the frames in the form in which it takes them."""
    from springback.torch import Springs, elasticize, export_onnx

    network = the_network()
    frames = hidden_digits()
    shaped = torch.from_numpy(frames).reshape(60, 28, 28)
    model = elasticize(network, Springs())
    path = tmp_path_factory.mktemp("onnx") / "cnn.onnx"
    export_onnx(model, path, shaped[:1], classes=NAMES)
    return model, path, shaped


def test_the_stream_gets_the_answers_of_the_elastic_network(exported):
    from springback.torch import deelasticize, track

    model, path, frames = exported
    stream, times = OnnxStream(path, threads=1), np.cumsum([1.0, 0.5, 2.0] * 20)
    wanted = track(model, frames[:, None], times)[:, 0].softmax(dim=-1)
    np.testing.assert_allclose(stream.track(frames, times), wanted, atol=1e-5)
    with torch.no_grad():
        plain = deelasticize(model)(frames).softmax(dim=-1)
    found = stream.track_response(frames, times)
    np.testing.assert_allclose(found.frozen, plain, atol=1e-5)
    assert stream.track_labels(frames[:3]).tolist() == ["0", "0", "0"]
    labels = np.repeat([0, 2, 4, 6, 9], 12)
    followed, static = (
        np.mean(stream.track(frames).argmax(axis=1) == labels),
        np.mean(plain.argmax(-1).numpy() == labels),
    )
    assert followed > static + 0.15


def test_pictures_of_many_streams_are_followed_in_one_call_by_key(exported):
    _, path, frames = exported
    model, frames = OnnxStream(path, threads=1), frames.numpy()
    streams, wanted = KeyedStreams(model), [model.track(frames[:12]), model.track(frames[12:24])]
    found = [streams.follow_mixed(["a", "b"], frames[[t, 12 + t]]).posterior for t in range(6)]
    resumed = KeyedStreams(model)
    for key in streams:
        resumed.restore(key, streams.snapshot(key))
    found += [resumed.follow_mixed(["a", "b"], frames[[t, 12 + t]]).posterior for t in range(6, 12)]
    np.testing.assert_allclose(np.array(found), np.stack(wanted, axis=1), atol=1e-5)
    np.testing.assert_allclose(KeyedStreams(model).follow("c", frames[:12]).posterior, wanted[0], atol=1e-5)
    before = resumed.snapshot("a")
    with pytest.raises(ValueError, match="X must have shape"):
        resumed.step("a", np.zeros(784))
    with pytest.raises(DataError, match="state must be bytes from get_state"):
        resumed.restore("a", before[:-1])
    assert resumed.snapshot("a") == before


def test_a_stream_is_continued_elsewhere(exported):
    _, path, frames = exported
    first = OnnxStream(path, threads=1)
    wanted = first.track(frames)
    for frame in frames[:20]:
        first.step(frame)
    copies = [
        copy.deepcopy(first),
        pickle.loads(pickle.dumps(first)),
        OnnxStream(path, threads=1).set_state(first.get_state()),
    ]
    for one in copies:
        np.testing.assert_array_equal(one.track(frames[20:]), wanted[20:])
    np.testing.assert_array_equal(first.another().track(frames), wanted)
    np.testing.assert_array_equal(first.track_response(frames[20:30], in_place=True).posterior, wanted[20:30])
    np.testing.assert_array_equal(first.track(frames[30:]), wanted[30:])
    np.testing.assert_array_equal(copies[0].track(frames[20:]), wanted[20:])


@pytest.mark.waits
def test_it_runs_without_torch(exported, tmp_path):
    _, path, frames = exported
    np.save(tmp_path / "frames.npy", frames.numpy())
    code = without("torch", "onnx", "onnxscript") + (
        "import sys, numpy; from springback.heads.onnx import OnnxStream;"
        "print(*OnnxStream(sys.argv[1]).track_labels(numpy.load(sys.argv[2])[:5]))"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, str(path), str(tmp_path / "frames.npy")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["0"] * 5, done.stderr


def altered(path, change):
    """The file with other metadata."""
    model = onnx.load(path)
    entry = next(one for one in model.metadata_props if one.key == "springback")
    about = json.loads(entry.value)
    change(about)
    entry.value = json.dumps(about)
    return model.SerializeToString()


def with_weights_elsewhere(path, folder):
    """The file with its largest weights in another file, in the working directory of the test."""
    model = onnx.load(path)
    tensor = max(model.graph.initializer, key=lambda one: len(one.raw_data))
    (folder / "weights.bin").write_bytes(tensor.raw_data)
    onnx.external_data_helper.set_external_data(tensor, "weights.bin")
    tensor.ClearField("raw_data")
    return model.SerializeToString()


def test_other_files_are_refused_in_one_sentence(exported, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, path, _ = exported
    content = path.read_bytes()
    node = onnx.helper.make_node("Identity", ["x"], ["y"])
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "g", values[:1], values[1:])
    plain = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    cases = {
        "cannot be run as an ONNX network": [b"", b"no network", content[: len(content) // 2]],
        "has no elastic head; write it with springback.torch.export_onnx": [plain.SerializeToString()],
        "has metadata that cannot be used: format must be 2": [altered(path, lambda about: about.update(format=1))],
        "has metadata that cannot be used: ": [
            altered(path, lambda about: about.update(more=1)),
            altered(path, lambda about: about["state"][0].update(shape=[2**40])),
            altered(path, lambda about: about["state"][0].update(dtype="object")),
            altered(path, lambda about: about.update(classes=["a"])),
        ],
        "has other inputs or outputs than its metadata says": [altered(path, lambda about: about["state"].pop())],
        ".* of another shape than its metadata says": [
            altered(path, lambda about: about["state"][0].update(shape=[3, 3])),
            altered(path, lambda about: about.update(n_streams=10**6)),
            altered(path, lambda about: about.update(answer_shape=[10**9], classes=None)),
            altered(path, lambda about: about.update(answer_shape=[7], classes=None)),
            altered(path, lambda about: about.update(frame_shape=[28, 29])),
        ],
        "keeps weights in another file, which is not read; export it again as one file": [
            with_weights_elsewhere(path, tmp_path)
        ],
    }
    for sentence, contents in cases.items():
        for one in contents:
            (tmp_path / "bad.onnx").write_bytes(one)
            with pytest.raises(DataError, match=rf"bad\.onnx {sentence}") as caught:
                OnnxStream(tmp_path / "bad.onnx")
            assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="does not exist"):
        OnnxStream(tmp_path / "none.onnx")


def test_bad_frames_are_refused_and_change_nothing(exported):
    _, path, frames = exported
    stream = OnnxStream(path, threads=1)
    stream.step(frames[0])
    wanted = stream.track(frames)
    broken = frames[0].numpy().copy()
    broken.flat[5] = np.nan
    with pytest.raises(ValueError, match="x must be finite everywhere"):
        stream.step(broken)
    with pytest.raises(ValueError, match="x must have shape"):
        stream.step(np.zeros(3))
    np.testing.assert_array_equal(stream.track(frames), wanted)


def test_a_network_for_a_fixed_number_of_streams_still_follows_one(tmp_path):
    from springback.torch import Springs, elasticize, export_onnx, track

    class Fixed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(6, 4)

        def forward(self, x):
            return self.head(x.reshape(len(x), 6))

    torch.manual_seed(0)
    model = elasticize(Fixed(), Springs(pull=5.0))
    layout = export_onnx(model, tmp_path / "fixed.onnx", torch.ones(1, 2, 3))
    assert layout.n_streams == 2
    frames = torch.randn(9, 2, 3)
    wanted = track(model, frames[:, None])[:, 0].softmax(dim=-1)
    stream = OnnxStream(tmp_path / "fixed.onnx")
    np.testing.assert_allclose(stream.track(frames), wanted, atol=1e-5)
    keyed = KeyedStreams(stream).follow_mixed(["a"] * 5 + ["b"] * 4, frames.numpy()).posterior
    np.testing.assert_allclose(keyed, np.concatenate([wanted[:5], stream.track(frames[5:])]), atol=1e-5)


@pytest.mark.parametrize("shape", [(2**31 + 1,), (2**16, 2**16)])
def test_metadata_of_a_state_with_billions_of_numbers_are_refused(shape):
    with pytest.raises(ValueError, match=r"state odds must .*2,?147,?483,?648"):
        Part(name="odds", shape=shape, dtype="float32", rest=0.0)


def test_a_state_that_is_too_large_as_a_whole_is_refused(exported, monkeypatch):
    monkeypatch.setattr("springback.heads.onnx.stream._LARGEST_STATE", 1000)
    with pytest.raises(DataError, match="must have a state of at most 1,000 bytes; it has"):
        OnnxStream(exported[1])


def test_the_layout_survives_its_text():
    part = Part(name="odds", shape=(3,), dtype="float32", rest=0.0)
    layout = Layout(
        format=2,
        springback="0",
        frame_shape=(2,),
        frame_dtype="float32",
        elapsed_dtype="float32",
        n_streams=None,
        answer_shape=(2,),
        memory=1.0,
        classes=("a", 7),
        preparation={"mean": [0.5]},
        layers=(),
        state=(part,),
    )
    assert Layout.from_json(layout.to_json()) == layout
    assert part.at_rest(2).tolist() == [[0.0] * 3] * 2


def with_a_tensor_of(n_numbers, path):
    """The file with a graph that makes a tensor of so many zeros, and adds their sum to an output."""
    model = onnx.load(path)
    size = onnx.helper.make_tensor("huge_size", onnx.TensorProto.INT64, [1], [n_numbers])
    nodes = [
        onnx.helper.make_node("ConstantOfShape", ["huge_size"], ["huge"]),
        onnx.helper.make_node("ReduceSum", ["huge"], ["huge_sum"], keepdims=0),
    ]
    frozen = next(node for node in model.graph.node if "frozen" in node.output)
    frozen.output[list(frozen.output).index("frozen")] = "frozen_before"
    last = onnx.helper.make_node("Add", ["frozen_before", "huge_sum"], ["frozen"])
    model.graph.initializer.append(size)
    model.graph.node.extend([*nodes, last])
    return model.SerializeToString()


def test_a_tensor_that_does_not_fit_into_memory_is_refused_in_one_sentence(exported, tmp_path):
    _, path, frames = exported
    (tmp_path / "huge.onnx").write_bytes(with_a_tensor_of(2**46, path))
    with pytest.raises(DataError, match=r"huge\.onnx cannot ") as caught:
        OnnxStream(tmp_path / "huge.onnx", threads=1).step(frames[0])
    assert "\n" not in str(caught.value)


BOUNDED = """
import resource, sys
import numpy as np
from springback.check import DataError
from springback.heads.onnx import OnnxStream, session
session.LEAST_MEMORY, session.os.sysconf_names = 2**27, {}
frame = np.load(sys.argv[1])
print(*OnnxStream(sys.argv[2], threads=1).step(frame).round(5))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    OnnxStream(sys.argv[3], threads=1).step(frame)
except DataError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.waits
def test_a_graph_that_takes_more_memory_than_is_allowed_is_refused_though_the_machine_has_it(exported, tmp_path):
    _, path, frames = exported
    np.save(tmp_path / "frame.npy", frames[0].numpy())
    (tmp_path / "large.onnx").write_bytes(with_a_tensor_of(2**27, path))  # half a gigabyte
    command = [sys.executable, "-c", BOUNDED, tmp_path / "frame.npy", path, tmp_path / "large.onnx"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = OnnxStream(path, threads=1).step(frames[0]).round(5)
    np.testing.assert_allclose([float(one) for one in said[0].split()], wanted, atol=2e-5)
    assert said[1].endswith("large.onnx cannot answer a frame: it takes more memory than networks may take here")
    assert int(said[2]) < 300


@pytest.mark.parametrize(
    ("name", "value"), [("waited", -1.0), ("clock", np.inf), ("agreement", -1.0), ("shares", 7.0), ("answered", -1)]
)
def test_an_impossible_number_in_a_state_is_refused(exported, name, value):
    _, path, frames = exported
    stream = OnnxStream(path, threads=1)
    stream.step(frames[0])
    before = stream.get_state()
    rest = {part.name: part.at_rest(1) for part in stream.layout.state} | {
        "waited": np.zeros(1),
        "clock": np.zeros(1),
        "pace": np.zeros(17),
    }
    arrays = unpack_state("OnnxStream", before, rest)
    full = next(one for one in arrays if one.rpartition(".")[2] == name)
    arrays[full].flat[0] = value
    with pytest.raises(DataError, match=rf"state cannot be used: .*{name}"):
        stream.set_state(pack_state("OnnxStream", arrays))
    assert stream.get_state() == before


def test_nothing_is_written_into_the_home_folder(exported, tmp_path):
    _, path, _ = exported
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_", "HOME"))}
    code = f"from springback.heads.onnx import OnnxStream; OnnxStream({str(path)!r}, threads=1)"
    given = {**kept, "HOME": str(home), "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    subprocess.run([sys.executable, "-c", code], check=True, env=given)
    assert [one.name for one in home.rglob("*") if one.is_file()] == []
