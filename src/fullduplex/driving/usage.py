"""What a talk used, as its system counted: tokens by kind, or seconds that are charged.

Hosted systems count in notes. Whoever writes a driver gives ``Note("usage", {"input": {"audio": 12, "text": 3},
"output": {"audio": 30}})`` each time that more was used; the forms in which vendors count are read too.

Kinds: ``input``, ``cached`` (input that the vendor had read already, no part of ``input``) and ``output``, each of
``audio``, ``text`` or ``image``: ``input_audio``. A count whose modality is not told is of ``input``, ``cached`` or
``output`` alone. A model that writes down the user's words counts as ``transcription_input`` and
``transcription_output``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fullduplex.driving.link import Note

MODALITIES = ("audio", "text", "image")
DIRECTIONS = ("input", "cached", "output")
KINDS = (
    *(f"{direction}_{modality}" for direction in DIRECTIONS for modality in MODALITIES),
    *DIRECTIONS,
    "transcription_input",
    "transcription_output",
)


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used: ``seconds`` of talk, ``tokens`` by kind, and ``charged`` seconds where the system tells them.

    ``counted`` is how many notes said so; 0: the system told nothing.
    """

    seconds: float = 0.0
    tokens: Mapping[str, int] = field(default_factory=dict)
    charged: float | None = None
    counted: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the usage as a JSON object."""
        told: dict[str, Any] = {"seconds": round(self.seconds, 6)}
        if self.counted:
            told["tokens"] = dict(sorted(self.tokens.items()))
        if self.charged is not None:
            told["charged_seconds"] = self.charged
        return told


def usage_of(notes: Iterable[Any], seconds: float) -> Usage:
    """Return what the ``notes`` of a talk of ``seconds`` say that it used; notes that count nothing are passed over."""
    tokens: Counter[str] = Counter()
    charged: float | None = None
    counted = 0
    for note in notes:
        if not isinstance(note, Note):
            continue
        told = note.data.get("usage") if note.kind in ("response.done", "session_closed") else note.data
        if note.kind not in ("usage", "response.done", "session_closed") or not isinstance(told, Mapping):
            continue
        inner = told.get("usage")
        lasted = _seconds(inner if isinstance(inner, Mapping) else told)
        if lasted is not None and told.get("of") != "transcription":
            # A session's count runs on: the last word holds.
            charged, counted = max(lasted, charged or 0.0), counted + 1
            continue
        found = _tokens(told)
        if found:
            tokens.update(found)
            counted += 1
    return Usage(seconds, dict(tokens), charged, counted)


def _tokens(told: Mapping[str, Any]) -> Counter[str]:
    """Return the tokens of one count, in any of the forms that are known."""
    if isinstance(told.get("input"), Mapping) or isinstance(told.get("output"), Mapping):
        return _plain(told)
    if "promptTokenCount" in told or "responseTokenCount" in told:
        return _google(told)
    if told.get("of") == "transcription":
        found = {f"transcription_{way}": _count(told, f"{way}_tokens") for way in ("input", "output")}
        return Counter({kind: number for kind, number in found.items() if number})
    if "input_tokens" in told or "output_tokens" in told:
        return _openai(told)
    return Counter()


def _plain(told: Mapping[str, Any]) -> Counter[str]:
    made: Counter[str] = Counter()
    for direction in DIRECTIONS:
        part = told.get(direction)
        if isinstance(part, Mapping):
            made.update({f"{direction}_{one}": _count(part, one) for one in MODALITIES})
    return +made


def _openai(told: Mapping[str, Any]) -> Counter[str]:
    details = {way: _object(told, f"{way}_token_details") for way in ("input", "output")}
    cached = _object(details["input"], "cached_tokens_details")
    made: Counter[str] = Counter()
    for one in MODALITIES:
        # Cached tokens are among those of the input.
        again = _count(cached, f"{one}_tokens")
        made[f"cached_{one}"] = again
        made[f"input_{one}"] = max(0, _count(details["input"], f"{one}_tokens") - again)
        made[f"output_{one}"] = _count(details["output"], f"{one}_tokens")
    made["cached"] = max(
        0, _count(details["input"], "cached_tokens") - sum(made[f"cached_{one}"] for one in MODALITIES)
    )
    return _rest(made, _count(told, "input_tokens"), _count(told, "output_tokens"))


def _google(told: Mapping[str, Any]) -> Counter[str]:
    made: Counter[str] = Counter()
    cached = _by_modality(told.get("cacheTokensDetails"))
    prompt = _by_modality(told.get("promptTokensDetails"))
    prompt.update(_by_modality(told.get("toolUsePromptTokensDetails")))
    for one in MODALITIES:
        made[f"cached_{one}"] = cached[one]
        made[f"input_{one}"] = max(0, prompt[one] - cached[one])
    made["cached"] = max(0, _count(told, "cachedContentTokenCount") - sum(cached.values()))
    made.update({f"output_{one}": n for one, n in _by_modality(told.get("responseTokensDetails")).items()})
    # What it thought is written.
    made["output_text"] += _count(told, "thoughtsTokenCount")
    came = _count(told, "promptTokenCount") + _count(told, "toolUsePromptTokenCount")
    return _rest(made, came, _count(told, "responseTokenCount") + _count(told, "thoughtsTokenCount"))


def _rest(made: Counter[str], came: int, went: int) -> Counter[str]:
    """Return the counts with what no modality was told for."""
    known = sum(made[f"{way}_{one}"] for way in ("input", "cached") for one in MODALITIES) + made["cached"]
    made["input"] = max(0, came - known)
    made["output"] = max(0, went - sum(made[f"output_{one}"] for one in MODALITIES))
    return +made


def _by_modality(told: Any) -> Counter[str]:
    made: Counter[str] = Counter()
    for part in told if isinstance(told, list) else ():
        name = str(part.get("modality", "")).lower() if isinstance(part, Mapping) else ""
        if name in MODALITIES:
            made[name] += _count(part, "tokenCount")
    return made


def _object(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = told.get(name)
    return found if isinstance(found, Mapping) else {}


def _count(told: Mapping[str, Any], name: str) -> int:
    value = told.get(name)
    return value if type(value) is int and 0 <= value < 1 << 53 else 0


def _seconds(told: Mapping[str, Any]) -> float | None:
    value = told.get("seconds")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    return float(value)


__all__ = ["DIRECTIONS", "KINDS", "MODALITIES", "Usage", "usage_of"]
