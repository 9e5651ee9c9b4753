"""How far the first word of a reply, as rules by words count it, lies from its first sound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fullduplex.model.spans import in_seconds, ms
from fullduplex.model.trials import Trial

#: Onsets that lie further apart than this are told. The limit is ours: at a fifth of a second, the length of a usual
#: gap between turns of people, a latency by words is no longer the one that a listener hears.
APART = ms(200)
#: A reply is what begins after the first of these; a talk without one is looked at from its beginning.
_END_AT = {"turn_end": "start", "interruption": "end", "user_end": "end"}


@dataclass(slots=True)
class FirstSounds:
    """Over items: how often the first word and the first sound lie more than :data:`APART` apart, and the furthest.

    ``compared``: items that have both; ``largest`` in microseconds, of ``item``.
    """

    compared: int = 0
    apart: int = 0
    largest: int = 0
    item: str = ""

    def add(self, key: str, trial: Trial) -> None:
        """Count an item, if its system was found to begin both to speak and to sound."""
        found = first_onsets(trial)
        if found is None:
            return
        self.compared += 1
        distance = abs(found[0] - found[1])
        if distance > APART:
            self.apart += 1
        if distance > self.largest:
            self.largest, self.item = distance, key

    def sentences(self, *, anchored: bool) -> Iterator[str]:
        """Yield what a reader of a latency has to know; nothing where the two go together.

        ``anchored``: the benchmark has that variant, which counts by sound.
        """
        if not self.apart:
            return
        of = "in the one item" if self.compared == 1 else f"in {self.apart} of {self.compared} items"
        see = "the variant anchored, or fullduplex sensitivity" if anchored else "fullduplex sensitivity"
        yield (
            f"{of} the first word and the first sound of the system's reply lie more than {in_seconds(APART):g} s "
            f"apart (largest {in_seconds(self.largest):.3f} s, item {self.item}): a latency by words is that much off; "
            f"see {see}"
        )


def first_onsets(trial: Trial) -> tuple[int, int] | None:
    """Return when the first word and when the first sound of the system's reply begin, in microseconds.

    The reply is what begins after the user's turn or interruption ends, in a talk without either what comes first.
    None where one of the two was not looked for, is not there, or the system was speaking already: what begins then
    is no reply.
    """
    words, speech = trial.system.words, trial.system.speech
    if trial.failed or not words or not speech:
        return None
    ends = [getattr(event.span, _END_AT[event.kind]) for event in trial.events if event.kind in _END_AT]
    after = min(ends, default=0)
    if any(word.span.start < after < word.span.end for word in words) or (after and after in speech):
        return None
    word = min((word.span.start for word in words if word.span.start >= after), default=None)
    sound = speech.next_start(after)
    return None if word is None or sound is None else (word, sound)
