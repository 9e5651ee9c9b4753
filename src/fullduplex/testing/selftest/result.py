"""What a self-test found: distributions of errors, what they do to verdicts, and which promises are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullduplex import __version__
from fullduplex.listening.edges import EdgeRule
from fullduplex.model.spans import seconds
from fullduplex.testing.selftest import gates as promise
from fullduplex.testing.selftest.clips import Clip
from fullduplex.testing.selftest.gates import Gate
from fullduplex.testing.selftest.score import Errors
from fullduplex.testing.selftest.sound import CONDITIONS, NOISES
from fullduplex.testing.selftest.texts import NODS, SENTENCES
from fullduplex.testing.selftest.verdicts import moved_by_detectors, moved_by_recognisers


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """The errors of one detector under one condition, with its own edges (``raw``) or ``refined`` ones.

    ``part`` is ``all``, or a voice or a level with its name. ``invented``: segments that touch nothing planted;
    ``cuts``: segments beyond one to a sound.
    """

    detector: str
    edges: str
    condition: str
    part: str
    onsets: Errors
    offsets: Errors
    invented: int
    cuts: int

    def to_json(self) -> dict[str, Any]:
        """Return the table's row as a JSON object."""
        return {
            "detector": self.detector,
            "edges": self.edges,
            "condition": self.condition,
            "part": self.part,
            "onsets": self.onsets.to_json(),
            "ends": self.offsets.to_json(),
            "invented": self.invented,
            "cuts": self.cuts,
        }


@dataclass(frozen=True, slots=True)
class WordTable:
    """The errors of one recogniser under one condition.

    ``starts``: of words that agree, against the synthesiser's own times; ``firsts``: of the first word of each
    utterance against its first sample, absent where that word is not the one said. ``wrong`` of ``words`` are not.
    """

    recogniser: str
    condition: str
    starts: Errors
    firsts: Errors
    words: int
    wrong: int

    def to_json(self) -> dict[str, Any]:
        """Return the table's row as a JSON object."""
        return {
            "recogniser": self.recogniser,
            "condition": self.condition,
            "word_starts": self.starts.to_json(),
            "first_words": self.firsts.to_json(),
            "words": self.words,
            "wrong": self.wrong,
            "wer": self.wrong / self.words if self.words else None,
        }


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The result. ``edges`` and ``words`` are the errors, ``verdicts`` what they move, ``gates`` the promises."""

    seed: int
    quick: bool
    planted: Mapping[str, Any]
    specs: tuple[str, ...]
    lead: str
    driver: Errors
    rises: Mapping[str, Errors]
    edges: tuple[EdgeTable, ...]
    words: tuple[WordTable, ...]
    verdicts: tuple[Mapping[str, Any], ...]
    gates: tuple[Gate, ...]
    remarks: tuple[str, ...]

    @property
    def broken(self) -> tuple[Gate, ...]:
        """Return the promises that are broken."""
        return tuple(gate for gate in self.gates if gate.state == "broken")

    def to_json(self) -> dict[str, Any]:
        """Return everything as a JSON object, times in decimal seconds."""
        return {
            "schema": 1,
            "fullduplex": __version__,
            "seed": self.seed,
            "quick": self.quick,
            "truth": "the first and the last sample within 40 dB of the clip's peak",
            "rule": EdgeRule().to_json(),
            "conditions": dict(CONDITIONS),
            "planted": dict(self.planted),
            "detectors": list(self.specs),
            "driver": self.driver.to_json(),
            "rises_out_of_noise": {name: errors.to_json() for name, errors in self.rises.items()},
            "edges": [table.to_json() for table in self.edges],
            "words": [table.to_json() for table in self.words],
            "verdicts": [dict(row) for row in self.verdicts],
            "gates": [gate.to_json() for gate in self.gates],
            "remarks": list(self.remarks),
        }

    def to_markdown(self) -> str:
        """Return the tables for people, as Markdown."""
        from fullduplex.testing.selftest.tables import markdown

        return markdown(self)

    def to_html(self) -> str:
        """Return the page: one file that needs nothing else."""
        from fullduplex.testing.selftest.page import html

        return html(self)


def concluded(
    talks: Sequence[Mapping[str, Any]],
    words: Sequence[Mapping[str, Any]],
    clips: Sequence[Clip],
    *,
    seed: int,
    quick: bool,
    specs: Sequence[str],
    lead: str,
    remarks: Sequence[str] = (),
) -> SelfTest:
    """Return what the rows of the talks and of the recognisers come to; ``lead`` is the detector promised for."""
    planted = _planted(talks, clips)
    driver = Errors.of(
        (None, "never sounded") if errors is None else (seconds(error), "")
        for talk in talks
        for use in talk["planted"]
        for errors in [use["driver_error"]]
        for error in (errors or [None])
    )
    rises = {name: _rises(talks, name) for name in NOISES}
    edges = tuple(_edge_tables(talks))
    return SelfTest(
        seed,
        quick,
        planted,
        tuple(specs),
        lead,
        driver,
        rises,
        edges,
        tuple(_word_tables(words)),
        (*moved_by_detectors(talks), *moved_by_recognisers(words)),
        tuple(_gates(planted, driver, rises, edges, lead, quick)),
        tuple(remarks),
    )


def _planted(talks: Sequence[Mapping[str, Any]], clips: Sequence[Clip]) -> dict[str, Any]:
    texts = {*NODS, *SENTENCES}
    real = {clip.file for clip in clips if clip.text not in texts and clip.role != "user"}
    uses = [(talk, use) for talk in talks for use in talk["planted"]]
    # A text is one utterance in whatever voice; a real clip is one.
    names = Counter(use["text"] if use["text"] in texts else use["file"] for _, use in uses)
    levels = [talk["level"] for talk in talks]
    return {
        "sounds": len(uses),
        "edges": 2 * len(uses),
        "talks": len(talks),
        "minutes": round(sum(talk["length"] for talk in talks) / 60, 1),
        "utterances": len(names),
        "most_uses": max(names.values(), default=0),
        "voices": len({talk["voice"] for talk in talks}),
        "voice_names": sorted({talk["voice"] for talk in talks}),
        "real": sum(use["file"] in real for _, use in uses),
        "level_range": max(levels, default=0.0) - min(levels, default=0.0),
        "by_kind": dict(sorted(Counter(use["why"] for _, use in uses).items())),
    }


def _rises(talks: Sequence[Mapping[str, Any]], condition: str) -> Errors:
    return Errors.of(
        (None if moment is None else seconds(moment), "never within a second")
        for talk in talks
        for moment in talk["rises"][condition]
    )


def _edge_tables(talks: Sequence[Mapping[str, Any]]) -> Iterator[EdgeTable]:
    parts: list[tuple[str, Callable[[Mapping[str, Any]], bool]]] = [("all", lambda talk: True)]
    parts += [(f"voice {v}", lambda t, v=v: t["voice"] == v) for v in sorted({t["voice"] for t in talks})]  # type: ignore[misc]
    levels = sorted({t["level"] for t in talks}, reverse=True)
    parts += [(f"level {level:+.0f} dB", lambda t, level=level: t["level"] == level) for level in levels]  # type: ignore[misc]
    for part, belongs in parts:
        groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
        for talk in filter(belongs, talks):
            for heard in talk["heard"]:
                groups.setdefault((heard["detector"], heard["edges"], heard["condition"]), []).append(heard)
        for (who, edges, condition), heards in groups.items():
            yield EdgeTable(
                who,
                edges,
                condition,
                part,
                Errors.of(_edge(match[0]) for heard in heards for match in heard["matches"]),
                Errors.of(_edge(match[1]) for heard in heards for match in heard["matches"]),
                sum(heard["invented"] for heard in heards),
                sum(match[2] for heard in heards for match in heard["matches"]),
            )


def _edge(told: float | str) -> tuple[int | None, str]:
    return (None, told) if isinstance(told, str) else (seconds(told), "")


def _word_tables(rows: Sequence[Mapping[str, Any]]) -> Iterator[WordTable]:
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["recogniser"], row["condition"]), []).append(row)
    for (who, condition), mine in groups.items():
        words, wrong = sum(row["words"] for row in mine), sum(row["wrong"] for row in mine)
        starts = [seconds(error) for row in mine for error in row["start_errors"]]
        firsts = [seconds(error) for row in mine for error in row["first_word_errors"]]
        lost = sum(row["utterances"] for row in mine) - len(firsts)
        yield WordTable(
            who,
            condition,
            Errors(tuple(sorted(starts)), _without_none({"not recognised": words - len(starts)})),
            Errors(tuple(sorted(firsts)), _without_none({"not recognised": lost})),
            words,
            wrong,
        )


def _without_none(reasons: dict[str, int]) -> dict[str, int]:
    return {reason: n for reason, n in reasons.items() if n}


def _gates(
    planted: Mapping[str, Any],
    driver: Errors,
    rises: Mapping[str, Errors],
    edges: Iterable[EdgeTable],
    lead: str,
    quick: bool,
) -> Iterator[Gate]:
    yield from promise.counts(planted, quick=quick)
    yield promise.driver(driver)
    for table in edges:
        if (table.detector, table.edges, table.part) != (lead, "refined", "all"):
            continue
        if table.condition == "clean":
            yield from promise.clean(lead, table.onsets)
        elif table.condition in rises:
            yield promise.noisy(lead, table.condition, table.onsets, rises[table.condition], quick=quick)
