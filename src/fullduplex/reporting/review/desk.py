"""The table at which raters sit: who has which clip before them, and what they answered. Knows no HTTP."""

from __future__ import annotations

import hashlib
import math
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fullduplex.errors import InputError
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.review.claims import Claim
from fullduplex.reporting.review.dealing import deal, order, sides
from fullduplex.reporting.review.forms import LONGEST_TEXT, Answer, Form
from fullduplex.reporting.review.store import Review, append, rater_name, read_kept
from fullduplex.reporting.review.subjects import Chosen, Clip
from fullduplex.reporting.review.translated import sheet_told

SIDES = ("A", "B")
_DAY = 86_400.0


class Wrong(Exception):
    """What the page asked cannot be: a sentence for the rater."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A subject as one rater has it: the clips in the order of their sides."""

    rater: str
    place: int
    clips: tuple[Clip, ...]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass
class Desk:
    """One review that goes on: one form over some subjects, with any number of raters.

    ``raters`` limits the raters an item gets and ``per_rater`` the items a rater gets, None for no limit. ``tell``
    hears, in a sentence, of a clip that cannot be opened: raters are not told more than that, for a path could
    name the system. ``language``: that of the page, in which ``form`` is.
    """

    form: Form
    chosen: Chosen
    seed: int = 0
    raters: int | None = None
    per_rater: int | None = None
    tell: Callable[[str], None] = lambda text: None
    language: Language = ENGLISH
    now: Callable[[], str] = _now
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _sounding: threading.Lock = field(default_factory=threading.Lock)
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _seats: dict[str, Seat] = field(default_factory=dict)
    _sounds: dict[str, Clip] = field(default_factory=dict)
    _given: dict[str, list[int]] = field(default_factory=dict)
    _asked: dict[int, frozenset[str]] = field(default_factory=dict)
    _reviews: dict[tuple[str, int], Review] = field(default_factory=dict)

    def damage(self) -> tuple[str, ...]:
        """Read what was answered so far; return a sentence for each line that cannot be read."""
        with self._lock:
            return self._read()

    def others(self) -> int:
        """Return how many items were answered under this form's name with other words; they do not count here."""
        homes = {clip.home.path for subject in self.chosen.subjects for clip in subject.clips}
        found = [review for home in homes for review in read_kept(home).reviews if review.form == self.form.name]
        return sum(review.form_digest != self.form.digest for review in found)

    def join(self, name: object) -> dict[str, Any]:
        """Seat a rater; return their name and, in their order, an id and whether it is done for each of their items.

        Raises :class:`Wrong` where the name is none.
        """
        if not isinstance(name, str):
            raise Wrong("Give a name.")
        try:
            rater = rater_name(name)
        except ValueError as error:
            raise Wrong(str(error)) from error
        with self._lock:
            self._read()
            places = self._dealt(rater)
            self._given[rater] = places
            return {
                "rater": rater,
                "clips": [{"id": self._seat(rater, place), "done": self._done(rater, place)} for place in places],
            }

    def open(self, seat_id: object) -> dict[str, Any]:
        """Return what the page shows of a seat: its card, its sounds' ids, and what the rater answered before.

        Raises :class:`Wrong` where there is no such seat, or its files cannot be read.
        """
        seat = self._find(seat_id)
        subject = self.chosen.subjects[seat.place]
        sheets = [self._sheet(clip, subject.claim) for clip in seat.clips]
        before = self._reviews.get((seat.rater, seat.place))
        answers = self._answers(before, seat) if before else {}
        return {
            "clips": [
                {
                    "name": SIDES[side] if self.form.pairwise else "",
                    "sound": self._sound_id(str(seat_id), side, clip),
                    **{
                        key: sheet[key]
                        for key in ("duration", "tracks", "events", "others", "script", "person")
                        if key in sheet
                    },
                }
                for side, (clip, sheet) in enumerate(zip(seat.clips, sheets, strict=True))
            ],
            "shown": sheets[0]["shown"],
            "told": sheets[0]["told"],
            "asked": sheets[0]["asked"],
            "answers": {key: value for key, value in answers.items() if value is not None},
            "note": before.note if before else "",
            "seconds": before.seconds if before else 0.0,
            "heard": before.heard if before else 0.0,
        }

    def answer(self, seat_id: object, given: Mapping[str, Any]) -> dict[str, Any]:
        """Keep what a rater answered; return whether the item is done. It is on the disk when this returns.

        ``given`` has ``answers``, ``note``, ``seconds`` and ``heard``. Raises :class:`Wrong` where it is not an
        answer to this form, and :class:`InputError` where it cannot be written.
        """
        seat = self._find(seat_id)
        subject = self.chosen.subjects[seat.place]
        answers = self._checked(given.get("answers"))
        note = given.get("note", "")
        if not isinstance(note, str) or len(note) > LONGEST_TEXT:
            raise Wrong(f"A note has at most {LONGEST_TEXT} characters.")
        review = Review(
            rater=seat.rater,
            form=self.form.name,
            form_version=self.form.version,
            form_digest=self.form.digest,
            set=subject.set,
            item=subject.item,
            answers=answers,
            seconds=_number(given.get("seconds"), _DAY),
            when=self.now(),
            heard=_number(given.get("heard"), 1.0),
            note=note,
            sides=self._sides(seat),
            verdict={subject.claim.name: subject.claim.value} if subject.claim else {},
        )
        with self._lock:
            append(subject.home.path, review)
            before = self._reviews.get((seat.rater, seat.place))
            self._reviews[seat.rater, seat.place] = review if before is None else before.then(review)
            return {"done": self._done(seat.rater, seat.place)}

    def sound(self, sound_id: str) -> Path | None:
        """Return the stereo file behind a sound's id, None where there is no such sound."""
        clip = self._sounds.get(sound_id)
        if clip is None:
            return None
        try:
            return self._made(clip)[0]
        except InputError as error:
            self.tell(str(error))
            return None

    def _read(self) -> tuple[str, ...]:
        damaged: list[str] = []
        reviews: dict[tuple[str, int], Review] = {}
        places = {(subject.home.path, subject.key): place for place, subject in enumerate(self.chosen.subjects)}
        for run in dict.fromkeys(subject.home.path for subject in self.chosen.subjects):
            kept = read_kept(run)
            damaged += kept.damaged
            for review in kept.reviews:
                found = places.get((run, review.key))
                if found is not None and review.form == self.form.name and review.form_digest == self.form.digest:
                    ours = {clip.system for clip in self.chosen.subjects[found].clips} if self.form.pairwise else set()
                    if ours == set(review.sides.values()):
                        reviews[review.rater, found] = review
        self._reviews = reviews  # at once: another rater may be looking at an answer
        return tuple(damaged)

    def _dealt(self, rater: str) -> list[int]:
        keys = [f"{subject.clips[0].system}/{subject.key}" for subject in self.chosen.subjects]
        drawn = order(keys, rater, self.form.name, self.seed)
        mine, others, waiting = set[int](), Counter[int](), Counter[int]()
        for who, place in self._reviews:
            if who == rater:
                mine.add(place)
            elif self._done(who, place):
                others[place] += 1
        for who, places in self._given.items():
            if who != rater and self.per_rater is not None:
                waiting.update(place for place in places if not self._done(who, place))
        strata = [subject.set for subject in self.chosen.subjects] if self.chosen.of_items else None
        return deal(drawn, mine, others, waiting, raters=self.raters, per_rater=self.per_rater, strata=strata)

    def _seat(self, rater: str, place: int) -> str:
        subject = self.chosen.subjects[place]
        clips = subject.clips
        if self.form.pairwise:
            clips = tuple(clips[side] for side in sides(subject.key, rater, self.form.name, self.seed))
        seat_id = self._hidden("seat", rater, str(place))
        self._seats[seat_id] = Seat(rater, place, clips)
        return seat_id

    def _hidden(self, *words: str) -> str:
        told = "\0".join(words).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(told, key=self._secret, digest_size=16).hexdigest()

    def _find(self, seat_id: object) -> Seat:
        seat = self._seats.get(seat_id) if isinstance(seat_id, str) else None
        if seat is None:
            raise Wrong("This clip is not known any more; load the page again.")
        return seat

    def _sound_id(self, seat_id: str, side: int, clip: Clip) -> str:
        sound_id = self._hidden("sound", seat_id, str(side))
        self._sounds[sound_id] = clip
        return sound_id

    def _sides(self, seat: Seat) -> dict[str, str]:
        if not self.form.pairwise:
            return {}
        return {side: clip.system for side, clip in zip(SIDES, seat.clips, strict=True)}

    def _sheet(self, clip: Clip, claim: Claim | None) -> dict[str, Any]:
        try:
            made = clip.card(self.form, claim)
            wave = self._made(clip)[1]
        except InputError as error:
            self.tell(str(error))
            raise Wrong("This clip cannot be opened; go on to the next. Who started the review can see why.") from error
        for side, track in made["tracks"].items():
            track["peaks"] = wave["peaks"][side]
        return {**sheet_told(made, self.language), "duration": wave["duration"]}

    def _made(self, clip: Clip) -> tuple[Path, Mapping[str, Any]]:
        with self._sounding:
            return clip.sound()

    def _answers(self, before: Review, seat: Seat) -> dict[str, Answer | None]:
        """Return what was answered in terms of the sides as they are now."""
        there = {system: side for side, system in self._sides(seat).items()}
        return {key: there.get(str(before.value(key)), value) for key, value in before.answers.items()}

    def _checked(self, answers: object) -> dict[str, Answer | None]:
        if not isinstance(answers, Mapping):
            raise Wrong("No answers came.")
        for key, value in answers.items():
            question = self.form.question(key)
            if question is None or not (value is None or question.takes(value)):
                raise Wrong("This is not an answer to this form; load the page again.")
        return dict(answers)

    def _done(self, rater: str, place: int) -> bool:
        review = self._reviews.get((rater, place))
        if review is None:
            return False
        if place not in self._asked:
            subject = self.chosen.subjects[place]
            try:
                self._asked[place] = frozenset(subject.clips[0].asked(self.form, subject.claim))
            except InputError as error:
                self.tell(str(error))
                return False
        needed = [q.key for q in self.form.questions if q.required and q.key in self._asked[place]]
        given = [value for value in review.answers.values() if value not in (None, "")]
        # A form whose every question may be left open is done with the first answer.
        return all(review.answers.get(key) not in (None, "") for key in needed) and bool(given)


def _number(value: object, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return min(max(float(value), 0.0), most)
