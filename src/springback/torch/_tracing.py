"""Which ways of recording a model keep its short-term state; the others are refused."""

import torch

_WITHOUT_STATE = (
    "would lose the short-term state of an elastic layer and give the frozen model; "
    "use springback.torch.export_onnx, or torch.export.export after reset(model, n_streams); "
    "use deelasticize(model) if you want the frozen model"
)


def refuse_to_lose_state(*, started: bool, carried: bool = False) -> None:
    """Raise if this call of a layer is being recorded in a way that loses the state.

    Parameters
    ----------
    started : bool
        Whether the streams already exist, so that the state is a buffer of the model.
    carried : bool
        Whether the state is an input and an output of what is recorded.

    Examples
    --------
    >>> refuse_to_lose_state(started=False)  # nothing is being recorded
    """
    tracing = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    if carried or not (tracing or torch.compiler.is_compiling()):
        return
    if _is_onnx_exporting():
        raise RuntimeError(f"torch.onnx.export {_WITHOUT_STATE}")
    if tracing:
        raise RuntimeError(f"torch.jit.trace {_WITHOUT_STATE}")
    if not started and is_exporting():
        raise RuntimeError(
            "the streams of an elastic model must exist before torch.export records it; "
            "call reset(model, n_streams) first, with as many streams as the example input has rows"
        )


def _is_onnx_exporting() -> bool:
    return bool(torch.onnx.is_in_onnx_export())


# Dynamo, which torch.onnx.export falls back to, assumes that torch's own function always returns False. This mark is
# all that torch.compiler.assume_constant_result sets; to call it would import all of Dynamo, which takes seconds.
_is_onnx_exporting._dynamo_marked_constant = True  # type: ignore[attr-defined]


def refuse_to_script() -> None:
    """Raise: TorchScript cannot express an elastic layer.

    Examples
    --------
    >>> refuse_to_script()
    Traceback (most recent call last):
    RuntimeError: torch.jit.script would lose the short-term state of an elastic layer and give the frozen model; ...
    """
    raise RuntimeError(f"torch.jit.script {_WITHOUT_STATE}")


def is_exporting() -> bool:
    """Whether `torch.export` is recording; with a version of torch that cannot tell, whether anything is compiled.

    Examples
    --------
    >>> is_exporting()
    False
    """
    ask = getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)
    return bool(ask())
