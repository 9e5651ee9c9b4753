"""What was said in an interaction, for its page: the user's turns in time, and a row for each probe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fullduplex.benchmarks.boards import board_of
from fullduplex.benchmarks.declare import Benchmark, Scenario
from fullduplex.benchmarks.interactionbench.transcript import words_of
from fullduplex.measures.grounded import Probed, grounded, probed, reply_to
from fullduplex.measures.interaction import Scene, scene
from fullduplex.measures.replies import Limits, Reply
from fullduplex.model.spans import in_seconds
from fullduplex.model.trials import Absent, Trial, Verdict


def turns_of(trial: Trial) -> list[dict[str, Any]]:
    """Return the user's turns: ``text``, as scripted or else as recognised, ``start`` and ``end`` in decimal seconds.

    Both times are None of a turn that was never said. Nothing where the trial is no interaction.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return []
    made = []
    for turn in found.turns:
        start, end = (None, None) if turn.span is None else (turn.span.start, turn.span.end)
        text = words_of(trial, turn)
        made.append(
            {
                "text": text,
                "start": None if start is None else in_seconds(start),
                "end": None if end is None else in_seconds(end),
            }
        )
    return made if any(one["text"] for one in made) else []


def probes_of(trial: Trial, benchmarks: Iterable[tuple[Benchmark, Scenario]]) -> list[dict[str, Any]]:
    """Return the probes of a conversation as each variant reads it: ``variants`` (those that read alike) and ``rows``.

    A row is ``id``, ``type`` (in words), ``kind``, ``rests`` (on what the assistant said), ``doubted`` (its premise,
    by a judge), ``question``, ``expected``, ``asked`` and ``replied`` (decimal seconds or None), ``reply`` (its words;
    None: there is none, or it is not known), ``state`` (``passed``, ``wrong reply``, ... or why it is not known),
    ``known``, ``by`` (whose verdict it is), ``reason``, and ``votes`` (how many of the judge's votes agree, of how
    many; "" where there is one or none).
    """
    made: list[dict[str, Any]] = []
    for benchmark, scenario in benchmarks:
        limits = _limits(scenario)
        found = scene(trial)
        if limits is None or isinstance(found, Absent):
            continue
        states = probed(trial, limits)
        if isinstance(states, Absent):
            continue
        titles = _titles(benchmark.name)
        rows = [_row(trial, found, one, limits, titles) for one in states]
        alike = next((one for one in made if one["rows"] == rows), None)
        if alike is None:
            made.append({"variants": [benchmark.variant], "rows": rows})
        else:
            alike["variants"].append(benchmark.variant)
    return made


def short_events(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return events as a timeline labels them: of a probe its type alone, for what it expects stands in its row."""
    return [
        {**row, "text": str(row["text"]).partition(":")[0].replace("_", " ")} if row["kind"] == "probe" else dict(row)
        for row in rows
    ]


def _limits(scenario: Scenario) -> Limits | None:
    """Return the limits under which a scenario reads replies to probes, None where it has no probes."""
    for metric in scenario.metrics:
        if getattr(metric.measure, "func", None) is grounded:
            limits = getattr(metric.measure, "keywords", {}).get("limits")
            return limits if isinstance(limits, Limits) else None
    return None


def _titles(benchmark: str) -> Mapping[str, str]:
    board = board_of(benchmark)
    return board.probes.types if board is not None and board.probes is not None else {}


def _row(trial: Trial, found: Scene, one: Probed, limits: Limits, titles: Mapping[str, str]) -> dict[str, Any]:
    probe, turn = one.probe, found.turn(one.probe.turn)
    said = reply_to(trial, probe, limits) if probe.span is not None else None
    reply = said if isinstance(said, Reply) else None
    verdict = trial.verdicts.get(f"probe:{probe.id}")
    judged = isinstance(verdict, Verdict) and one.state in ("passed", "wrong reply")
    if isinstance(one.state, Absent):
        reason = one.state.detail
    else:
        reason = verdict.reason if judged and isinstance(verdict, Verdict) else one.why.removeprefix(f"{one.state}: ")
    votes = ""
    if judged and isinstance(verdict, Verdict) and len(verdict.votes) > 1:
        votes = f"{sum(vote == verdict.value for vote in verdict.votes)} of {len(verdict.votes)} votes"
    return {
        "id": probe.id,
        "type": titles.get(probe.type, probe.type),
        "kind": probe.kind.replace("_", " "),
        "rests": probe.rests_on_assistant,
        "doubted": one.doubted,
        "question": "" if turn is None else words_of(trial, turn),
        "expected": probe.expected,
        "asked": None if probe.span is None else in_seconds(probe.span.start),
        "reply": None if reply is None or reply.words is None else reply.text,
        "replied": None if reply is None else in_seconds(reply.onset),
        "state": one.state.reason if isinstance(one.state, Absent) else one.state,
        "known": not isinstance(one.state, Absent),
        "by": verdict.by if judged and isinstance(verdict, Verdict) else "",
        "reason": "" if reason == one.state else reason,
        "votes": votes,
    }
