"""Sessions of onnxruntime: on the processor, without telemetry, and without data outside of the file."""

import os
from typing import Any

from springback.check import DataError

_FOLDER_OF_DATA = "session.model_external_initializers_file_folder_path"


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
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library raises many kinds of its own
        if "external" in str(error).lower():
            raise DataError(
                f"{name} keeps weights in another file, which is not read; export it again as one file"
            ) from error
        raise DataError(f"{name} cannot be run as an ONNX network: {one_line(error)}") from error


def one_line(error: Exception) -> str:
    """What an error says, as one line of limited length."""
    return " ".join(str(error).split())[:300]
