"""Where pieces run: processes of this machine (joblib's loky), or the workers of a Dask cluster."""

import warnings
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from typing import Any, Protocol

from springback import check
from springback.check import DataError

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


class Pool(Protocol):
    """Somewhere to run functions.

    slots     how many run at the same time
    submit    begin one; the longer `urgency`, the sooner, where the pool can choose
    close     give the workers back; `at_once` without waiting for what runs
    """

    @property
    def slots(self) -> int: ...

    def submit(self, urgency: float, function: Callable[..., Any], *arguments: Any) -> "Future[Any]": ...

    def close(self, *, at_once: bool = False) -> None: ...


class LocalPool:
    """Processes of this machine, each with one thread, so that `jobs` of them use `jobs` cores."""

    def __init__(self, jobs: int, *, environment: dict[str, str] | None = None) -> None:
        self.slots = check.integer("jobs", jobs, low=1)
        self._environment = {**_ONE_THREAD, **(environment or {})}
        self._executor = self._processes()

    def _processes(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        # loky renews a process whose memory has grown; that is no news to the user.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
        return ProcessPoolExecutor(self.slots, env=self._environment)

    def submit(self, urgency: float, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":  # noqa: ARG002
        """Begin a piece as soon as a process is free; if one of them was killed, with new processes."""
        try:
            begun: Future[Any] = self._executor.submit(function, *arguments)
        except BrokenExecutor:
            self._executor = self._processes()
            begun = self._executor.submit(function, *arguments)
        return begun

    def close(self, *, at_once: bool = False) -> None:
        """End the processes."""
        self._executor.shutdown(wait=True, kill_workers=at_once)


class ClusterPool:
    """The workers of a Dask cluster; a piece whose worker is lost is begun again on another."""

    def __init__(self, address: str, *, patience_s: float = 30.0) -> None:
        self._begun: dict[Future[Any], Any] = {}
        try:
            import distributed
        except ImportError as error:
            raise DataError("--cluster needs the package distributed: pip install 'springback[cluster]'") from error
        try:
            connect: Any = distributed.Client
            self._client = connect(address, timeout=patience_s, set_as_default=False)
            self._client.wait_for_workers(1, timeout=patience_s)
        except (OSError, TimeoutError, ValueError) as error:
            raise DataError(f"the cluster {address} gave no worker within {patience_s:g} s ({error})") from error

    @property
    def slots(self) -> int:
        """One per thread of every worker, as they are now."""
        return max(1, int(sum(self._client.nthreads().values())))

    def submit(self, urgency: float, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Begin a piece on some worker; its arguments travel with it, so that any other can take over."""
        answer: Future[Any] = Future()
        answer.set_running_or_notify_cancel()

        def hand_over(done: Any) -> None:
            try:
                answer.set_result(done.result())
            except BaseException as error:
                answer.set_exception(error)
            self._begun.pop(answer, None)

        # The scheduler forgets a task whose future nobody holds.
        self._begun[answer] = self._client.submit(function, *arguments, pure=False, priority=urgency)
        self._begun[answer].add_done_callback(hand_over)
        return answer

    def close(self, *, at_once: bool = False) -> None:
        """Leave the cluster; what still runs for us is cancelled by that."""
        self._client.close(timeout=1 if at_once else 30)
