"""A worker process ends by itself when the process that started it is gone."""

import os
import signal
import sys
import threading
import time

_LOOK_EVERY_S = 0.5
_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """Called in a worker, with the id of the process that started it: from now on, it does not outlive that process.

    A thread looks every half second. Since compiled code can keep it waiting, Linux is asked to do the same at once.
    """
    if sys.platform == "linux":
        _ask_linux()
    if sys.platform != "win32":
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY_S)
    os._exit(1)


def _ask_linux() -> None:
    """Ask to be killed when the parent ends (`man 2 prctl`); where that is refused, the thread alone watches."""
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
