"""A lock for each model: threads that share a model move it one after the other, and no frame is lost."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
Model = TypeVar("Model")

_LOCK = "_turn"
_MAKING = threading.Lock()


class _Turn:
    """The lock of one model; a copy of the model finds that it is not its own, and makes another."""

    __slots__ = ("lock", "owner")

    def __init__(self, owner: int = 0) -> None:
        self.lock, self.owner = threading.RLock(), owner

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


def one_at_a_time(method: Callable[Concatenate[Model, P], R]) -> Callable[Concatenate[Model, P], R]:
    """Decorate a method that moves a model, or reads several parts of its state: one thread at a time runs it.

    Methods that are decorated may call each other.

    Examples
    --------
    >>> class Counter:
    ...     seen = 0
    ...
    ...     @one_at_a_time
    ...     def step(self):
    ...         self.seen += 1
    >>> counter = Counter()
    >>> counter.step()
    >>> counter.seen
    1
    """

    @wraps(method)
    def in_turn(self: Model, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with turn_of(self):
            return method(self, *args, **kwargs)

    return in_turn


def turn_of(model: Any) -> AbstractContextManager[object]:
    """The lock of a model, which the thread that holds it may take again.

    Examples
    --------
    >>> class Counter:
    ...     seen = 0
    >>> counter = Counter()
    >>> with turn_of(counter):
    ...     counter.seen += 1
    """
    turn: _Turn | None = vars(model).get(_LOCK)
    if turn is None or turn.owner != id(model):
        with _MAKING:
            turn = vars(model).get(_LOCK)
            if turn is None or turn.owner != id(model):
                turn = vars(model)[_LOCK] = _Turn(id(model))
    return turn.lock


def end_turns(model: Any) -> None:
    """Leave nothing of the lock in a model that moves no more."""
    vars(model).pop(_LOCK, None)
