"""When each stage of an answer was done: the parts of a latency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fullduplex.model.spans import in_seconds

#: The stages in order; each one's duration ends where it was done and begins where the one before it was.
STAGES = ("endpoint", "recogniser", "first_token", "first_clause", "first_audio")


@dataclass(slots=True)
class Stages:
    """The moments of turn ``turn`` on the talk's clock, in microseconds; None until they come.

    ``speech_end`` is the end of the user's last window of speech, as the cascade heard it; ``endpoint`` when it took
    the turn to be over.
    """

    turn: int
    speech_end: int
    endpoint: int
    recogniser: int | None = None
    first_token: int | None = None
    first_clause: int | None = None
    first_audio: int | None = None

    def recognised(self, now: int) -> None:
        """Take note that the words are there."""
        self.recogniser = now

    def wrote(self, now: int) -> None:
        """Take note that something was written; the first time counts."""
        self.first_token = now if self.first_token is None else self.first_token

    def cut(self, now: int) -> None:
        """Take note that a piece can be spoken; the first counts."""
        self.first_clause = now if self.first_clause is None else self.first_clause

    def spoke(self, now: int) -> None:
        """Take note that audio is there to be sent."""
        self.first_audio = now

    def to_json(self) -> dict[str, Any]:
        """Return each stage's duration and, under ``at``, its moment; in decimal seconds.

        The durations of the stages add up to ``total``, from the user's last word to the first audio. A
        stage that was not reached is not there.
        """
        found: dict[str, Any] = {"turn": self.turn}
        moments = {"speech_end": in_seconds(self.speech_end)}
        before = self.speech_end
        for name in STAGES:
            now = getattr(self, name)
            if now is None:
                break
            found[name] = in_seconds(now - before)
            moments[name] = in_seconds(now)
            before = now
        if self.first_audio is not None:
            found["total"] = in_seconds(self.first_audio - self.speech_end)
        return {**found, "at": moments}
