"""Who plays the user in an item (recordings on cue, a script with branches, a simulated user), and what is around them.

Effects that change a sound are put on each turn as it begins. Effects that add one (noise, people) lie under the
whole talk, as loud as they would be against the turns of the item; where those are spoken
only as the talk goes on, against the level that every voice here has.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex import plugins
from fullduplex.data import audio
from fullduplex.data.files import brief, member, text, time
from fullduplex.driving.branches import Branching, read_branches, recorded
from fullduplex.driving.cues import Ear, at
from fullduplex.driving.echo import EchoPath
from fullduplex.driving.link import Traits
from fullduplex.driving.personas import Persona, read_personas
from fullduplex.driving.playout import Samples
from fullduplex.driving.policy import Policy
from fullduplex.driving.simulated import SimulatedUser
from fullduplex.driving.talk import Talk
from fullduplex.driving.user import Hush, Speak, Turn, Turns, User
from fullduplex.driving.validity import Check, Fault, validity
from fullduplex.errors import InputError
from fullduplex.making.effects import apply, effects_from_json, loads_from, split
from fullduplex.making.effects.sound import Offline
from fullduplex.model.spans import SECOND, Span, in_seconds, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Word
from fullduplex.once import once_per_process
from fullduplex.runs.stimulus import LONGEST, Cued, Stimulus

#: What lies under a whole talk is made before it begins, so it has to fit into memory.
LONGEST_AROUND = seconds(3_600)
#: What writes a simulated user's words where the item names nothing.
MODEL, VOICE = "smollm2", "hibari"


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The user's part in one talk: who plays it, how long it lasts at most, and what is around them.

    ``told`` gives, after the talk, what the user decided and why; JSON-able. ``put`` says what effects of a cue did
    where in its audio: sounds, lost frames, a change of level. ``check`` gives what was wrong with
    the user's side.
    """

    user: User
    length: int
    bed: Samples | None
    echo: EchoPath | None
    told: Callable[[], Any]
    put: list[dict[str, Any]]
    check: Callable[[Talk], tuple[Fault, ...]]


def part(asked: Stimulus, traits: Traits, *, seed: int, attempt: int, language: str, cache: Path) -> Part:
    """Return the user's part in ``asked`` for a system of ``traits``.

    ``seed`` draws the effects, and with ``attempt`` a simulated user. ``language`` is what recognisers are
    told. Raises :class:`InputError` where the item states what cannot be.
    """
    rate = traits.rate_in
    effects = effects_from_json(list(asked.effects), asked.place)
    offline, live = split(effects)
    if len(live) > 1:
        raise InputError(asked.place, "effects", found="two echoes", expected="one way from loudspeaker to microphone")
    load = loads_from(asked.place.parent, rate)
    put: list[dict[str, Any]] = []
    turns = [_turn(cue, rate, seed, load, put) for cue in asked.cues]
    person, told = _person(asked, turns, rate, seed + 1000 * (attempt - 1), language, cache)
    changes = tuple(effect for effect in offline if not effect.adds)
    length = asked.cap if asked.cap is not None else _length(turns, rate)
    if length > LONGEST:
        raise InputError(asked.place, found=f"{in_seconds(length):g} s", expected="a talk of at most a day")
    if any(effect.adds for effect in offline) and length > LONGEST_AROUND:
        at_most = f"at most {in_seconds(LONGEST_AROUND):g} s where effects add sound to the whole talk"
        raise InputError(asked.place, "cap", found=f"{in_seconds(length):g} s", expected=at_most)
    return Part(
        _Changed(person, changes, rate, seed, load) if changes else person,
        length,
        _bed([e for e in offline if e.adds], turns, length, rate, seed, load, asked.place),
        EchoPath(live[0].impulse(traits.rate_out), live[0].delay, traits.rate_out, rate) if live else None,
        told,
        put,
        _checking(asked, language, cache),
    )


def _turn(cue: Cued, rate: int, seed: int, load: Callable[[str], Samples], put: list[dict[str, Any]]) -> Turn:
    # Resampled once and whole: chunk by chunk it would click and drift.
    samples = _recording(str(cue.audio), cue.audio.stat().st_mtime_ns, cue.channel, rate)
    if cue.effects:
        from fullduplex.making.effects import affected

        done = affected(effects_from_json(list(cue.effects), cue.audio), samples, rate, seed=seed, load=load)
        if done.live:
            raise InputError(cue.audio, "effects", found="an echo", expected="it among the effects of the whole item")
        samples = done.samples
        put += [
            {
                "cue": cue.id,
                "event": e.kind,
                "text": e.text,
                "timestamp": [in_seconds(e.span.start), in_seconds(e.span.end)],
            }
            for e in done.events
        ]
        put += [{"cue": cue.id, "note": note} for note in done.notes]
    return Turn(samples, cue.due, cue.id, cue.text)


@lru_cache(maxsize=8)
def _recording(path: str, changed: int, channel: int | None, rate: int) -> Samples:
    samples, own = audio.read(Path(path), channel)
    made: Samples = audio.resample(samples, own, rate)
    made.flags.writeable = False  # several talks may be playing it
    return made


def _length(turns: Sequence[Turn], rate: int) -> int:
    """Return when the last of turns with stated times has been said."""
    until = 1
    for turn in turns:
        due = turn.due.time if isinstance(turn.due, at) else 0
        # Up: a microsecond less would cost the last sample.
        until = max(due, until if until > 1 else 0) - (-len(turn.samples) * SECOND // rate)
    return until


def _person(
    asked: Stimulus, turns: list[Turn], rate: int, seed: int, language: str, cache: Path
) -> tuple[User, Callable[[], Any]]:
    hear = _hearing(asked.recogniser, language, cache)
    if asked.branches is not None:
        voice = _made("voices", asked.voice, cache) if asked.voice else None
        branching = Branching(read_branches(asked.branches), recorded(rate, voice), hear=hear)
        return branching, lambda: {"path": [step.to_json() for step in branching.path], "ended": branching.ended}
    if asked.simulated is not None:
        simulated = _simulated(asked.simulated, asked.place, rate, seed, language, cache)
        return simulated, lambda: {
            "simulated": simulated.spec.to_json(),
            "log": simulated.log,
            "ended": simulated.ended,
        }
    return Turns(turns), lambda: None


def _simulated(told: Mapping[str, Any], path: Path, rate: int, seed: int, language: str, cache: Path) -> SimulatedUser:
    known = {"goal", "persona", "model", "voice", "recogniser", "policy"}
    unknown = sorted(set(told) - known)
    if unknown:
        raise InputError(path, "simulated", found=repr(unknown[0]), expected=", ".join(sorted(known)))
    goal = text(member(told, "goal", path, "simulated"), path, "simulated, goal")
    persona = _persona(told.get("persona"), path)
    name = text(told.get("voice", VOICE), path, "simulated, voice")
    voice = _kept("voices", persona.spoken_by(Spec.parse(name)), cache)
    model = _made("language_models", text(told.get("model", MODEL), path, "simulated, model"), cache)
    hear = _hearing(text(told.get("recogniser", ""), path, "simulated, recogniser"), language, cache)
    policy = _policy(told.get("policy", {}), path)
    return SimulatedUser(model, voice, persona, goal, policy, rate=rate, hear=hear, seed=seed)


def _persona(told: Any, path: Path) -> Persona:
    if told is None:
        return Persona("someone")
    if isinstance(told, str):
        there = read_personas()
        if told not in there:
            raise InputError(path, "simulated, persona", found=told, expected=" or ".join(there))
        return there[told]
    if not isinstance(told, dict) or not isinstance(told.get("name"), str):
        raise InputError(path, "simulated, persona", found=brief(told), expected="a name, or an object with one")
    known = {field.name for field in fields(Persona)}
    unknown = sorted(set(told) - known)
    if unknown:
        raise InputError(path, "simulated, persona", found=repr(unknown[0]), expected=", ".join(sorted(known)))
    given = dict(told)
    if "patience" in given:
        given["patience"] = seconds(time(given["patience"], path, "simulated, persona, patience"))
    try:
        return Persona(**given)
    except TypeError as error:
        raise InputError(path, "simulated, persona", found=str(error), expected="numbers and texts") from error


_TIMES = ("tick", "opening", "unanswered", "backchannel_after", "pause", "yields_after")


def _policy(told: Any, path: Path) -> Policy:
    known = {field.name for field in fields(Policy)}
    if not isinstance(told, dict) or not set(told) <= known:
        found = brief(told) if not isinstance(told, dict) else repr(min(set(told) - known))
        raise InputError(path, "simulated, policy", found=found, expected=", ".join(sorted(known)))
    given = dict(told)
    try:
        for name in _TIMES:
            if isinstance(given.get(name), int | float):
                given[name] = seconds(given[name])
        if "interrupt_after" in given:
            first, last = given["interrupt_after"]
            given["interrupt_after"] = (seconds(first), seconds(last))
        for name in ("interrupt_on", "backchannels"):
            if name in given:
                given[name] = tuple(map(str, given[name]))
        return Policy(**given)
    except (TypeError, ValueError) as error:
        raise InputError(path, "simulated, policy", found=str(error), expected="times in seconds, numbers") from error


def _made(family: str, name: str, cache: Path) -> Any:
    return _kept(family, Spec.parse(name), cache)


@once_per_process
def _kept(family: str, spec: Spec, cache: Path) -> Any:
    return plugins.make(family, spec.name, spec.options, cache)


def _hearing(name: str, language: str, cache: Path) -> Callable[[Samples, int], str] | None:
    if not name:
        return None
    recogniser = _made("recognisers", name, cache)

    def hear(samples: Samples, rate: int) -> str:
        heard = recogniser.recognise(audio.resample(samples, rate, 16_000), 16_000, language)
        return " ".join(token[0].strip() for token in heard.tokens)

    return hear


class _Changed:
    """A user whose every turn goes through effects as it begins."""

    def __init__(
        self, user: User, effects: Sequence[Offline], rate: int, seed: int, load: Callable[[str], Samples]
    ) -> None:
        self._user, self._effects, self._rate, self._seed, self._load = user, effects, rate, seed, load
        self._turns = 0

    def act(self, ear: Ear) -> Speak | Hush | None:
        act = self._user.act(ear)
        if not isinstance(act, Speak):
            return act
        samples = act.turn.samples
        for place, effect in enumerate(self._effects):
            # Each turn has its own draws, and the same ones in each talk.
            drawn = np.random.default_rng([self._seed, self._turns, place, _mark(effect)])
            samples = apply(effect, samples, self._rate, random=drawn, load=self._load)
        self._turns += 1
        return replace(act, turn=replace(act.turn, samples=np.clip(samples, -1, 1)))

    @property
    def finished(self) -> bool:
        return self._user.finished

    @property
    def scheduled(self) -> bool:
        return bool(getattr(self._user, "scheduled", True))

    @property
    def unsaid(self) -> tuple[Turn, ...]:
        return self._user.unsaid if isinstance(self._user, Turns) else ()

    async def think(self, ear: Ear) -> None:
        await self._user.think(ear)


def _bed(
    effects: Sequence[Offline],
    turns: Sequence[Turn],
    length: int,
    rate: int,
    seed: int,
    load: Callable[[str], Samples],
    place: Path,
) -> Samples | None:
    """Return the sum of what effects add over the whole talk; None without any."""
    if not effects:
        return None
    if any(effect.kind == "sounds" for effect in effects):
        raise InputError(
            place, "effects", found="sounds around the whole talk",
            expected="them on a cue: only there is it known when the user is silent",
        )  # fmt: skip
    voice = np.zeros(length * rate // SECOND, np.float32)
    if turns:
        said = np.concatenate([turn.samples for turn in turns])
        voice[: len(said)] = said[: len(voice)]
    bed = np.zeros_like(voice)
    for place_in_list, effect in enumerate(effects):
        drawn = np.random.default_rng([seed, place_in_list, _mark(effect)])
        bed += apply(effect, voice, rate, random=drawn, load=load) - voice
    return bed


def _mark(effect: Offline) -> int:
    return zlib.crc32(json.dumps(effect.to_json(), sort_keys=True).encode())


def _checking(asked: Stimulus, language: str, cache: Path) -> Callable[[Talk], tuple[Fault, ...]]:
    """Return what finds what is wrong with the user's side; raises before the talk what would cost it afterwards."""
    told, place = dict(asked.check or {}), asked.place
    name = text(told.pop("recogniser", ""), place, "check, recogniser")
    known = {field.name for field in fields(Check)}
    if not set(told) <= known:
        raise InputError(place, "check", found=repr(min(set(told) - known)), expected=", ".join(sorted(known)))
    if asked.simulated is not None:
        told.setdefault("stops", True)
    for key, value in told.items():
        where = f"check, {key}"
        if key in ("required", "forbidden", "assistant"):
            if not isinstance(value, list) or not all(isinstance(phrase, str) for phrase in value):
                raise InputError(place, where, found=brief(value), expected="a list of texts")
            told[key] = tuple(value)
        elif key == "language":
            text(value, place, where)
        elif key == "stops":
            if not isinstance(value, bool):
                raise InputError(place, where, found=brief(value), expected="true or false")
        elif time(value, place, where) < 0:
            raise InputError(place, where, found=brief(value), expected="a number, not below 0")
    if "onset" in told:
        told["onset"] = seconds(told["onset"])
    check = Check(**told)
    recogniser = _made("recognisers", name, cache) if name else None
    return lambda talk: validity(
        talk, heard=None if recogniser is None else _words(talk, recogniser, language), check=check
    )


def _words(talk: Talk, recogniser: Any, language: str) -> list[Word]:
    heard = recogniser.recognise(audio.resample(talk.user, talk.user_rate, 16_000), 16_000, language)
    return [
        Word(t.strip(), Span(seconds(s), max(seconds(s) + 1, seconds(s if e is None else e))))
        for t, s, e in heard.tokens
        if s is not None and t.strip()
    ]
