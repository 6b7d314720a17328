"""A small elastic network in an ONNX file, written without PyTorch."""

import numpy as np

from springback import __version__
from springback.heads.onnx.layout import FORMAT, METADATA_KEY, Layout, Part

WIDTH, CLASSES = 7, 4


def write_network(path):
    """A linear layer whose answer is pulled towards the sum of its earlier outputs, which fades."""
    from onnx import helper, numpy_helper, save

    layout = Layout(
        format=FORMAT,
        springback=__version__,
        frame_shape=(WIDTH,),
        frame_dtype="float32",
        elapsed_dtype="float32",
        n_streams=None,
        answer_shape=(CLASSES,),
        memory=2.0,
        classes=("a", "b", "c", "d"),
        preparation=None,
        layers=(),
        state=(Part(name="seen", shape=(CLASSES,), dtype="float32", rest=0.0),),
    )
    nodes = [
        ("MatMul", ["frame", "weight"], "plain"),
        ("Div", ["elapsed", "minus_memory"], "fading"),
        ("Exp", ["fading"], "factor"),
        ("Unsqueeze", ["factor", "last"], "left"),
        ("Mul", ["state.seen", "left"], "faded"),
        ("Add", ["plain", "faded"], "output"),
        ("Softmax", ["output"], "probability"),
        ("Softmax", ["plain"], "frozen"),
        ("Identity", ["output"], "next.seen"),
    ]
    weight = np.random.default_rng(0).normal(size=(WIDTH, CLASSES)).astype(np.float32)
    constants = {"weight": weight, "minus_memory": np.float32(-layout.memory), "last": np.array([1])}
    shapes = {"frame": ["streams", WIDTH], "elapsed": ["streams"]}
    values = {
        name: helper.make_tensor_value_info(name, 1, shapes.get(name, ["streams", CLASSES]))
        for name in (*layout.inputs, *layout.outputs)
    }
    graph = helper.make_graph(
        [helper.make_node(kind, given, [found]) for kind, given, found in nodes],
        "fading",
        [values[name] for name in layout.inputs],
        [values[name] for name in layout.outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    helper.set_model_props(model, {METADATA_KEY: layout.to_json()})
    save(model, path)
