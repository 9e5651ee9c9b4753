"""What each category of an interaction calls for: a fixed table, which no system's output ever changes.

The windows are InteractionBench's (its page for grammar, excerpts of its code for the others): onsets that are right,
counted from the end of the trigger word, both edges included. Where its page scores the answer alone, there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fullduplex.model.spans import ms

#: The scenarios, in the order of the publication; the dataset of one is ``ib_`` and its name.
SCENARIOS = (
    "backchannel", "pause", "turn_taking", "user_backchannel", "interruption",
    "logic", "countdown", "alternating_count", "grammar", "keyword_wait", "stay_quiet",
    "whisper", "volume", "groundedness",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Policy:
    """What a category calls for.

    ``action`` is one of the eight floor-control actions. ``window``: the onsets that are right, in microseconds after
    the trigger word's end, both included; None where any is. ``overlap``: whether the reply has to begin while
    the user still speaks (``required``), must not (``forbidden``), or may (``allowed``). ``anchored``: a word of the
    user's triggers it. ``scenario``: the one that its items belong to, where their script names none.
    """

    action: str
    window: tuple[int, int] | None = None
    overlap: str = "allowed"
    anchored: bool = True
    scenario: str = ""


def _within(first: int, last: int) -> tuple[int, int]:
    return ms(first), ms(last)


#: By category. The fourteen scenarios come first, then the other categories of the publication's table.
POLICY: Mapping[str, Policy] = MappingProxyType(
    {
        "backchannel": Policy("BACKCHANNEL", anchored=False, scenario="backchannel"),
        "pause": Policy("WAIT", overlap="forbidden", scenario="pause"),
        "turn_taking": Policy("TAKE_FLOOR", _within(-50, 2_500), scenario="turn_taking"),
        "user_backchannel": Policy("CONTINUE", anchored=False, scenario="user_backchannel"),
        "interruption": Policy("YIELD", scenario="interruption"),
        "logic": Policy("TAKE_FLOOR", scenario="logic"),
        "countdown": Policy("TAKE_FLOOR", scenario="countdown"),
        "alternating_count": Policy("TAKE_FLOOR", _within(100, 400), "forbidden", scenario="alternating_count"),
        "grammar": Policy("INTERRUPT", _within(50, 300), "required", scenario="grammar"),
        "keyword_wait": Policy("INTERRUPT", _within(50, 300), "required", scenario="keyword_wait"),
        "stay_quiet": Policy("TAKE_FLOOR", _within(200, 600), "forbidden", scenario="stay_quiet"),
        "whisper": Policy("TAKE_FLOOR", scenario="whisper"),
        "volume": Policy("TAKE_FLOOR", scenario="volume"),
        "groundedness": Policy("TAKE_FLOOR", anchored=False, scenario="groundedness"),
        "wrong_word_correction": Policy("INTERRUPT", _within(50, 300), "required"),
        "forbidden_phrase_interruption": Policy("TAKE_FLOOR", _within(50, 300), "forbidden"),
        "deliberate_overlap": Policy("INTERRUPT", _within(50, 250), "required"),
        "predictive_number_continuation": Policy("TAKE_FLOOR", _within(50, 350), "forbidden"),
        "phrase_completion": Policy("TAKE_FLOOR", _within(50, 350), "forbidden"),
        "other": Policy("TAKE_FLOOR", _within(50, 400)),
    }
)
