"""What the released Full-Duplex-Bench v1.5 scripts compute, stated anew (commit d7336bd).

As in :mod:`fullduplex.benchmarks.fdb1_released` everything is in the decimal seconds of files and detectors,
in their order. Where a script would crash or ask for ever, the measure is Absent instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fullduplex.benchmarks.declare import Stretch
from fullduplex.measures.judged_reply import by_person, rests_on
from fullduplex.model.spans import in_seconds
from fullduplex.model.speech import Token
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

#: Silences that are bridged in the user's and in the system's speech, both included, in seconds. The scripts'
#: comments say 0.3 and 0.05.
USER_GAP, SYSTEM_GAP = 0.6, 0.5
#: The labels of the released rubric.
LABELS = {
    "respond": "C_RESPOND", "resume": "C_RESUME", "uncertain": "C_UNCERTAIN_HANDLING", "unknown": "C_UNKNOWN",
}  # fmt: skip

Interval = tuple[float, float]


def merged(segments: Sequence[Interval], gap: float) -> list[Interval]:
    """Return ``segments`` with every two joined whose silence is at most ``gap`` seconds."""
    made: list[Interval] = []
    for start, end in sorted(segments):
        if made and start - made[-1][1] <= gap:
            made[-1] = (made[-1][0], max(made[-1][1], end))
        else:
            made.append((start, end))
    return made


def latency_intervals(user: Sequence[Interval], system: Sequence[Interval]) -> tuple[list[Interval], list[Interval]]:
    """Return the stop and the response intervals of one recording, as ``latency_intervals.json`` lists them.

    Stop: every overlap of user and system speech anywhere in the file, of several that end together the shortest.
    Response: for each user segment the next start of the system's strictly after its end, of several
    with the same start the latest end.
    """
    users, systems = merged(user, USER_GAP), merged(system, SYSTEM_GAP)
    stops: dict[float, float] = {}
    for u in users:
        for s in systems:
            start, end = max(u[0], s[0]), min(u[1], s[1])
            if start < end:
                stops[end] = max(start, stops.get(end, start))
    responses: dict[float, float] = {}
    for _, end in users:
        onset = next((start for start, _ in systems if start > end), None)
        if onset is not None:
            responses[onset] = max(end, responses.get(onset, end))
    return (
        sorted((start, end) for end, start in stops.items()),
        sorted((end, onset) for onset, end in responses.items()),
    )


def stop_latency(trial: Trial) -> Fact | Absent:
    """Return the mean length of the recording's stop intervals in seconds; the mean is ours, the script has none.

    Absent: ``failed``, ``no speech track``, ``no overlap``.
    """
    return _mean_of(trial, 0, "no overlap", "stop")


def response_latency(trial: Trial) -> Fact | Absent:
    """Return the mean length of the recording's response intervals in seconds; the mean is ours, the script has none.

    Absent: ``failed``, ``no speech track``, ``no response``.
    """
    return _mean_of(trial, 1, "no response", "response")


def _mean_of(trial: Trial, which: int, reason: str, name: str) -> Fact | Absent:
    if trial.failed:
        return Absent("failed", trial.failed)
    if trial.user.segments is None or trial.system.segments is None:
        return Absent("no speech track", "a side was not heard; a file of more than one channel crashes the script")
    intervals = latency_intervals(trial.user.segments, trial.system.segments)[which]
    if not intervals:
        return Absent(reason)
    lengths = [end - start for start, end in intervals]
    at = round(intervals[0][0] * 1_000_000)
    return Fact(sum(lengths) / len(lengths), at, f"{name} intervals: {len(lengths)} anywhere in the file")


def behaves(trial: Trial, label: str) -> Fact | Absent:
    """Return the share of the judge's labels for this item that are ``label`` (``respond`` …, or ``other``).

    The script's ratio pools labels over items; an item with two labels counts twice there.
    Absent: ``failed``, ``not judged``, and what kept a judge from saying.
    """
    if trial.failed:
        return Absent("failed", trial.failed)
    verdict = trial.verdicts.get("behaviour")
    if isinstance(verdict, Absent):
        return verdict
    if not isinstance(verdict, Verdict):
        return Absent("not judged", "no judge was asked, and there is no content_tag.json")
    given = verdict.votes if verdict.by == "recorded" and verdict.votes else str(verdict.value).split(",")
    labels = [str(each) for each in given]
    known = {name: own for own, name in LABELS.items()} | {name: name for name in LABELS}
    named = [known.get(each, "other") for each in labels]
    who = verdict.by if by_person(verdict) else "judged"
    why = f"{who}: {', '.join(labels)}"
    return Fact(named.count(label) / len(named), why=why, verdict=rests_on(verdict, "behaviour"))


def split(tokens: Sequence[Token], event_end: float) -> float:
    """Return where the released script cuts before from after, in seconds.

    The start of the word that holds the event's end, else of the first word that begins after it, else the end of the
    word that begins last; without words the event's end. Words are taken by their starts here, whatever their order.
    """
    timed = sorted(((t.start, t.end) for t in tokens if t.start is not None and t.end is not None), key=_start)
    for start, end in timed:
        if event_end < start or start <= event_end < end:
            return start
    return timed[-1][1] if timed else event_end


def _start(word: tuple[float, float]) -> float:
    return word[0]


def split_of(trial: Trial) -> float | None:
    """Return :func:`split` of a trial, within its recording; None without words or an event."""
    end = trial.item.reference.get("overlap_end_seconds")
    if end is None or trial.system.tokens is None:
        return None
    at = split(trial.system.tokens, end)
    length = trial.system.duration
    return max(0.0, at if length is None else min(in_seconds(length), at))


def stretches(trial: Trial) -> Mapping[str, Stretch]:
    """Return ``pre``, ``post`` and ``clean`` as the released script cuts them; nothing without words or an event."""
    at = split_of(trial)
    if at is None:
        return {}
    made = {"pre": Stretch("system", 0.0, at), "post": Stretch("system", at)}
    return made | ({"clean": Stretch("clean_system")} if trial.twin is not None else {})


def words_per_minute(tokens: Sequence[Token]) -> tuple[float, float]:
    """Return words over the time from the first word's start to the last one's end, by minute, and that time.

    Pauses are in it. First and last are those of the file's order. 0 words a minute where there is no word, or no time.
    """
    timed = [(t.start, t.end) for t in tokens if t.start is not None and t.end is not None]
    length = max(0.0, timed[-1][1] - timed[0][0]) if timed else 0.0
    return (len(timed) / (length / 60) if length > 0 else 0.0), length


def rate_of(trial: Trial, part: str) -> Fact | Absent:
    """Return the words per minute of ``pre``, ``post`` or ``clean``; a word that ends by the split is before it.

    0 where there is no word, as in the script. Absent: ``failed``, ``no output``, ``no annotation``, ``no clean twin``,
    ``no sound`` (the cut lies at the recording's beginning or end, and the script measures nothing there).
    """
    tokens = _tokens_of(trial, part)
    if isinstance(tokens, Absent):
        return tokens
    rate, _ = words_per_minute(tokens)
    return Fact(rate, why=f"{len(tokens)} words")


def _tokens_of(trial: Trial, part: str) -> Sequence[Token] | Absent:
    if trial.failed:
        return Absent("failed", trial.failed)
    if part == "clean":
        tokens = trial.twin.system.tokens if trial.twin is not None else None
        return Absent("no clean twin", "no clean_output.json") if tokens is None else tokens
    if trial.system.tokens is None:
        return Absent("no output", "no output.json")
    at = split_of(trial)
    if at is None:
        return Absent("no annotation", "no event in metadata.json")
    length = trial.system.duration
    if at <= 0 if part == "pre" else length is not None and at >= in_seconds(length):
        return Absent("no sound", "the cut lies at an end of the recording")
    before = [t for t in trial.system.tokens if t.end is not None and t.end <= at]
    return before if part == "pre" else [t for t in trial.system.tokens if t not in before]
