"""People counted and scored as systems are: drawn conversations with known turns, and real ones where they are."""

from __future__ import annotations

import shutil
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.making.fdb_talk import write_corpus
from tests.making.talked import talkers, write_ms98

from fullduplex.baselines import (
    harvested,
    harvested_by,
    has_the_other,
    items_of,
    named,
    people_of,
    people_run,
    statistics_of,
)
from fullduplex.baselines.sources import Counted
from fullduplex.baselines.statistics import drawn_as
from fullduplex.data import audio
from fullduplex.data.corpora.opened import open_corpus
from fullduplex.data.files import read_json
from fullduplex.errors import InputError, PluginError
from fullduplex.making.harvest.hearing import Ears
from fullduplex.measures.conversation import conversation_statistics, inter_pausal_units
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.stages import Asked, Scored, measure_together

SHARED = Path(__file__).parents[2] / "shared" / "data"
#: (side, first word at, words): words last 0.3 s each and follow at once.
TURNS = (
    ("A", 0.5, "je voudrais une chambre"),
    ("A", 2.6, "pour deux personnes"),
    ("B", 3.9, "très bien pour quelles dates"),
    ("A", 6.0, "du mardi au vendredi matin"),
    ("B", 7.9, "il me reste une chambre au quatrième étage"),
    ("A", 9.0, "attendez le prix est il compris"),
    ("B", 11.2, "oui tout est compris monsieur"),
)


def dyads(folder: Path, count: int, *, later: float = 0.02) -> Path:
    """Write ``count`` conversations of the turns, each with B a little later than in the one before."""
    folder.mkdir(parents=True)
    for n in range(count):
        rows = [
            (side, start + 0.3 * k + (later * n if side == "B" else 0), word)
            for side, start, text in TURNS
            for k, word in enumerate(text.split())
        ]
        lines = (f"talk{n} {side} {start:.3f} 0.300 {word}" for side, start, word in sorted(rows))
        (folder / f"talk{n}.ctm").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def nobody_listens(_: bool = True) -> Ears:
    raise AssertionError("nothing is to be heard")


def estimates(told: dict[str, Any], corpus: int = 0) -> dict[str, Any]:
    return {row["statistic"]: row for row in told["corpora"][corpus]["estimates"]}


def drawn(name: str, *pairs: tuple[list[Span], list[Span]], people: bool = True) -> Counted:
    made = Counted(name, people, {"corpus": "drawn"})
    for n, (first, second) in enumerate(pairs):
        end = max(span.end for span in (*first, *second))
        sides = inter_pausal_units(first, second, Span(0, end))
        made.add(conversation_statistics(sides, str(n)), "words")
    return made


def test_a_corpus_of_words_is_counted_by_its_words(tmp_path: Path) -> None:
    found = people_of(open_corpus(dyads(tmp_path / "c", 1), language="fr"), ears=nobody_listens)
    assert found.told_by == Counter(words=1)
    (one,) = found.conversations
    assert one.values["pause"] == (ms(900),)
    assert one.values["transfer"] == (ms(400), ms(600), ms(400), -ms(1300), ms(400))
    assert one.values["overlap"] == (ms(1300),)


def test_overlap_names_its_denominator() -> None:
    talk = [Span(0, seconds(6))], [Span(seconds(4), seconds(8))]
    rows = estimates(statistics_of([drawn("people", talk)]))
    assert (rows["overlap_of_speech"]["value"], rows["overlap_of_speech"]["of"]) == (
        25.0, "of the time in which anybody speaks",
    )  # fmt: skip
    assert rows["overlap_of_transfers"]["value"] == 100.0


def test_few_conversations_have_neither_interval_nor_percentile() -> None:
    talk = [Span(0, seconds(2))], [Span(seconds(3), seconds(5))]
    other = [Span(0, seconds(2))], [Span(seconds(4), seconds(5))]
    told = statistics_of([drawn("people", *[talk, other] * 2), drawn("system", talk, other, people=False)])
    assert estimates(told)["median_gap"]["low"] is None
    assert {row["absent"] for row in told["standings"]} <= {
        "fewer than 5 conversations of people", "the system has none",
    }  # fmt: skip


def test_a_system_between_people_is_in_the_middle_of_them() -> None:
    def talk(gap: int) -> tuple[list[Span], list[Span]]:
        return [Span(0, seconds(2))], [Span(seconds(2) + gap, seconds(6))]

    people = drawn("people", *(talk(ms(gap)) for gap in (250, 300, 350, 450, 500, 550)))
    told = statistics_of([people, drawn("system", talk(ms(400)), people=False)])
    placed = {row["statistic"]: row for row in told["standings"]}
    assert (placed["median_gap"]["percentile"], placed["median_gap"]["n"]) == (50.0, 6)
    wasserstein = next(r for r in told["distances"] if (r["kind"], r["name"]) == ("gap", "Wasserstein"))
    assert wasserstein["value"] == pytest.approx((150 + 100 + 50 + 50 + 100 + 150) / 6 / 1000)
    assert wasserstein["low"] is None


def test_a_system_that_never_pauses_has_no_length_of_pauses() -> None:
    talk = [Span(0, seconds(2))], [Span(seconds(3), seconds(5))]
    told = statistics_of([drawn("people", *[talk] * 5), drawn("system", talk, people=False)])
    row = next(row for row in told["standings"] if row["statistic"] == "median_pause")
    assert (row["value"], row["percentile"], row["absent"]) == (None, None, "the system has none")


def test_items_of_one_recording_are_drawn_together() -> None:
    talk = [Span(0, seconds(2))], [Span(seconds(3), seconds(5))]
    made = drawn("system", talk, talk, talk)
    made.groups = ["one", "one", ""]
    assert [one.duration for one in drawn_as(made)] == [seconds(10), seconds(5)]


def test_turns_that_were_cut_are_told_and_all_that_lies_between_them_is_marked(tmp_path: Path) -> None:
    lines = [f"SPEAKER talk 1 {n}.0 1.0 <NA> <NA> {'AB'[n % 2]} <NA> <NA>" for n in range(20)]
    (tmp_path / "talk.rttm").write_text("\n".join(lines) + "\n")
    told = statistics_of([people_of(open_corpus(tmp_path), ears=nobody_listens)])
    assert "the turns were cut, not measured" in told["corpora"][0]["unreliable_offsets"]
    marked = {key for key, row in estimates(told).items() if row["unreliable"]}
    assert {"median_transfer", "overlap_of_speech", "gaps_a_minute", "median_overlap"} <= marked
    assert not {"units_a_minute", "pauses_a_minute", "median_unit"} & marked


def test_what_cannot_be_counted_is_told_and_the_rest_is(tmp_path: Path) -> None:
    corpus = dyads(tmp_path / "c", 2)
    (corpus / "talk0.ctm").write_text("talk0 A 0.5 0.3 seul\ntalk0 B 1.0 0.3 oui\ntalk0 C 2.0 0.3 trois\n")
    found = people_of(open_corpus(corpus, language="fr"), ears=nobody_listens)
    assert (len(found.conversations), [name for name, _ in found.failed]) == (1, ["talk0"])


def test_people_are_scored_from_words_alone_each_in_turn(tmp_path: Path) -> None:
    scored = people(tmp_path, dyads(tmp_path / "c", 6))
    assert scored.run.about["people"]["turns"] == "each person in turn"
    found = values(scored, "anchored")
    gaps = sorted([*(0.4 + 0.02 * n for n in range(6)), *(0.6 - 0.02 * n for n in range(6))])
    latencies = sorted(found["smooth_turn_taking", "latency"])
    # Each of B's answers is one to A, and A's is one to B; the rules take one of each speaker's turns.
    assert len(latencies) >= 6
    assert {round(x, 3) for x in latencies} <= {round(x, 3) for x in gaps}
    assert set(found["pause_handling", "tor"]) == {0.0}
    numbers = {item.rpartition("-")[0][-1] for item in scored.measured.names}
    assert numbers == {"1", "2"}


def test_words_of_an_interrupted_partner_begin_after_the_interruption(tmp_path: Path) -> None:
    scored = people(tmp_path, dyads(tmp_path / "c", 6))
    released = values(scored, "released-3e799c4")["user_interruption", "latency"]
    # B goes on into A's interruption of 9.0-10.8 s and answers at 11.2 s: its words before would clip to 0.
    assert released == pytest.approx([0.4 + 0.02 * n for n in range(6)], abs=1e-6)


def test_it_is_told_that_items_were_chosen_for_what_these_people_did(tmp_path: Path) -> None:
    scored = people(tmp_path, dyads(tmp_path / "c", 2))
    (told,) = [remark for remark in scored.remarks if "no test of people" in remark]
    assert "pauses were chosen for a partner who does not take them" in told
    assert not [remark for remark in scored.remarks if "script.json" in remark]


def test_a_run_of_people_stands_in_one_table_with_others(tmp_path: Path) -> None:
    one = people(tmp_path, dyads(tmp_path / "c", 2))
    items = tmp_path / "callfc"
    asked = Asked("fdb-french@all", recogniser="recorded", language="fr", system="others")
    other = people_run(items, tmp_path / "others.run", asked, cache=tmp_path / "cache")
    assert [each.run.system for each in measure_together([one.run.path, other.run.path])] == ["people", "others"]


def test_a_run_of_people_goes_on_where_it_was(tmp_path: Path) -> None:
    first = people(tmp_path, dyads(tmp_path / "c", 2))
    again = people(tmp_path, tmp_path / "c")
    assert values(first, "anchored") == values(again, "anchored")


def test_items_of_a_run_are_conversations(tmp_path: Path) -> None:
    scored = people(tmp_path, dyads(tmp_path / "c", 6))
    found = items_of(scored.run)
    assert found.people
    assert len(drawn_as(found)) == 6 < len(found.conversations)


def test_a_benchmark_whose_items_are_in_no_conversation_is_refused() -> None:
    with pytest.raises(InputError, match="the items of others are not found in conversations of people"):
        named("interactionbench")


def test_overlaps_of_people_are_scored_by_the_rules_of_fdb_1_5(tmp_path: Path) -> None:
    corpus = open_corpus(write_corpus(tmp_path / "c", 2, sound=False))
    items, _ = harvested(corpus, tmp_path, "fdb-1.5", ears=nobody_listens)
    scored = people_run(items, tmp_path / "people.run", listens("fdb-1.5@all"), cache=tmp_path / "cache", engine="here")
    found = values(scored, "anchored")
    # B is interrupted at 22.0 s and speaks until 24.0 s; A speaks on to 19.0 s after B's "uh-huh" of 15.0 s.
    assert found["user_interruption", "stop_latency"] == [2.0, 2.0]
    assert (found["user_interruption", "talked_through"], found["user_backchannel", "talked_through"]) == (
        [0, 0],
        [1, 1],
    )
    assert values(scored, "paper")["user_backchannel", "stop_latency"] == [4.0, 4.0]
    assert reasons(scored, "released-d7336bd", "user_interruption", "respond") == ["not judged", "not judged"]
    assert reasons(scored, "anchored", "user_interruption", "stopped_in_twin") == ["no clean twin", "no clean twin"]


def acts(root: Path, *, sound: bool = True) -> tuple[Path, Scored]:
    """Score the partners of the drawn talk, which has one item of each condition, under DuplexAct's rules."""
    write_ms98(root / "c", 4000, *talkers(), sound=sound)
    talks, _ = harvested(open_corpus(root / "c"), root, "duplexact", ears=nobody_listens)
    return talks, people_run(talks, root / "people.run", listens("duplexact@all"), cache=root / "cache", engine="here")


def test_people_are_scored_by_the_rules_of_duplexact(tmp_path: Path) -> None:
    _, scored = acts(tmp_path)
    found = values(scored, "page")
    outcomes = {task.removeprefix("da_"): its for (task, metric), its in found.items() if metric == "immediate" and its}
    assert outcomes == {
        "wait_intra_pause": [1.0], "wait_inter_pause": [1.0], "wait_continuous": [1.0],
        "backchannel_affirmative": [1.0], "take_turn_slight_overlap": [1.0],
    }  # fmt: skip
    assert reasons(scored, "page", "da_take_turn_slight_overlap", "follow_through") == ["not judged"]
    assert reasons(scored, "page", "da_backchannel_affirmative", "follow_through") == ["not judged"]


def test_a_person_is_heard_until_the_speaker_goes_on_and_what_comes_later_is_not_known(tmp_path: Path) -> None:
    talks, scored = acts(tmp_path)
    (pause,) = (talks / "da_wait_intra_pause").iterdir()
    told = read_json(pause / "script.json")["recording"]
    assert told["partner"]["end"] == pytest.approx(14.0, abs=1e-3)
    (inter,) = (talks / "da_wait_inter_pause").iterdir()
    its = read_json(inter / "script.json")["recording"]
    assert its["partner"]["end"] == pytest.approx(26.0, abs=1e-3)
    assert read_json(inter / "output.json")["text"] == "how long did you all stay there"
    assert reasons(scored, "page", "da_wait_intra_pause", "follow_through") == ["not judged"]


def test_what_the_system_hears_is_the_item_s_own_sound(tmp_path: Path) -> None:
    talks, _ = acts(tmp_path)
    for talk in talks.glob("da_*/*"):
        own, rate = audio.read(tmp_path / "items" / talk.parent.name / talk.name / "u0.wav")
        heard, its = audio.read(talk / "input.wav")
        assert its == rate and (heard[: len(own)] == own).all() and not heard[len(own) :].any()


def test_talks_of_people_go_on_where_they_were(tmp_path: Path) -> None:
    first = acts(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in first[0].glob("da_*/*/*")}
    (stray,) = (first[0] / "da_wait_continuous").iterdir()
    shutil.copytree(stray, stray.with_name("none_any_more"))
    again = acts(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in again[0].glob("da_*/*/*")} == before
    assert values(first[1], "page") == values(again[1], "page")


def test_words_alone_do_not_tell_silences(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="words alone do not tell how long a side was heard"):
        acts(tmp_path, sound=False)


def test_items_of_duplexact_hold_no_other_person(tmp_path: Path) -> None:
    acts(tmp_path)
    rules = harvested_by(tmp_path / "items")
    with pytest.raises(InputError, match="hold the speaker alone"):
        has_the_other(tmp_path / "items", rules)


def test_rules_follow_the_corpus() -> None:
    assert [named("fdb-french", corpus=corpus).rules for corpus in ("chat", "media")] == [
        "french-callfc", "french-media",
    ]  # fmt: skip
    assert named("fdb-1.0@paper").rules == "fdb-1.0"
    assert [named(one).rules for one in ("fdb-1.5", "duplexact")] == ["fdb-1.5", "duplexact"]
    for benchmark, rules in (("fdb-1.0", "fdb-1.5"), ("fdb-1.5", "french-callfc"), ("duplexact", "fdb-1.0")):
        with pytest.raises(InputError, match="--rules"):
            named(benchmark, rules)


def test_switchboard_has_its_known_numbers(tmp_path: Path) -> None:
    archive = SHARED / "human_human_timing" / "switchboard_ms98" / "swb_ms98_45conv.tar.gz"
    if not archive.is_file():
        pytest.skip("no Switchboard words beside the repository")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    rows = estimates(statistics_of([people_of(open_corpus(tmp_path), ears=nobody_listens)], resamples=50))
    assert [round(rows[f"overlap_of_{of}"]["value"], 1) for of in ("speech", "time", "transfers")] == [5.2, 4.3, 34.7]
    assert round(rows["median_transfer"]["value"], 3) == 0.122
    assert round(rows["transfers_a_minute"]["value"], 1) == 13.2


@pytest.mark.weights
def test_overlap_orders_cascade_people_and_dgslm() -> None:
    root = SHARED / "dgslm_demo"
    if not root.is_dir():
        pytest.skip("no recordings of dGSLM beside the repository")
    from fullduplex.providers.weights import default_cache
    from fullduplex.runs.listen import detector

    cache = default_cache({})
    try:
        seen = detector(Spec.parse("silero:edges=refined"), str(cache))
    except PluginError as error:
        pytest.skip(str(error))
    shares = [
        estimates(statistics_of([people_of(open_corpus(root / name), ears=lambda: Ears(seen, None, "en", cache))]))
        for name in ("LM-BPE", "GroundTruth-Resynthesized", "dGSLM")
    ]
    for of in ("speech", "time", "transfers"):
        cascade, people_, dgslm = (rows[f"overlap_of_{of}"]["value"] for rows in shares)
        assert cascade < 1 < people_ < dgslm


def people(root: Path, corpus: Path) -> Scored:
    opened = open_corpus(corpus, language="fr")
    items, _ = harvested(opened, root, "french-callfc", ears=nobody_listens, language="fr")
    assert (items.name, harvested_by(items)) == ("callfc", "french-callfc")
    asked = Asked("fdb-french@all", recogniser="recorded", language="fr")
    return people_run(items, root / "people.run", asked, cache=root / "cache")


def listens(benchmark: str) -> Asked:
    """Return what is asked of drawn talks, whose words are tones."""
    return Asked(benchmark, seen="energy", recogniser="recorded")


def reasons(scored: Scored, variant: str, task: str, metric: str) -> list[str]:
    """Return why the values of a task and metric of a variant are absent, "" where one is not."""
    return [
        reason
        for (its, _, name), column in scored.measured.columns.items()
        if (its, name, column.scenario.task) == (variant, metric, task)
        for reason in column.reasons
    ]


def values(scored: Scored, variant: str) -> dict[tuple[str, str], list[float]]:
    """Return the values of each task and metric of a variant, in order of size."""
    return {
        (column.scenario.task, metric): sorted(
            number for number, reason in zip(column.numbers, column.reasons, strict=True) if not reason
        )
        for (its, _, metric), column in scored.measured.columns.items()
        if its == variant
    }


def test_the_items_tell_no_speakers_name(tmp_path: Path) -> None:
    scored = people(tmp_path, dyads(tmp_path / "c", 2))
    assert read_json(scored.run.path / "run.json")["people"]["corpus"] == "ctm"
