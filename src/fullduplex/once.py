"""What is heavy to load is loaded once in each process that needs it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")


def once_per_process(make: Callable[Given, Made]) -> Callable[Given, Made]:
    """Make a module-level function build its result once in each process, for each set of arguments.

    For what outlives a task, such as a model's session: the one state that a module may
    keep, since it changes no result. An argument counts by its ``digest`` where it has one
    (a Spec, which is not hashable), else it must be hashable. With threads, a second
    caller waits for the first one's result; a build that fails is tried again.
    """
    lock = RLock()
    known: dict[Any, Made] = {}

    @wraps(make)
    def made(*arguments: Given.args, **named: Given.kwargs) -> Made:
        key = tuple(map(_key, arguments)), tuple(sorted((name, _key(value)) for name, value in named.items()))
        with lock:
            if key not in known:
                known[key] = make(*arguments, **named)
            return known[key]

    return made


def _key(argument: object) -> object:
    return getattr(argument, "digest", argument)
