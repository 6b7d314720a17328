"""Where tasks run: processes of this machine (joblib's loky), or the workers of a Dask cluster."""

import logging
import os
import warnings
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from typing import Any, Protocol

from springback import check
from springback.check import DataError
from springback.extras import require_extra
from springback_paper.runner.freed_memory import keep_freed_memory
from springback_paper.runner.orphans import end_with_parent

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


class Pool(Protocol):
    """Somewhere to run functions."""

    @property
    def slots(self) -> int:
        """How many functions run at the same time."""
        ...

    def submit(self, urgency: float, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a function; the larger `urgency`, the sooner, where the pool can choose."""
        ...

    def close(self, *, at_once: bool = False) -> None:
        """Give the workers back; with `at_once`, without waiting for what is running."""
        ...


class LocalPool:
    """Processes of this machine, each with one thread, so that `workers` of them use `workers` cores.

    They end with this process, however it ends; and with the thread that uses the pool, which must therefore close it.
    """

    def __init__(self, workers: int, *, environment: dict[str, str] | None = None) -> None:
        self.slots = check.integer("workers", workers, low=1)
        self._environment = {**_ONE_THREAD, **(environment or {})}
        self._executor = self._processes()

    def _processes(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        # loky renews a process whose memory has grown; the user does not need to know that.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
        return ProcessPoolExecutor(self.slots, env=self._environment, initializer=_begin, initargs=(os.getpid(),))

    def submit(self, urgency: float, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":  # noqa: ARG002
        """Begin a task as soon as a process is free; if one of them was killed, with new processes."""
        try:
            begun: Future[Any] = self._executor.submit(function, *arguments)
        except BrokenExecutor:
            self._executor = self._processes()
            begun = self._executor.submit(function, *arguments)
        return begun

    def close(self, *, at_once: bool = False) -> None:
        """End the processes."""
        self._executor.shutdown(wait=True, kill_workers=at_once)


def _begin(parent: int) -> None:
    """What a process of a local pool does first."""
    end_with_parent(parent)
    keep_freed_memory()


class ClusterPool:
    """The workers of a Dask cluster; a task whose worker is lost is begun again on another.

    If the scheduler is lost, so are the tasks that run: the next question for `slots` says so.

    Parameters
    ----------
    patience_s : float
        How long to wait for any answer of the cluster.
    """

    def __init__(self, address: str, *, patience_s: float = 30.0) -> None:
        self._address, self._patience_s = address, patience_s
        self._begun: dict[Future[Any], Any] = {}
        require_extra("--cluster", "distributed")
        import distributed

        # What goes wrong is said here in one sentence; distributed would print a traceback before it.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        for name in ("batched", "client", "comm", "core"):
            logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
        try:
            connect: Any = distributed.Client
            self._client = connect(address, timeout=patience_s, set_as_default=False)
            self._client.wait_for_workers(1, timeout=patience_s)
        except (OSError, TimeoutError, ValueError) as error:
            raise DataError(f"the cluster {address} gave no worker within {patience_s:g} s ({error})") from error

    @property
    def slots(self) -> int:
        """One per thread of every worker, as they are now."""
        threads = self._answer(lambda: self._client.nthreads(callback_timeout=self._patience_s))
        return max(1, int(sum(threads.values())))

    def submit(self, urgency: float, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Begin a task on some worker; its arguments travel with it, so that any other can take over."""
        answer: Future[Any] = Future()
        answer.set_running_or_notify_cancel()

        def hand_over(done: Any) -> None:
            try:
                answer.set_result(done.result(timeout=self._patience_s))
            except BaseException as error:
                lost = not self._is_connected() or not isinstance(error, Exception)
                answer.set_exception(BrokenExecutor("the cluster is gone") if lost else error)
            self._begun.pop(answer, None)

        # The scheduler forgets a task whose future nobody holds.
        self._begun[answer] = self._answer(
            lambda: self._client.submit(function, *arguments, pure=False, priority=urgency)
        )
        self._begun[answer].add_done_callback(hand_over)
        return answer

    def close(self, *, at_once: bool = False) -> None:
        """Leave the cluster; what still runs for us is cancelled by that."""
        with suppress(Exception):  # A cluster that is gone has been left already.
            self._client.close(timeout=1 if at_once else self._patience_s)

    def _is_connected(self) -> bool:
        return bool(self._client.status == "running")

    def _answer(self, ask: Callable[[], Any]) -> Any:
        """What the scheduler answers; after a broken connection, or no answer in time, there is no use in going on."""
        reason = "the connection is broken"
        if self._is_connected():
            try:
                return ask()
            except Exception as error:
                if self._is_connected() and not isinstance(error, OSError):
                    raise
                reason = type(error).__name__
        raise DataError(
            f"the scheduler of the cluster {self._address} is gone ({reason}); "
            "finished tasks are kept; run the same command again to resume"
        )
