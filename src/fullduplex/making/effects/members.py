"""What an effect's members may be, in Python and in JSON: each kind of member reads, writes and refuses.

Times are whole microseconds in Python and decimal seconds in JSON; levels are decibels in both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

from fullduplex.data.files import brief, number
from fullduplex.errors import InputError
from fullduplex.model.spans import in_seconds, seconds


class Member(Protocol):
    """One member of an effect."""

    def read(self, value: object, path: Path, field: str) -> Any:
        """Return what a JSON value stands for; raises :class:`InputError`."""
        ...

    def write(self, value: Any) -> object:
        """Return the JSON value that stands for ``value``."""
        ...


@dataclass(frozen=True, slots=True)
class Number:
    """A number from ``low`` to ``high``, both allowed."""

    low: float
    high: float
    unit: str = ""

    def read(self, value: object, path: Path, field: str) -> float:
        """Return the number; raises :class:`InputError`."""
        expected = f"{self.low:g} to {self.high:g} {self.unit}".rstrip()
        found = number(value, path, field, expected)
        if not self.low <= found <= self.high:
            raise InputError(path, field, found=brief(value), expected=expected)
        return found

    def write(self, value: Any) -> object:
        """Return a float, so that 10 and 10.0 are the same effect."""
        return _plain_number(value)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from ``low`` to ``high``, both allowed."""

    low: int
    high: int
    unit: str = ""

    def read(self, value: object, path: Path, field: str) -> int:
        """Return the number; raises :class:`InputError`."""
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if not whole or isinstance(value, bool) or not self.low <= int(value) <= self.high:  # type: ignore[call-overload]
            expected = f"a whole number, {self.low} to {self.high} {self.unit}".rstrip()
            raise InputError(path, field, found=brief(value), expected=expected)
        return int(value)  # type: ignore[call-overload, no-any-return]

    def write(self, value: Any) -> object:
        """Return the number."""
        return value


@dataclass(frozen=True, slots=True)
class Time:
    """A time from ``low`` to ``high`` microseconds, both allowed; seconds in JSON."""

    low: int
    high: int

    def read(self, value: object, path: Path, field: str) -> int:
        """Return microseconds; raises :class:`InputError`."""
        return seconds(Number(in_seconds(self.low), in_seconds(self.high), "s").read(value, path, field))

    def write(self, value: Any) -> object:
        """Return seconds; raises TypeError on what is not whole microseconds, as spans do."""
        if type(value) is not int:
            raise TypeError(f"times are whole microseconds, not {value!r}")
        return in_seconds(value)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some names."""

    names: tuple[str, ...]

    def read(self, value: object, path: Path, field: str) -> str:
        """Return the name; raises :class:`InputError`."""
        if not isinstance(value, str) or value not in self.names:
            raise InputError(path, field, found=brief(value), expected=f"one of {', '.join(self.names)}")
        return value

    def write(self, value: Any) -> object:
        """Return the name."""
        return value


class Flag:
    """True or false."""

    def read(self, value: object, path: Path, field: str) -> bool:
        """Return the value; raises :class:`InputError`."""
        if not isinstance(value, bool):
            raise InputError(path, field, found=brief(value), expected="true or false")
        return value

    def write(self, value: Any) -> object:
        """Return the value."""
        return value


@dataclass(frozen=True, slots=True)
class Name:
    """A name of ``what``, of at most ``most`` characters."""

    what: str
    most: int

    def read(self, value: object, path: Path, field: str) -> str:
        """Return the name; raises :class:`InputError`."""
        if not isinstance(value, str) or not value.strip() or len(value) > self.most:
            raise InputError(path, field, found=brief(value), expected=f"the name of {self.what}")
        return value

    def write(self, value: Any) -> object:
        """Return the name."""
        return value


@dataclass(frozen=True, slots=True)
class Several:
    """A list of members of one kind, at most ``most``: a tuple in Python."""

    of: Member
    most: int = 1000

    def read(self, value: object, path: Path, field: str) -> tuple[Any, ...]:
        """Return the members; raises :class:`InputError`."""
        if not isinstance(value, list) or len(value) > self.most:
            raise InputError(path, field, found=brief(value), expected=f"a list of at most {self.most}")
        return tuple(self.of.read(part, path, f"{field}[{place}]") for place, part in enumerate(value))

    def write(self, value: Any) -> object:
        """Return a list."""
        return [self.of.write(part) for part in value] if isinstance(value, tuple | list) else value


@dataclass(frozen=True, slots=True)
class Row:
    """A list of members of several kinds, one of each: a tuple in Python."""

    of: tuple[Member, ...]
    shape: str

    def read(self, value: object, path: Path, field: str) -> tuple[Any, ...]:
        """Return the members; raises :class:`InputError`."""
        if not isinstance(value, list) or len(value) != len(self.of):
            raise InputError(path, field, found=brief(value), expected=self.shape)
        return tuple(
            member.read(part, path, f"{field}[{place}]")
            for place, (member, part) in enumerate(zip(self.of, value, strict=True))
        )

    def write(self, value: Any) -> object:
        """Return a list."""
        if not isinstance(value, tuple | list) or len(value) != len(self.of):
            return value
        return [member.write(part) for member, part in zip(self.of, value, strict=True)]


@dataclass(frozen=True, slots=True)
class Maybe:
    """A member, or None: null in JSON, or not there."""

    of: Member

    def read(self, value: object, path: Path, field: str) -> Any:
        """Return the member or None; raises :class:`InputError`."""
        return None if value is None else self.of.read(value, path, field)

    def write(self, value: Any) -> object:
        """Return what stands for the member, or None."""
        return None if value is None else self.of.write(value)


LEVEL = Number(-120, 60, "dB")
#: An SNR as asked for; beyond these it is silence or no speech.
SNR = Number(-60, 120, "dB")
#: A recording, for the loader to find.
AUDIO = Name("a recording", 4_096)
SEED = Whole(0, 2**63 - 1)
FREQUENCY = Number(20, 96_000, "Hz")


class Declared(Protocol):
    """A dataclass that says what its members may be."""

    kind: ClassVar[str]
    members: ClassVar[Mapping[str, Member]]


def as_json(effect: Declared) -> dict[str, Any]:
    """Return ``effect`` as a JSON object: its kind and its members, without those that are None unless told."""
    unless_told = {field.name for field in fields(cast("Any", effect)) if field.default is None}
    written = {name: member.write(getattr(effect, name)) for name, member in effect.members.items()}
    kept = {name: value for name, value in written.items() if value is not None or name not in unless_told}
    return {"kind": effect.kind, **kept}


def check(effect: Declared) -> None:
    """Raise :class:`InputError` where a member of ``effect`` is not what it may be."""
    for name, member in effect.members.items():
        member.read(member.write(getattr(effect, name)), Path(effect.kind), name)


def read_members(effect: type[Any], value: Mapping[str, Any], path: Path, where: str) -> dict[str, Any]:
    """Return the arguments for ``effect`` that a JSON object holds.

    Raises :class:`InputError` on a member that the kind does not know, that is missing, or that is
    not what it may be.
    """
    given = {name: part for name, part in value.items() if name != "kind"}
    members: Mapping[str, Member] = effect.members
    for name in given:
        if name not in members:
            raise InputError(path, f"{where}.{name}", found="an unknown member", expected=f"of {', '.join(members)}")
    for field in fields(effect):
        if field.name not in given and field.default is MISSING:
            raise InputError(path, where, found=brief(dict(value)), expected=f"a {effect.kind} with {field.name!r}")
    return {name: members[name].read(part, path, f"{where}.{name}") for name, part in given.items()}


def _plain_number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return float(value) if isinstance(value, float) or abs(value) < 2**53 else math.inf
