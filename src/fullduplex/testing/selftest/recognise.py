"""How late recognisers place words, and how many they get wrong, against what the synthesiser said and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.model.spans import SECOND, in_seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Token
from fullduplex.runs.listen import recogniser
from fullduplex.testing.selftest.hold import hold, label, recordings, talks_of
from fullduplex.testing.selftest.plan import PlannedTalk

#: What recognisers hear; one colour of noise is enough, since they are slow.
HEARD_UNDER = ("clean", "pink 10 dB", "μ-law")
#: The kinds of talk in which nothing is cut, and what is said are sentences.
_WHOLE = frozenset(["turn", "overlap"])


@dataclass(frozen=True, slots=True)
class RecogniserTask:
    """Which talks of a plan one recogniser hears. ``cache`` is the folder of weights."""

    folder: Path
    talks: int
    seed: int
    which: tuple[int, ...]
    recogniser: Spec
    cache: str


def suited(plans: Sequence[PlannedTalk], at_most: int) -> tuple[int, ...]:
    """Return up to ``at_most`` talks whose every sound is whole and has known words, spread over levels and voices."""
    able = [
        i
        for i, plan in enumerate(plans)
        if plan.kind in _WHOLE and all(use.clip.words and use.kept is None for use in plan.planted)
    ]
    step = max(1.0, len(able) / max(1, at_most))
    return tuple(able[int(k * step)] for k in range(min(at_most, len(able))))


def planted_words(plan: PlannedTalk) -> tuple[tuple[Token, bool], ...]:
    """Return what the system says, in decimal seconds, and whether a word begins an utterance."""
    return tuple(
        (Token(text, in_seconds(use.at + start), in_seconds(use.at + end)), k == 0)
        for use in plan.planted
        for k, (text, start, end) in enumerate(use.clip.words or ())
    )


def recognise_talks(task: RecogniserTask) -> list[dict[str, Any]]:
    """Return a row for each talk and condition: the words planted and heard, and the errors of those that agree."""
    plans = talks_of(task.folder, task.talks, task.seed)
    return [row for i in task.which for row in _rows(task, plans[i])]


def _rows(task: RecogniserTask, plan: PlannedTalk) -> list[dict[str, Any]]:
    rows = []
    planted = planted_words(plan)
    onsets = [use.span.start for use in plan.planted]
    for condition, samples, rate in recordings(hold(plan, task.folder), task.seed):
        if condition not in HEARD_UNDER:
            continue
        heard = recogniser(task.recogniser, task.cache).recognise(samples, rate, "en")
        pairs, wrong = paired([word.text for word, _ in planted], [token.text for token in heard.tokens])
        starts, firsts = [], []
        begun = iter(onsets)
        onset_of = {k: next(begun) for k, (_, first) in enumerate(planted) if first}
        for mine, theirs in pairs:
            word, token = planted[mine][0], heard.tokens[theirs]
            if token.start is None or word.start is None:
                continue
            starts.append(round(token.start - word.start, 6))
            if mine in onset_of:
                firsts.append(round(token.start - onset_of[mine] / SECOND, 6))
        rows.append(
            {
                "talk": plan.id,
                "condition": condition,
                "recogniser": label(task.recogniser),
                "spec": str(recogniser(task.recogniser, task.cache).spec),
                "words": len(planted),
                "wrong": wrong,
                "utterances": len(onsets),
                "start_errors": starts,
                "first_word_errors": firsts,
                "tokens": [list(token) for token in heard.tokens],
                "planted": [list(word) for word, _ in planted],
                "turn_end": next((in_seconds(e.span.start) for e in plan.events if e.kind == "turn_end"), None),
            }
        )
    return rows


def plain(word: str) -> str:
    """Return a word's letters and digits in lower case: what is compared."""
    return "".join(c for c in word.casefold() if c.isalnum())


def paired(reference: Sequence[str], heard: Sequence[str]) -> tuple[list[tuple[int, int]], int]:
    """Return the pairs of equal words of a least alignment, and how many words are wrong, missing or too many.

    Words are compared by :func:`plain`; what is nothing then is left out. The number over the reference's is the word
    error rate. Of alignments with as few errors the one with the most equal words is taken.
    """
    ours = [(i, plain(word)) for i, word in enumerate(reference) if plain(word)]
    theirs = [(i, plain(word)) for i, word in enumerate(heard) if plain(word)]
    # One error outweighs any number of equal words.
    much = len(ours) + len(theirs) + 1
    cost = np.zeros((len(ours) + 1, len(theirs) + 1), np.int64)
    cost[:, 0], cost[0, :] = np.arange(len(ours) + 1) * much, np.arange(len(theirs) + 1) * much
    for i, (_, mine) in enumerate(ours, 1):
        for j, (_, other) in enumerate(theirs, 1):
            step = -1 if mine == other else much
            cost[i, j] = min(cost[i - 1, j - 1] + step, cost[i - 1, j] + much, cost[i, j - 1] + much)
    pairs, wrong = list[tuple[int, int]](), 0
    i, j = len(ours), len(theirs)
    while i or j:
        same = i > 0 and j > 0 and ours[i - 1][1] == theirs[j - 1][1]
        if i and j and cost[i, j] == cost[i - 1, j - 1] + (-1 if same else much):
            i, j = i - 1, j - 1
            if same:
                pairs.append((ours[i][0], theirs[j][0]))
            else:
                wrong += 1
        elif i and cost[i, j] == cost[i - 1, j] + much:
            i, wrong = i - 1, wrong + 1
        else:
            j, wrong = j - 1, wrong + 1
    return pairs[::-1], wrong
