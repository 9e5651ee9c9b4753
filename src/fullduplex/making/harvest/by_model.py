"""A language model decides whether what was found is what a condition means; its answers are kept, as they came.

It reads the words; it does not hear them. The prompts are ours.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex.data.files import read_json, write_json
from fullduplex.errors import InputError, printable
from fullduplex.making.harvest.candidates import BACKCHANNEL, Candidate
from fullduplex.making.harvest.lexicon import AFFIRMATIVE, UNCERTAINTY
from fullduplex.making.harvest.rules import Rules
from fullduplex.making.harvest.semantics import Judged
from fullduplex.model.spec import digest
from fullduplex.providers.language_models import LanguageModel, Message

#: How often a question is put before the candidate is dropped for want of an answer, and how long an answer may be.
TRIES, LIMIT = 3, 160
SCHEMA = 1
_SYSTEM = (
    "You read excerpts of recorded telephone calls and meetings, written down word by word; people hesitate and repeat "
    "themselves when they talk, and that is no fault. Answer with one JSON object and nothing else: "
    '{"answer": ANSWER, "reason": "one short sentence"}, where ANSWER is '
)
_YES_NO = ("yes", "no")
_KINDS = (AFFIRMATIVE, UNCERTAINTY, "neither")
_WHOLE = "Taken by itself, is this something that a person has said to its end, so that another could answer it?"
_QUESTIONS = {
    "wait_intra_pause": "Is this one whole sentence, and does the speaker pause inside of it, at [pause], and not "
    "between two sentences?",
    "wait_inter_pause": "Does a whole sentence end at [pause], does another one follow, and could somebody answer once "
    "both have been said?",
    "wait_continuous": _WHOLE,
    BACKCHANNEL: "A listener said something brief at [listener]. Are the speaker's words before it and after it the "
    "whole of what the speaker says, and does the speaker go on as if nothing had been asked?",
    "take_turn_slight_overlap": "The second person begins at [second begins]. Has the first person's turn come to its "
    "end, does the second person answer it, and had everything that the answer needs been said before [second begins]?",
}
_KIND = (
    "What does the listener's utterance show? affirmative: attention, understanding or agreement. uncertainty: doubt, "
    "hesitation or surprise. neither: anything else, such as an answer, a question to be answered, or a new subject."
)
#: So much of a second turn is shown.
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class ByModel:
    """Decides by what ``model`` answers. Answers are kept in ``cache``/harvest; None keeps none.

    A question that gets no answer that can be read, three times, drops the candidate with that reason. Raises
    :class:`PluginError` where the model cannot be reached: what was answered before stays.
    """

    model: LanguageModel
    cache: Path | None = None

    @property
    def by(self) -> str:
        """Return the model with its options."""
        return str(self.model.spec)

    def judge(self, candidate: Candidate, rules: Rules) -> Judged:
        """Return what a candidate is, as the model says."""
        shown = excerpt(candidate)
        answer, reason = self._ask(_YES_NO, _QUESTIONS[candidate.condition], shown)
        if answer != "yes":
            return Judged("", f"the model says no: {reason}" if answer else reason)
        if candidate.condition != BACKCHANNEL:
            return Judged(candidate.condition, reason)
        kind, reason = self._ask(_KINDS, _KIND, shown)
        if kind not in (AFFIRMATIVE, UNCERTAINTY):
            return Judged("", f"the model says neither: {reason}" if kind else reason)
        return Judged(f"{BACKCHANNEL}_{kind}", reason)

    def _ask(self, answers: tuple[str, ...], question: str, shown: str) -> tuple[str, str]:
        """Return the answer and its reason; "" and why, where none can be read."""
        system = _SYSTEM + " or ".join(f'"{answer}"' for answer in answers) + "."
        messages = [Message("system", system), Message("user", f"{shown}\n\n{question}")]
        for attempt in range(TRIES):
            mark = digest([SCHEMA, self.model.spec.to_json(), [[one.role, one.text] for one in messages], attempt])
            reply = self._kept(mark)
            if reply is None:
                reply = "".join(self.model.reply(messages, limit=LIMIT))
                self._keep(mark, reply)
            if found := answer_in(reply, answers):
                return found
            again = f"That cannot be read. Answer with one JSON object; its answer is one of: {', '.join(answers)}."
            messages = [*messages[:2], Message("assistant", printable(reply, 500) or "…"), Message("user", again)]
        return "", f"the model gave no answer that can be read, in {TRIES} tries"

    def _place(self, mark: str) -> Path | None:
        return None if self.cache is None else self.cache / "harvest" / mark[:2] / f"{mark}.json"

    def _kept(self, mark: str) -> str | None:
        path = self._place(mark)
        if path is None or not path.is_file():
            return None
        try:
            told = read_json(path)
        except InputError:
            return None
        reply = told.get("reply") if isinstance(told, dict) else None
        return reply if isinstance(reply, str) else None

    def _keep(self, mark: str, reply: str) -> None:
        path = self._place(mark)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, {"schema": SCHEMA, "model": self.model.spec.to_json(), "reply": reply})


def excerpt(candidate: Candidate) -> str:
    """Return what a model is shown: who says what, with the place in question marked."""
    if candidate.kind == "entry":
        said = f"{candidate.before} [second begins] {candidate.after}".strip()
        reply = candidate.reply.split()
        told = " ".join(reply[:_SHOWN]) + (" …" if len(reply) > _SHOWN else "")
        return f"First person: {said}\nSecond person: {told}"
    if candidate.kind == "backchannel":
        return f"Speaker: {candidate.before} [listener] {candidate.after}\nListener, at [listener]: {candidate.reply}"
    middle = " [pause] " if candidate.after else ""
    return f"Speaker: {candidate.before}{middle}{candidate.after}"


def answer_in(reply: str, answers: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the answer and the reason in a reply: of the first JSON object in it; None where it is none of them."""
    decoder = json.JSONDecoder()
    for at, character in enumerate(reply):
        if character != "{":
            continue
        try:
            found, _ = decoder.raw_decode(reply, at)
        except (ValueError, RecursionError):
            continue
        return _answered(found, answers)
    return None


def _answered(found: Any, answers: tuple[str, ...]) -> tuple[str, str] | None:
    answer = found.get("answer") if isinstance(found, dict) else None
    if not isinstance(answer, str) or answer.strip().casefold() not in answers:
        return None
    reason = found.get("reason")
    return answer.strip().casefold(), printable(reason, 300) if isinstance(reason, str) else ""
