"""A simulated user: a language model writes what they say, a policy decides when.

At every tick the policy does one of six things: it waits, has the next words written, says them, gives a
backchannel, cuts in, or falls silent. Writing, speaking and hearing take time on the talk's clock, and what
was written is thrown away where the system went on talking meanwhile. Everything that is drawn comes from one
seeded generator, so on the step-algorithmic clock a talk repeats exactly if the model does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fullduplex.data.audio import resample
from fullduplex.driving.clock import took
from fullduplex.driving.conditions import not_before, silent, spoke_for
from fullduplex.driving.cues import Due, Ear, into_reply
from fullduplex.driving.lines import next_line
from fullduplex.driving.personas import Persona
from fullduplex.driving.playout import Samples
from fullduplex.driving.policy import DECLARED, POLICY, PROMPT, Declared, Policy, instructions
from fullduplex.driving.user import Hush, Speak, Turn
from fullduplex.driving.wording import contains
from fullduplex.model.spans import SECOND, in_seconds
from fullduplex.model.spec import Spec, digest
from fullduplex.providers.language_models import LanguageModel, Message
from fullduplex.providers.voices import Voice

#: A model that writes nothing that can be said so often in a row has given up.
_EMPTY_REPLIES = 2
_UNCLEAR = "(The other end said something that you could not make out.)"

Kind = Literal["turn", "interruption", "backchannel"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Words:
    """Words that are ready to be said; ``asked`` is when they began to be written."""

    kind: Kind
    text: str
    samples: Samples
    asked: int
    last: bool = False


@dataclass(slots=True)
class _Reply:
    """What the policy knows of the system's reply to the user's last turn, which no backchannel divides."""

    began: int
    cut_in_at: int | None
    cut_in: bool = False


class SimulatedUser:
    """Someone who talks as ``persona`` to reach ``goal``.

    ``model`` writes the words, ``voice`` speaks them, at ``rate`` (the system's ``rate_in``). What the system said is
    what it reports; where it reports nothing, what ``hear`` writes down of its sound, given samples and their rate;
    without ``hear`` the model is told that it could not be made out. ``prompt`` is the file of the instructions.
    ``log`` holds, JSON-able, everything that was decided, asked, heard and thrown away; ``ended`` says why no more
    is said.
    """

    def __init__(
        self,
        model: LanguageModel,
        voice: Voice,
        persona: Persona,
        goal: str,
        policy: Policy = POLICY,
        *,
        rate: int,
        hear: Callable[[Samples, int], str] | None = None,
        declared: Declared = DECLARED,
        seed: int = 0,
        prompt: Path = PROMPT,
    ) -> None:
        self.persona, self.policy, self.goal = persona, policy, goal
        self.log: list[dict[str, Any]] = []
        self.ended = ""
        self._model, self._voice, self._hear, self._declared, self._rate = model, voice, hear, declared, rate
        self._seed, self._rng = seed, np.random.default_rng(seed)
        self._instructions = instructions(prompt, persona, goal, policy)
        self._history: list[Message] = []
        self._ready: _Words | None = None
        self._saying: _Words | None = None
        self._asked: tuple[Kind, int] | None = None
        self._wake = asyncio.Event()
        self._reply: _Reply | None = None
        self._turns, self._empty, self._next_tick = 0, 0, 0
        self._told, self._heard_until, self._told_at_turn = 0, 0, 0
        self._pause_of = -1
        spoken = policy.backchannels if persona.backchannels > 0 else ()
        self._backchannels = tuple((text, self._spoken(text)) for text in spoken)

    @property
    def spec(self) -> Spec:
        """Return what exactly talks: model, voice, persona, goal, policy, instructions and seed."""
        options: Mapping[str, Any] = {
            "model": self._model.spec.to_json(),
            "voice": self._voice.spec.to_json(),
            "persona": self.persona.to_json(),
            "goal": self.goal,
            "policy": self.policy.to_json(),
            "declared": {name: in_seconds(getattr(self._declared, name)) for name in Declared.__slots__},
            "recogniser": self._hear is not None,
            "seed": self._seed,
        }
        return Spec("simulated-user", options, digest(self._instructions))

    @property
    def finished(self) -> bool:
        """Return whether the user's last words have begun, or they have given up."""
        return bool(self.ended)

    def act(self, ear: Ear) -> Speak | Hush | None:
        """Return what the policy decides, once a tick."""
        self._follow(ear)
        if ear.now < self._next_tick:
            return None
        self._next_tick = (ear.now // self.policy.tick + 1) * self.policy.tick
        if ear.speaking:
            return self._yield(ear)
        if self.finished:
            return None
        if self._ready is not None:
            return self._say_or_drop(self._ready, ear)
        if self._asked is not None:
            return None
        if self._cuts_in(ear):
            self._ask("interruption", ear)
        elif (backchannel := self._backchannel(ear)) is not None:
            return backchannel
        elif self._is_turn(ear):
            self._ask("turn", ear)
        return None

    def _follow(self, ear: Ear) -> None:
        """Note where a reply to the last turn begins, and draw whether it will be cut into."""
        if self._reply is None and ear.reply_began is not None and self._turns:
            drawn, (lo, hi) = self._rng.random(2), self.policy.interrupt_after
            after = lo + round(float(drawn[1]) * (hi - lo))
            wants = float(drawn[0]) < self.persona.interrupts
            self._reply = _Reply(ear.reply_began, ear.reply_began + after if wants else None)

    def _yield(self, ear: Ear) -> Hush | None:
        limit, said = self.policy.yields_after, self._saying
        if limit is None or said is None or said.kind == "backchannel":
            return None
        if not ear.system_speaks or ear.system_since is None or ear.system_until is None:
            return None
        over = ear.system_until - max(ear.system_since, ear.spoke_from)
        if over < limit:
            return None
        # What was not said is not in the conversation.
        share = (ear.now - ear.spoke_from) * self._rate / SECOND / max(1, len(said.samples))
        words = said.text.split()
        self._history[-1] = Message("assistant", " ".join(words[: max(1, round(share * len(words)))]) + " …")
        self._note(ear, "hush", over=in_seconds(over))
        self._saying = None
        return Hush()

    def _needed(self, ear: Ear) -> int:
        """Return the silence after which the user takes the turn."""
        opening = self.policy.opening
        if self._turns == 0 and ear.system_until is None and opening is not None:
            return opening
        heard = self._reply is not None or (self._turns == 0 and ear.system_until is not None)
        return self.persona.patience if heard else max(self.persona.patience, self.policy.unanswered)

    def _is_turn(self, ear: Ear) -> bool:
        return silent(self._needed(ear))(ear) is not None

    def _cuts_in(self, ear: Ear) -> bool:
        reply = self._reply
        if reply is None or reply.cut_in or not ear.system_speaks:
            return False
        due = reply.cut_in_at is not None and ear.now >= reply.cut_in_at
        if not due and self.policy.interrupt_on:
            said = " ".join(text for who, text, _ in ear.said[self._told_at_turn :] if who == "system")
            due = any(contains(said, phrase) for phrase in self.policy.interrupt_on)
        reply.cut_in = due
        return due

    def _backchannel(self, ear: Ear) -> Speak | None:
        if not self._backchannels or not self._turns or ear.system_until is None or ear.system_until == self._pause_of:
            return None
        due = spoke_for(self.policy.backchannel_after)
        quiet = ear.now - ear.system_until
        if due(ear) is None or not self.policy.pause <= quiet < self.persona.patience:
            return None
        self._pause_of = ear.system_until
        drawn = self._rng.random(2)
        if float(drawn[0]) >= self.persona.backchannels:
            return None
        text, samples = self._backchannels[int(float(drawn[1]) * len(self._backchannels))]
        return self._say(_Words("backchannel", text, samples, ear.now), due, ear)

    def _ask(self, kind: Kind, ear: Ear) -> None:
        self._asked = kind, ear.now
        self._wake.set()

    def _say_or_drop(self, words: _Words, ear: Ear) -> Speak | None:
        if words.kind == "interruption":
            if ear.system_speaks:
                due: Due = into_reply(0)
                return None if due(ear) is None else self._say(words, due, ear)
        elif ear.system_until is None or ear.system_until <= words.asked:
            due = silent(self._needed(ear))
            return self._say(words, due, ear) if due(ear) is not None else None
        self._ready = None
        self._note(ear, "drop", kind=words.kind, text=words.text)
        return None

    def _say(self, words: _Words, due: Due, ear: Ear) -> Speak:
        self._saying = words
        self._note(ear, "say", kind=words.kind, text=words.text)
        id = f"{words.kind} {1 + sum(entry.get('did') == 'say' for entry in self.log[:-1])}"
        if words.kind != "backchannel":
            self._ready, self._reply = None, None
            self._turns += 1
            self._told_at_turn = len(ear.said)
            self._history.append(Message("assistant", words.text))
            if words.last:
                self.ended = "the model ended the talk"
            elif self._turns >= self.policy.turns:
                self.ended = f"{self.policy.turns} turns were said"
        return Speak(Turn(words.samples, not_before(ear.now, due), id, words.text), ear.now)

    async def think(self, ear: Ear) -> None:
        """Write, and speak to a buffer, what is asked for; as long as the talk lasts."""
        while not self.finished:
            await self._wake.wait()
            self._wake.clear()
            if self._asked is not None:
                kind, asked = self._asked
                await self._write(kind, asked, ear)
                self._asked = None

    async def _write(self, kind: Kind, asked: int, ear: Ear) -> None:
        heard = await self._heard(ear)
        happened = Message("user", heard or self._nothing_new(ear))
        # Words that were thrown away leave the other end's last message as it was.
        if heard or not self._history or self._history[-1].role == "assistant":
            self._history.append(happened)
        aside = "(The other end is still talking. Cut in with one short sentence.)" if kind == "interruption" else ""
        again = "(Say something in plain words.)" if self._empty else ""
        messages = self._messages(aside, again)
        written, spent = await took(
            lambda: "".join(self._model.reply(messages, limit=self.policy.tokens)), self._declared.model
        )
        text, last = next_line(written, self.persona.name, self.policy.end_mark)
        self._note(
            ear, "write", kind=kind, asked=in_seconds(asked), heard=heard, written=written, took=in_seconds(spent)
        )
        if not text:
            self._empty += 1
            if last:
                self.ended = "the model ended the talk"
            elif self._empty >= _EMPTY_REPLIES:
                self.ended = "the model wrote nothing that can be said"
            return
        self._empty = 0
        samples, _ = await took(lambda: self._spoken(text), self._declared.voice)
        self._ready = _Words(kind, text, samples, asked, last)

    async def _heard(self, ear: Ear) -> str:
        """Return what the system said since this was asked last."""
        told, self._told = ear.said[self._told :], len(ear.said)
        start, self._heard_until = self._heard_until, ear.now
        reported = " ".join(text for who, text, _ in told if who == "system" and text.strip())
        if reported or ear.system_until is None or ear.system_until <= start or self._reports(ear):
            return reported
        if self._hear is None:
            return _UNCLEAR
        sound, hear = ear.sound(start, ear.now), self._hear
        recognised, _ = await took(lambda: hear(sound, ear.rate), self._declared.hearing)
        return recognised.strip() or _UNCLEAR

    def _reports(self, ear: Ear) -> bool:
        """Return whether the system reports its words: then what sounds on was told when it began."""
        return any(who == "system" and text.strip() for who, text, _ in ear.said)

    def _nothing_new(self, ear: Ear) -> str:
        if not self._turns:
            return "(The call begins. You speak first.)"
        return "(No answer.)" if self._reply is None else "(The other end said no more.)"

    def _messages(self, *asides: str) -> list[Message]:
        """Return the talk so far as the model sees it: its own words are the caller's, and turns alternate."""
        messages = [Message("system", self._instructions)]
        for message in (*self._history, *(Message("user", aside) for aside in asides if aside)):
            if message.role == messages[-1].role:
                messages[-1] = Message(message.role, f"{messages[-1].text}\n{message.text}")
            else:
                messages.append(message)
        return messages

    def _spoken(self, text: str) -> Samples:
        spoken = self._voice.speak(text)
        return resample(spoken.samples, spoken.rate, self._rate)

    def _note(self, ear: Ear, did: str, **more: Any) -> None:
        self.log.append({"at": in_seconds(ear.now), "did": did, **more})
