"""What published collections computed, computed again from their times."""

from __future__ import annotations

import csv
import gzip
import io
import re
import statistics
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

from fullduplex.measures.conversation import (
    Row,
    abutting,
    from_earlier_row,
    from_previous_row,
    inter_pausal_units,
    overlap_with_rows_before,
    turns_by_onset,
)
from fullduplex.measures.conversation.published import offsets_of
from fullduplex.model.spans import Span, in_seconds, ms, seconds

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "human_human_timing"
#: The first offsets that TurnBench publishes for Switchboard (conversation 2001), in seconds.
TURNBENCH = (
    -1.009, -0.197, 0.029, -0.244, 0.06, -4.359, 0.033, -0.046, 0.054, -4.284, 4.265, -0.219, 0.02, -1.546, -2.421,
    -1.125, 0.083, 0.096, 0.378, -2.545, -0.188, -0.11, -1.838, -1.951, -3.419, -0.046, 0.261, 0.386, -0.658, -0.127,
    -4.977, 5.04, -0.375, 0.031, -0.235, -0.973, 0.043, 0.386, -1.414, -6.866, 7.045, -0.4, -10.914, 3.786, 0.16, -0.47,
    0.228, 0.04, 0.083, 0.446, -2.081, -0.094, -0.745, -3.042, 0.383, 0.398, 0.238, -1.278, 1.343, -0.556, -2.874, 2.18,
    -0.217, -0.5, -0.364, 0.327, -0.02, -0.035, 0.205, -0.578,
)  # fmt: skip


class Line(NamedTuple):
    row: Row
    offset: int | None
    prior: str
    overlap: str


def needed(name: str) -> Path:
    if not (SHARED / name).exists():
        pytest.skip(f"no {name} in the shared data beside the checkout")
    return SHARED / name


@cache
def ifadv() -> Mapping[str, list[Line]]:
    text = gzip.decompress(needed("ifadv_dutch/ifadv_all20.csv.gz").read_bytes()).decode()
    found: dict[str, list[Line]] = defaultdict(list)
    sides: dict[str, dict[str, int]] = defaultdict(dict)
    for line in csv.DictReader(io.StringIO(text)):
        side = sides[line["source"]].setdefault(line["participant"], len(sides[line["source"]]))
        offset = ms(round(float(line["FTO"]))) if line["FTO"] else None
        # Times are whole milliseconds; the file's floats carry the noise of a division.
        row = Row(side, ms(round(float(line["begin"]))), ms(round(float(line["end"]))))
        found[line["source"]].append(Line(row, offset, line["priorby"], line["overlap"]))
    return found


def comparable() -> Iterator[tuple[int, int, int]]:
    """Yield each published offset whose row before is the other side's, the plain rule's, and the onsets' lag."""
    for lines in ifadv().values():
        plain = from_previous_row([line.row for line in lines])
        for (before, line), found in zip(pairwise(lines), plain[1:], strict=True):
            if found is not None and line.offset is not None:
                yield line.offset, found, line.row.start - before.row.start


def test_the_previous_row_gives_6332_of_ifadv_s_7184_comparable_offsets() -> None:
    found = list(comparable())
    assert len(found) == 7_184
    assert sum(published == ours for published, ours, _ in found) == 6_332


def test_it_gives_all_6074_that_start_at_least_200_ms_after_the_other_s_onset() -> None:
    late = [published == ours for published, ours, lag in comparable() if lag >= ms(200)]
    assert (len(late), sum(late)) == (6_074, 6_074)


def test_the_852_others_all_start_sooner_and_are_measured_from_an_earlier_row() -> None:
    others = 0
    for lines in ifadv().values():
        rows = [line.row for line in lines]
        plain, earlier = from_previous_row(rows), from_earlier_row(rows)
        for n, line in enumerate(lines):
            if line.offset is not None and plain[n] not in (None, line.offset):
                others += 1
                assert rows[n].start - rows[n - 1].start < ms(200)
                assert earlier[n] == line.offset
    assert others == 852


def test_the_earlier_row_gives_every_one_of_ifadv_s_7990_offsets() -> None:
    published = given = 0
    for lines in ifadv().values():
        for line, found in zip(lines, from_earlier_row([line.row for line in lines]), strict=True):
            published += line.offset is not None
            given += line.offset == found
    assert (published, given) == (7_990, 7_990)


def test_sixteen_of_ifadv_s_offsets_are_measured_from_the_speaker_s_own_earlier_row() -> None:
    own = 0
    for lines in ifadv().values():
        for n, line in enumerate(lines):
            nobody_else = n >= 3 and all(back.row.side == line.row.side for back in lines[n - 3 : n])
            own += line.offset is not None and nobody_else
    assert own == 16


def test_ifadv_s_offsets_are_summed_up_as_its_report_does() -> None:
    offsets = [
        found
        for lines in ifadv().values()
        for line, found in zip(lines, from_earlier_row([line.row for line in lines]), strict=True)
        if line.offset is not None
    ]
    assert len(offsets) == 7_990
    assert statistics.median(offsets) == ms(23)
    assert round(statistics.fmean(offsets) / 1000) == -27


@pytest.mark.parametrize(("name", "n"), [("partial", 2_762), ("full", 1_417), ("", 9_843)])
def test_every_row_of_ifadv_has_the_published_class_of_overlap(name: str, n: int) -> None:
    pairs = [
        (line.overlap, found)
        for lines in ifadv().values()
        for line, found in zip(lines, overlap_with_rows_before([line.row for line in lines]), strict=True)
    ]
    assert sum(pair == (name, name) for pair in pairs) == n
    assert sum(published != found for published, found in pairs) == 0


def test_ifadv_s_turns_are_as_its_report_has_them() -> None:
    report = needed("ifadv_dutch/talkr_expected_report.md").read_text()
    durations = [line.row.end - line.row.start for lines in ifadv().values() for line in lines]
    recorded = sum(max(x.row.end for x in lines) - min(x.row.start for x in lines) for lines in ifadv().values())
    figures = dict(re.findall(r"^ +([a-z ()]+): ([\d.]+)$", report, re.MULTILINE))
    assert figures["nr of turns"] == str(len(durations))
    assert figures["mean turn duration (ms)"] == str(round(statistics.fmean(durations) / 1000))
    assert figures["total recording (min)"] == str(round(in_seconds(recorded) / 60, 1))
    assert figures["total speaking time (min)"] == str(round(in_seconds(sum(durations)) / 60, 1))
    assert figures["turns per hour"] == str(round(len(durations) / (in_seconds(recorded) / 3600)))


def test_each_conversation_of_ifadv_is_in_the_report_s_table() -> None:
    report = needed("ifadv_dutch/talkr_expected_report.md").read_text()
    table = report[report.index("Turn statistics") :]
    rows = {name: tuple(map(int, rest)) for name, *rest in re.findall(r"\|(/\S+) +\|" + r" +(\d+)\|" * 5, table)}
    assert len(rows) == 20
    for name, lines in ifadv().items():
        lasted = [(line.row.end - line.row.start) // 1000 for line in lines]
        hours = in_seconds(max(x.row.end for x in lines) - min(x.row.start for x in lines)) / 3600
        ours = len(lasted), round(statistics.fmean(lasted)), min(lasted), max(lasted), round(len(lasted) / hours)
        assert rows[name] == ours


@cache
def switchboard(name: str) -> tuple[list[Span], list[Span]]:
    def said(side: Literal["A", "B"]) -> list[Span]:
        with tarfile.open(needed("switchboard_ms98/swb_ms98_45conv.tar.gz")) as archive:
            file = archive.extractfile(f"swb_ms98/{name[:2]}/{name}/sw{name}{side}-ms98-a-word.text")
            assert file is not None
            lines = [line.split() for line in file.read().decode().splitlines()]
        words = [line for line in lines if not line[3].startswith(("[", "<")) or line[3].startswith("[laughter-")]
        words += [line for line in lines if re.match(r"\[[^\]]+\]\S", line[3])]
        return [Span(seconds(float(line[1])), seconds(float(line[2]))) for line in words]

    return said("A"), said("B")


def in_order(one: list[int], other: list[int]) -> int:
    """Return how many times both have in the same order, to the half millisecond: the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for a in one:
        last, row = row, [0]
        for n, b in enumerate(other):
            row.append(last[n] + 1 if abs(a - b) <= 500 else max(last[n + 1], row[-1]))
    return row[-1]


def test_66_of_turnbench_s_first_70_switchboard_offsets_come_in_order_from_the_words() -> None:
    # Theirs leave out the backchannels of a list that is not here; ours of the same words are more.
    offsets = list[int]()
    for name in ("2001", "2005"):
        sides = inter_pausal_units(*switchboard(name), Span(0, seconds(3600)))
        offsets += offsets_of(turns_by_onset(sides))
    assert len(offsets) == 220
    assert in_order(offsets, [seconds(value) for value in TURNBENCH]) == 66


def rttm(path: Path) -> list[Row]:
    sides: dict[str, int] = {}
    rows = []
    for line in path.read_text().splitlines():
        parts = line.split()
        start = ms(round(float(parts[3]) * 1000))
        side = sides.setdefault(parts[7], len(sides))
        rows.append(Row(side, start, start + ms(round(float(parts[4]) * 1000))))
    return rows


@pytest.mark.parametrize(
    ("name", "transfers", "exact"),
    [("CallFriendNEnglish/4708", 97, 96), ("CallFriendFrench/5136", 558, 105), ("CallHomeEnglish/4077", 135, 0)],
)
def test_the_turns_of_a_call_that_abut_are_counted(name: str, transfers: int, exact: int) -> None:
    found = abutting(rttm(needed(f"callfriend_callhome_rttm/{name}.rttm")))
    assert (found.transfers, found.exact) == (transfers, exact)


def test_offsets_of_turns_that_abut_are_called_unreliable_and_those_of_measured_corpora_are_not() -> None:
    calls = {
        path.stem: abutting(rttm(path)).unreliable() for path in needed("callfriend_callhome_rttm").rglob("*.rttm")
    }
    assert len(calls) == 22
    assert {name for name, why in calls.items() if not why} == {
        "0003", "0053", "0743", "4065", "4077", "4093", "4145", "4157", "4984",
    }  # fmt: skip
    assert not any(abutting([line.row for line in lines]).unreliable() for lines in ifadv().values())
