"""Sessions of onnxruntime: on the processor, in bounded memory, without telemetry or data outside of the file."""

import os
from functools import cache
from typing import Any

from springback.check import DataError

LEAST_MEMORY = 2**32
"""Bytes that all networks of a process together may always take: weights and what they compute. On a machine with more
than twice as much memory, they may take half of it; a graph that asks for more is refused."""

_FOLDER_OF_DATA = "session.model_external_initializers_file_folder_path"
_OWN_MEMORY = "session.use_env_allocators"
_TOO_MUCH = "is smaller than requested bytes of"


def open_session(content: bytes, name: str, *, threads: int = 0) -> Any:
    """A session of the network in an ONNX file; a file that cannot be run is refused.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    threads : int
        Threads of the network; 0: onnxruntime decides.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when the library is loaded
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    # Weights in another file would be looked for here, where no file can be, instead of in the working directory.
    options.add_session_config_entry(_FOLDER_OF_DATA, os.path.join(os.devnull, "none"))
    _bound_memory(onnxruntime)
    options.add_session_config_entry(_OWN_MEMORY, "1")
    try:  # constants would be computed beforehand, in memory that is not bounded
        return onnxruntime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"], disabled_optimizers=["ConstantFolding"]
        )
    except Exception as error:  # the library raises many kinds of its own
        if "external" in str(error).lower():
            raise DataError(
                f"{name} keeps weights in another file, which is not read; export it again as one file"
            ) from error
        raise DataError(f"{name} cannot be run as an ONNX network: {one_line(error)}") from error


@cache
def _bound_memory(onnxruntime: Any) -> None:
    """Let the networks of this process share memory that is bounded."""
    known = os.sysconf_names if hasattr(os, "sysconf_names") else {}
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if "SC_PHYS_PAGES" in known else 0
    place = onnxruntime.OrtMemoryInfo(
        "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
    )
    bounds = onnxruntime.OrtArenaCfg({"max_mem": max(LEAST_MEMORY, pages // 2)})
    onnxruntime.create_and_register_allocator(place, bounds)


def one_line(error: Exception) -> str:
    """What an error says, as one line of limited length."""
    said = " ".join(str(error).split())
    return "it takes more memory than networks may take here" if _TOO_MUCH in said else said[:300]
