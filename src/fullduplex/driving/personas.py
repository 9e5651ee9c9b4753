"""Who a simulated user is: how they speak, how long they wait, how readily they cut in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, member, number, read_json, text, time
from fullduplex.errors import InputError
from fullduplex.model.spans import in_seconds, ms, seconds
from fullduplex.model.spec import Spec

#: The five personas of DuplexAct's synthesised items, with the voice settings of its Table 9. The settings are the
#: paper's; how each behaves and talks is ours, as the paper does not tell it.
BUILT_IN = Path(__file__).with_name("personas.json")


@dataclass(frozen=True, slots=True)
class Persona:
    """A person who talks.

    ``style`` is told to the language model. ``pace`` is the speed of speech, 1 being the voice's own. ``patience``
    (microseconds) is the silence after which they take the turn. ``interrupts`` is the probability of cutting into a
    reply, ``backchannels`` of an "mm-hm" at a pause of one. ``voice`` holds options for voice
    plug-ins by name; only those of the voice that speaks are used.
    """

    name: str
    style: str = "An ordinary, friendly caller."
    pace: float = 1.0
    patience: int = ms(800)
    interrupts: float = 0.0
    backchannels: float = 0.0
    voice: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError("persona", "name", found="an empty text", expected="a name")
        for what in ("interrupts", "backchannels"):
            if not 0 <= getattr(self, what) <= 1:
                raise InputError(f"persona {self.name}", what, found=getattr(self, what), expected="0 to 1")
        if not 0.25 <= self.pace <= 4:
            raise InputError(f"persona {self.name}", "pace", found=self.pace, expected="0.25 to 4")
        if self.patience <= 0:
            raise InputError(f"persona {self.name}", "patience", found=self.patience, expected="a time above 0")

    def spoken_by(self, voice: Spec) -> Spec:
        """Return ``voice`` with this persona's options for it, and its pace as ``speed`` unless that is 1.

        Options that ``voice`` states itself win.
        """
        pace = {} if self.pace == 1 else {"speed": self.pace}
        settled = self.settled(voice)
        return Spec(voice.name, pace | dict(settled.options), voice.revision)

    def settled(self, voice: Spec) -> Spec:
        """Return ``voice`` with this persona's options for it and nothing else; options that it states itself win."""
        return Spec(voice.name, dict(self.voice.get(voice.name, {})) | dict(voice.options), voice.revision)

    def to_json(self) -> dict[str, Any]:
        """Return the persona, times in decimal seconds."""
        return {
            "name": self.name,
            "style": self.style,
            "pace": self.pace,
            "patience": in_seconds(self.patience),
            "interrupts": self.interrupts,
            "backchannels": self.backchannels,
            "voice": {name: dict(options) for name, options in self.voice.items()},
        }


def read_personas(path: Path = BUILT_IN) -> dict[str, Persona]:
    """Return the personas of a file by name: ``{"personas": [as Persona.to_json(), ...]}``; only ``name`` is needed.

    Raises :class:`InputError` for anything else, and for a name that occurs twice.
    """
    listed = member(read_json(path), "personas", path)
    if not isinstance(listed, list) or not listed:
        raise InputError(path, "personas", found=brief(listed), expected="a list of personas")
    read: dict[str, Persona] = {}
    for n, value in enumerate(listed, 1):
        persona = _persona(value, path, f"persona {n}")
        if persona.name in read:
            raise InputError(path, f"persona {n}", found=f"a second {persona.name!r}", expected="a name of its own")
        read[persona.name] = persona
    return read


def _persona(value: Any, path: Path, where: str) -> Persona:
    name = text(member(value, "name", path, where), path, f"{where}, name")
    known = set(Persona.__slots__)
    unknown = set(value) - known
    if unknown:
        raise InputError(path, where, found=brief(min(unknown)), expected=", ".join(sorted(known)))
    given: dict[str, Any] = {}
    if "style" in value:
        given["style"] = text(value["style"], path, f"{where}, style")
    if "patience" in value:
        given["patience"] = seconds(time(value["patience"], path, f"{where}, patience"))
    for key in {"pace", "interrupts", "backchannels"} & set(value):
        given[key] = number(value[key], path, f"{where}, {key}")
    voice = value.get("voice", {})
    if not isinstance(voice, dict) or not all(isinstance(options, dict) for options in voice.values()):
        raise InputError(path, f"{where}, voice", found=brief(voice), expected="options by the voice's name")
    # Through JSON, so that nothing of the file is shared.
    given["voice"] = json.loads(json.dumps(voice))
    try:
        return Persona(name, **given)
    except InputError as error:
        raise InputError(path, f"{where}, {error.field}", found=error.found, expected=error.expected) from error
