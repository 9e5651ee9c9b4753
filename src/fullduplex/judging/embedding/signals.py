"""What can be told of a reply to an interruption by counting: one number a rule, each with its meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from fullduplex.judging.embedding.vectors import Vectoriser, Vectors
from fullduplex.judging.embedding.words import (
    FUNCTION,
    affirmed,
    content,
    language,
    listed,
    negated,
    sentences,
    slots,
    tokens,
)

#: The signals, in order. All lie between -1 and 1.
SIGNALS = (
    "near interruption",  # cosine of reply and interruption
    "near both",  # cosine of reply and context with interruption
    "near context",  # cosine of reply and context
    "new words",  # share of the interruption's own content words that the reply has
    "old words",  # share of the context's own content words that the reply has
    "nearer to new words",  # mean nearness of its words to the interruption's less that to the context's
    "slot taken",  # it names a day, number, name, ... of the interruption
    "slot kept",  # it names the one of the context where the interruption has another
    "slot other",  # it names one that neither has, where the interruption tells which
    "forbidden",  # it says what the interruption ruled out
    "opposite",  # up for down, on for off
    "repeats",  # it says the interruption back and nothing else
    "generic",  # it could follow any sentence
    "accepts",  # it begins by agreeing, or says that it is done
    "decides",  # a yes-or-no question gets its yes or no
    "fits the question",  # how many, when, who: it has a number, a time, a name
    "declines",  # it refuses although no yes or no was asked for
    "foreign",  # it is in another language
    "denied",  # it negates what the interruption said
    "brief answer",  # at most five words to a question or a correction, neither echo nor filler
    "substance",  # its content words that neither side said before, as a share of six
)

GENERIC = tuple(sentences("generic"))
#: At this cosine with one of :data:`GENERIC` a short reply is filler.
GENERIC_FROM = 0.6
_OPPOSITES = [(a, b) for a, b in sentences("opposites")]
_ACCEPTS = re.compile(
    r"^(?:\W*(?:oh|ah|okay|ok|alright|all right|right|well|hm)\W+)*(?:sure|of course|certainly|no problem|done|got it|"
    r"understood|noted|absolutely|you're right|my mistake|fine|then\b|will do|okay|ok)\b|"
    r"\b(?:got it|done|noted|it is|coming up|i've \w+|i'll \w+|is now|are on|calling)\b",
    re.IGNORECASE,
)
_DECIDES = re.compile(
    r"^\W*(?:yes|yeah|yep|no|nope|sure|of course|certainly|absolutely|there (?:is|are)|we do|it (?:is|does|can)|"
    r"you can|not really|i'm afraid|unfortunately)\b",
    re.IGNORECASE,
)
_ASKS_YES_NO = re.compile(
    r"(?:^|[,.!?]\s*|\b(?:and|so|but|wait|sorry|oh)\s+)(?:is|are|do|does|did|can|could|will|would|has|have|should|may)"
    r"\s+(?:there|it|you|we|i|they|he|she|that|this|the|my|a|an)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\b(?:what|which|who|whose|when|where|why|how|tell me|guess)\b|^\W*(?:and|what about)\b", re.I)
_ASKS_AMOUNT = re.compile(
    r"\bhow (?:much|many|long|far|old|often|tall|big)\b|\bwhat(?:'s| is| are)?\b.*\b(?:times|plus|minus|percent)\b|"
    r"\bin (?:miles|kilometres|euros|pounds)\b|\bwhat time\b|\bwhen\b",
    re.IGNORECASE,
)
_DECLINES = re.compile(
    r"\b(?:i can't|i cannot|can't be|cannot be|i'm unable|not able to|i won't|haven't changed|nothing can be|"
    r"won't be|not possible)\b",
    re.IGNORECASE,
)


def signals(context: str, interruption: str, reply: str, vectors: Vectoriser) -> list[float]:
    """Return the value of each of :data:`SIGNALS` for one reply."""
    near = _nearness(context, interruption, reply, vectors)
    old, new, said = (content(tokens(text)) for text in (context, interruption, reply))
    own_new, own_old = set(new) - set(old), set(old) - set(new)
    taken, kept, other = _slots(context, interruption, reply)
    asks = bool(_ASKS.search(interruption))
    yes_no = bool(_ASKS_YES_NO.search(interruption))
    words = tokens(reply)
    spoken = language(reply)
    repeats = _repeats(interruption, reply)
    return [
        near[0],
        near[1],
        near[2],
        _share(own_new, said),
        _share(own_old, said),
        _nearer(own_new, own_old, said, vectors),
        float(taken),
        float(kept and not taken),
        float(other and not taken and not asks),
        float(bool(negated(interruption) & affirmed(reply))),
        float(_opposite(interruption, reply)),
        float(repeats),
        near[3],
        float(bool(_ACCEPTS.search(reply))),
        float(yes_no and bool(_DECIDES.search(reply))),
        float(bool(_ASKS_AMOUNT.search(interruption)) and "number" in slots(reply)),
        float(bool(_DECLINES.search(reply)) and not yes_no),
        float(bool(spoken) and spoken != "en" and not slots(context + " " + interruption).get("language")),
        float(bool(affirmed(interruption) & negated(reply)) and not yes_no),
        float(0 < len(words) <= 5 and near[3] < GENERIC_FROM and not (repeats or kept or set(said) & own_old)),
        min(1.0, len(set(said) - set(new) - set(old)) / 6),
    ]


def _nearness(context: str, interruption: str, reply: str, vectors: Vectoriser) -> list[float]:
    """Return the reply's cosines with interruption, both, and context, and the greatest with :data:`GENERIC`."""
    rows = vectors([reply, interruption, f"{context} {interruption}", context, *GENERIC])
    cosines = rows[1:] @ rows[0]
    return [*(float(c) for c in cosines[:3]), float(cosines[3:].max())]


def _share(wanted: set[str], said: Sequence[str]) -> float:
    return len(wanted & set(said)) / len(wanted) if wanted else 0.0


def _nearer(new: set[str], old: set[str], said: Sequence[str], vectors: Vectoriser) -> float:
    """Return how much nearer each group's words have their nearest word in the reply, the new less the old."""
    if not (new and old and said):
        return 0.0
    groups = [sorted(new), sorted(old), sorted(set(said))]
    rows = vectors([word for group in groups for word in group])
    first, second = len(groups[0]), len(groups[0]) + len(groups[1])
    reply: Vectors = rows[second:]
    means = [float(np.mean((part @ reply.T).max(axis=1))) for part in (rows[:first], rows[first:second])]
    return means[0] - means[1]


def _slots(context: str, interruption: str, reply: str) -> tuple[bool, bool, bool]:
    """Return whether the reply names a value that the interruption names, one only of the context, one of neither."""
    old, new, said = slots(context), slots(interruption), slots(reply)
    ruled_out = negated(interruption)
    taken = kept = other = False
    for kind, values in new.items():
        wanted = {value for value in values if value not in ruled_out} - old.get(kind, set())
        there = said.get(kind, set())
        if not wanted or not there:
            continue
        if wanted & there or (kind == "name" and wanted & set(tokens(reply))):
            taken = True
        elif there & old.get(kind, set()):
            kept = True
        else:
            other = True
    return taken, kept, other


def _opposite(interruption: str, reply: str) -> bool:
    wanted, said = set(tokens(interruption)), set(tokens(reply))
    pairs = [*_OPPOSITES, *((b, a) for a, b in _OPPOSITES)]
    return any(a in wanted and b in said and a not in said and b not in wanted for a, b in pairs)


_ECHO = frozenset(listed("echo"))


def _repeats(interruption: str, reply: str) -> bool:
    """Return whether the reply is three words or more, nearly all of them the interruption's in its order."""
    said = [word for word in tokens(reply) if word not in _ECHO]
    wanted = [word for word in tokens(interruption) if word not in _ECHO]
    if not said or len(said) > len(wanted) + 2 or not any(word not in FUNCTION for word in said):
        return False
    joined, whole = " ".join(said), " ".join(wanted)
    return joined in whole and not re.search(r"\b(?:sure|got it|done|noted)\b", reply, re.IGNORECASE)
