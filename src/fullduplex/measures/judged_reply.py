"""The verdict on one very reply: rules that cut what was said differently have different replies judged."""

from __future__ import annotations

from collections.abc import Sequence

from fullduplex.model.spans import in_seconds
from fullduplex.model.speech import Word
from fullduplex.model.trials import Absent, Trial, Verdict

#: What the reason for a fact says where no machine is trusted with it.
TO_HEAR = "to be heard by a person"
#: The reason for which there is no verdict, or no value, where a person took it away.
WITHDRAWN = "withdrawn"


def reply_key(onset: int, words: Sequence[Word] | None) -> str:
    """Return what names the reply that began at ``onset`` and has ``words``: ``@2.950-3.400``, in seconds."""
    end = max((word.span.end for word in words or ()), default=onset)
    return f"@{in_seconds(onset):.3f}-{in_seconds(end):.3f}"


def by_person(verdict: Verdict | Absent | None) -> bool:
    """Return whether a person said so, in place of a judge or a rule."""
    return isinstance(verdict, Verdict) and verdict.by.startswith("amended")


def rests_on(verdict: Verdict, name: str) -> str:
    """Return what a fact made of ``verdict`` rests on: ``name`` without its key, "" for a person's word."""
    return "" if by_person(verdict) else name.partition(":")[0]


def every_verdict(*names: str) -> str:
    """Return the names of all verdicts that a fact rests on, each once, with commas between; "" for none."""
    return ", ".join(dict.fromkeys(one for name in names for one in name.split(", ") if one))


def verdict_on(trial: Trial, name: str, key: str) -> Verdict | Absent | None:
    """Return the verdict ``name`` on the reply called ``key``, None where none is known.

    A person's correction of the item goes first, also one that takes the verdict away; then what a judge said of this
    reply; last a verdict that names no reply, as one that came with the recordings.
    """
    plain = trial.verdicts.get(name)
    if by_person(plain) or (isinstance(plain, Absent) and plain.reason == WITHDRAWN):
        return plain
    return trial.verdicts.get(f"{name}:{key}", plain)
