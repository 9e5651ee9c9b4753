"""What exactly was used: a plug-in's name, its options, its revision."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: A comma that is followed by an even number of double quotes stands outside of any.
_BETWEEN = re.compile(r""",(?=(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*$)""")


def digest(value: object) -> str:
    """Return sixteen hexadecimal digits that stand for a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Spec:
    """A plug-in with its options and revision: equal specs give equal results."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    revision: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the spec as a JSON object."""
        return {"name": self.name, "options": dict(sorted(self.options.items())), "revision": self.revision}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Spec:
        """Return the spec that :meth:`to_json` wrote."""
        return cls(value["name"], dict(value.get("options", {})), value.get("revision", ""))

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Read ``NAME`` or ``NAME:key=value,key=value``; values are JSON where they can be, else text.

        A comma inside double quotes belongs to the value.
        """
        name, _, rest = text.partition(":")
        options: dict[str, Any] = {}
        for pair in filter(None, _BETWEEN.split(rest)):
            key, equals, value = pair.partition("=")
            if not equals or not key:
                raise ValueError(f"{text!r} is not NAME or NAME:key=value,key=value")
            try:
                options[key] = json.loads(value)
            except json.JSONDecodeError:
                options[key] = value
        if not name:
            raise ValueError(f"{text!r} has no name")
        return cls(name, options)

    @property
    def digest(self) -> str:
        """Return the digest that results made with this spec carry."""
        return digest(self.to_json())

    def __str__(self) -> str:
        options = ",".join(f"{key}={json.dumps(value)}" for key, value in sorted(self.options.items()))
        return self.name + (f":{options}" if options else "") + (f" ({self.revision})" if self.revision else "")
