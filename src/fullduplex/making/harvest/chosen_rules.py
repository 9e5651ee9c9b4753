"""The rules of a harvest by what the command line says: a name, or a TOML file of one's own."""

from __future__ import annotations

import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, read_text_file
from fullduplex.errors import InputError
from fullduplex.making.harvest.fdb.edges import length_of
from fullduplex.making.harvest.fdb.rules import FDB_RULES, FdbRules
from fullduplex.making.harvest.fdb.rules import checked as fdb_checked
from fullduplex.making.harvest.fdb.rules import read_value as fdb_value
from fullduplex.making.harvest.rules import COUNTED, RULES, Rules

NAMES = (*RULES, *FDB_RULES)


def chosen_rules(text: str) -> tuple[str, Rules | FdbRules]:
    """Return a name for the rules, and the rules: those of that name, or those of a file that ends in .toml.

    A file names a set that it is ``based_on``; every other key is one of that set's, lengths in decimal seconds.
    Raises :class:`InputError` on a name, a key or a value that cannot be meant.
    """
    known: dict[str, Rules | FdbRules] = {**RULES, **FDB_RULES}
    if text in known:
        return text, known[text]
    if not text.lower().endswith(".toml"):
        raise InputError("--rules", found=text, expected=f"{', '.join(NAMES)}, or a file that ends in .toml")
    path = Path(text)
    try:
        told = tomllib.loads(read_text_file(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(path, found=str(error), expected="a TOML file") from error
    base = told.pop("based_on", None)
    if not isinstance(base, str) or base not in known:
        raise InputError(path, "based_on", found=brief(base), expected=f"one of {', '.join(NAMES)}")
    rules, made = known[base], dict[str, Any]()
    like = {field.name: getattr(rules, field.name) for field in fields(rules)}
    for name, value in told.items():
        if name not in like:
            raise InputError(path, name, found="a key that these rules do not have", expected=", ".join(like))
        try:
            made[name] = fdb_value(name, value, like[name]) if isinstance(rules, FdbRules) else _value(name, value)
        except ValueError as error:
            raise InputError(path, name, found=brief(value), expected=str(error)) from error
    own = replace(rules, **made)
    return f"own, based on {base}", fdb_checked(own, path) if isinstance(own, FdbRules) else own


def _value(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e5:
        raise ValueError("a number that is not negative")
    if name not in COUNTED:
        return length_of(value)
    if not isinstance(value, int):
        raise ValueError("a whole number")
    return value
