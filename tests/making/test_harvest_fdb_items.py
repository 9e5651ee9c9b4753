"""A harvest in the layout of Full-Duplex-Bench on disk: items, sound, counts, a release and the same items again."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.making.fdb_talk import V10, partners, write_corpus

from fullduplex.data import audio
from fullduplex.data.corpora.conversation import Conversation, Recording
from fullduplex.data.corpora.opened import open_corpus, open_recordings
from fullduplex.data.dataset import open_dataset
from fullduplex.data.fdb_folder import load_trial, read_reference
from fullduplex.errors import InputError
from fullduplex.listening.recognisers import Heard
from fullduplex.making.harvest.fdb.harvest import FdbHarvested, harvest_fdb
from fullduplex.making.harvest.fdb.rebuild import rebuild_fdb
from fullduplex.making.harvest.fdb.rules import FDB_RULES, V15, FdbRules
from fullduplex.making.harvest.fdb.survey import Asked, survey
from fullduplex.making.harvest.fdb.tables import retention_table, table_by_corpus
from fullduplex.making.harvest.hearing import Ears
from fullduplex.making.harvest.rebuild import format_of
from fullduplex.model.spans import Span, Timeline
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Token

SHARED = Path(__file__).parents[3] / "shared" / "data"
FOUND = {"pause_handling": 1, "smooth_turn_taking": 2, "backchannel": 1, "user_interruption": 1}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus")


def made(
    corpus: Path, out: Path, rules: FdbRules = V10, asked: dict[str, Any] | None = None, **more: Any
) -> FdbHarvested:
    return harvest_fdb(open_corpus(corpus), Asked("mine", rules, out, **(asked or {})), **more)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.glob("*/*/*"))}


def first(out: Path, task: str) -> Path:
    return sorted((out / task).iterdir())[0]


def told(path: Path) -> Any:
    return json.loads(path.read_text())


def test_each_task_has_its_items_and_they_can_be_read(corpus: Path, tmp_path: Path) -> None:
    assert made(corpus, tmp_path / "out", audio_allowed="mine").items == FOUND
    entries = open_dataset(tmp_path / "out").entries
    assert sorted({entry.task for entry in entries}) == sorted(FOUND) and len(entries) == 5
    trials = [load_trial(entry) for entry in entries]
    assert not any(trial.failed or trial.missing for trial in trials)
    assert all(entry.group == entries[0].group and entry.group for entry in entries)


def test_input_is_the_user_s_channel_untouched_and_then_silence(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out", audio_allowed="mine")
    folder = next(one for one in (tmp_path / "out" / "smooth_turn_taking").iterdir() if "-1-" in one.name)
    samples, rate = audio.read(folder / "input.wav")
    whole, _ = audio.read(corpus / "sw04000.wav", 0)
    kept = round(6.9 * rate)  # 0.85 s to 7.75 s: the half of the 0.2 s until the partner begins is not kept
    assert np.array_equal(samples[:kept], whole[round(0.85 * rate) : round(0.85 * rate) + kept])
    assert len(samples) == kept + 5 * rate and not samples[kept:].any()
    assert told(folder / "turn_taking.json") == [{"text": "[TURN-TAKING]", "timestamp": [6.75, 6.95]}]


def test_output_is_the_other_side_at_the_same_time(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out", audio_allowed="mine")
    folder = next(one for one in (tmp_path / "out" / "smooth_turn_taking").iterdir() if "-1-" in one.name)
    samples, rate = audio.read(folder / "output.wav")
    whole, _ = audio.read(corpus / "sw04000.wav", 1)
    start = round(0.85 * rate)
    assert np.array_equal(samples, whole[start : start + len(samples)])
    assert len(samples) == len(audio.read(folder / "input.wav")[0])
    words = told(folder / "output.json")["chunks"]
    assert words[0] == {"text": "ba", "timestamp": [6.95, 7.2]}


def test_where_the_recording_ends_before_the_partner_s_time_is_over_there_is_silence(tmp_path: Path) -> None:
    made(write_corpus(tmp_path / "corpus"), tmp_path / "out", audio_allowed="mine")
    folder = first(tmp_path / "out", "user_interruption")
    samples, rate = audio.read(folder / "output.wav")
    assert len(samples) == len(audio.read(folder / "input.wav")[0])
    assert not samples[round(12.2 * rate) :].any()  # the recording ends at 25 s, 12.15 s into the item


def test_an_interruption_has_its_context_and_what_is_said_after_it(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out", audio_allowed="mine")
    folder = first(tmp_path / "out", "user_interruption")
    ((event),) = told(folder / "interrupt.json")
    assert event["interrupt"] == "no wait please stop that now" and event["context"].startswith("gu gu")
    assert event["timestamp"] == [9.15, 10.65]
    # The partner spoke before it, too: released scripts are to read what comes after it.
    assert [one["timestamp"][0] for one in told(folder / "output.json")["chunks"]] == [10.65, 10.9]
    rows = told(folder / "transcription.json")
    assert [row["speaker"] for row in rows] == [0, 1] and len(rows[1]["item"]) == 17  # and the token of before
    said, rate = audio.read(folder / "interrupt.wav")
    assert len(said) == round(1.5 * rate) and (folder / "context.wav").is_file()


def test_the_reference_of_a_backchannel_item_is_the_partner_s_own(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out")
    reference = read_reference(tmp_path / "out" / "backchannel_reference.json")
    ((name, shares),) = reference.items()
    # The token sounds from 2.15 s to 2.4 s of the item: windows of 0.2 s from 2.0 and 2.2.
    assert name == first(tmp_path / "out", "backchannel").name
    assert [n for n, share in enumerate(shares) if share] == [10, 11] and sum(shares) == 1.0


def test_the_clean_twin_of_v1_5_lacks_the_event_and_nothing_else(corpus: Path, tmp_path: Path) -> None:
    assert made(corpus, tmp_path / "out", FDB_RULES["fdb-1.5"], audio_allowed="mine").items["user_interruption"] == 1
    folder = first(tmp_path / "out", "user_interruption")
    (noisy, rate), (clean, _) = audio.read(folder / "input.wav"), audio.read(folder / "clean_input.wav")
    about = told(folder / "metadata.json")
    start, end = (round(each * rate) for each in about["timestamps"])
    assert not clean[start:end].any() and noisy[start:end].any()
    edge = round(0.05 * rate)
    assert np.array_equal(clean[: start - edge], noisy[: start - edge]) and np.array_equal(
        clean[end + edge :], noisy[end + edge :]
    )
    assert about["current_turn_text"] == "no wait please stop that now"
    assert {entry.task for entry in open_dataset(tmp_path / "out").entries} <= set(V15)


def test_without_a_right_to_the_audio_none_is_written(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.wav")) and len(list((tmp_path / "out").rglob("script.json"))) == 5


def test_the_right_to_sound_that_is_there_stays_written_down(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out", audio_allowed="CC BY 4.0")
    assert made(corpus, tmp_path / "out").audio == "CC BY 4.0"
    assert told(tmp_path / "out" / "harvest.json")["audio"] == "CC BY 4.0"


def test_an_item_that_cannot_be_written_is_not_counted(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "whole")
    name = first(tmp_path / "whole", "backchannel").name
    (tmp_path / "out" / "backchannel" / name).mkdir(parents=True)
    found = made(corpus, tmp_path / "out")
    assert [one for one, _ in found.failed] == [f"backchannel/{name}"]
    assert found.items == FOUND | {"backchannel": 0}
    assert told(tmp_path / "out" / "counts.json")["items"] == found.items
    assert told(tmp_path / "out" / "backchannel_reference.json") == {}


def test_a_release_becomes_the_same_items_byte_for_byte(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "whole", audio_allowed="mine")
    made(corpus, tmp_path / "release")
    # Who rebuilds needs the recordings alone, wherever they lie.
    (tmp_path / "theirs" / "disc1").mkdir(parents=True)
    shutil.copy(corpus / "sw04000.wav", tmp_path / "theirs" / "disc1" / "sw04000.wav")
    again = open_recordings(tmp_path / "theirs", format_of(tmp_path / "release"))
    built, rejected = rebuild_fdb(tmp_path / "release", again, folders=[tmp_path / "theirs"])
    assert (built.items, built.failed, rejected) == (5, (), 0)
    assert tree(tmp_path / "release") == tree(tmp_path / "whole")
    assert rebuild_fdb(tmp_path / "release", again)[0].kept == 5


def test_a_release_is_rebuilt_elsewhere_with_what_scoring_needs(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "release")
    before = tree(tmp_path / "release")
    rebuild_fdb(tmp_path / "release", open_corpus(corpus), tmp_path / "out")
    assert tree(tmp_path / "release") == before and (tmp_path / "out" / "backchannel_reference.json").is_file()


def test_another_recording_fails_its_items(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "release")
    samples, rate = audio.read_all(corpus / "sw04000.wav")
    audio.write(corpus / "sw04000.wav", samples * 0.5, rate)
    built, _ = rebuild_fdb(tmp_path / "release", open_corpus(corpus))
    assert built.items == 0 and len(built.failed) == 5 and "the one harvested" in built.failed[0][1]


@pytest.mark.parametrize(
    ("change", "told_so"),
    [
        ({"silence_after": -1}, "silence_after"),
        ({"silence_after": 1e6}, "0 to 600 s"),
        ({"user": {"side": 3, "start": 0, "end": 1, "sha256": None, "channel": 1}}, "side 1 or 2"),
        ({"user": {"side": 1, "start": 2, "end": 1, "sha256": None, "channel": 1}}, "the start before the end"),
        ({"user": {"side": 1, "start": 0, "end": 1, "sha256": "ab", "channel": None}}, "channel"),
        ({"parts": {"../../x.wav": [0, 1]}}, "parts by their names"),
        ({"erased": [[3, 2]]}, "the start before the end"),
    ],
)
def test_a_damaged_release_is_refused_in_a_sentence(
    corpus: Path, tmp_path: Path, change: dict[str, Any], told_so: str
) -> None:
    made(corpus, tmp_path / "release")
    path = first(tmp_path / "release", "pause_handling") / "script.json"
    script = told(path)
    script["recording"] |= change
    path.write_text(json.dumps(script))
    with pytest.raises(InputError, match=told_so):
        rebuild_fdb(tmp_path / "release", open_corpus(corpus))


def test_every_rebuilt_item_carries_the_licence_and_where_the_corpus_is(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out", asked={"licence": "LDC User Agreement"})
    for path in (tmp_path / "out").rglob("script.json"):
        script = told(path)
        assert script["licence"] == "LDC User Agreement" and "LDC97S62" in script["where"]


def test_nothing_that_is_written_names_the_conversation_or_a_person(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    made(corpus, tmp_path / "out", audio_allowed="mine", asked={"names": ("bo",)})
    for path in (tmp_path / "out").rglob("*"):
        assert "4000" not in path.name
        if path.suffix in (".json", ".jsonl"):
            text = path.read_text()
            assert "sw4000" not in text and "sw04000" not in text and str(tmp_path) not in text and '"bo"' not in text
    assert '"[name]"' in (first(tmp_path / "out", "user_interruption") / "output.json").read_text()


# --- rank, cap, people ---


def test_the_best_of_each_task_are_taken_up_to_the_cap(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", 3, sound=False)
    found = made(corpus, tmp_path / "out", cap=2)
    assert set(found.items.values()) == {2}
    assert found.retained["smooth_turn_taking"] == {
        "found": 12, "passed": 6, "items": 2, "of_passed": 0.3333, "of_found": 0.1667,
    }  # fmt: skip
    counts = told(tmp_path / "out" / "counts.json")["tasks"]["smooth_turn_taking"]["steps"]
    assert counts[-2] == {"filter": "the best by rank", "kept": 2, "dropped": {"2 are better": 4}}
    assert "33.3 %" in retention_table(found)


def test_no_cap_takes_all(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", 3, sound=False)
    assert made(corpus, tmp_path / "out", replace(V10, cap=1), cap=0).items["smooth_turn_taking"] == 6


def test_what_people_rejected_is_left_out_and_counted_and_nothing_takes_its_place(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", 2, sound=False)
    made(corpus, tmp_path / "out", cap=1)
    gone = first(tmp_path / "out", "pause_handling")
    other = first(tmp_path / "out", "backchannel")
    decisions = {f"pause_handling/{gone.name}": "reject", f"backchannel/{other.name}": "accept"}
    found = made(corpus, tmp_path / "out", cap=1, decisions=decisions)
    assert found.items["pause_handling"] == 0 and not gone.exists() and other.is_dir()
    assert found.decided == {"reject": 1, "accept": 1, "unjudged": 2} and found.written == 0
    steps = told(tmp_path / "out" / "counts.json")["tasks"]["pause_handling"]["steps"]
    assert steps[-1] == {"filter": "a person's decision", "kept": 0, "dropped": {"a person rejected it": 1}}


def test_what_people_rejected_is_not_rebuilt(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "release")
    key = f"pause_handling/{first(tmp_path / 'release', 'pause_handling').name}"
    built, rejected = rebuild_fdb(
        tmp_path / "release", open_corpus(corpus), tmp_path / "out", decisions={key: "reject"}
    )
    assert (built.items, rejected) == (4, 1) and not (tmp_path / "out" / "pause_handling").exists()


def test_what_was_rebuilt_before_it_was_rejected_is_silenced_in_the_release_and_gone_elsewhere(
    corpus: Path, tmp_path: Path
) -> None:
    made(corpus, tmp_path / "release")
    item = first(tmp_path / "release", "pause_handling")
    key = f"pause_handling/{item.name}"
    opened = open_corpus(corpus)
    rebuild_fdb(tmp_path / "release", opened, tmp_path / "out")
    rebuild_fdb(tmp_path / "release", opened)
    assert (item / "input.wav").is_file() and (tmp_path / "out" / key / "input.wav").is_file()
    for out in (None, tmp_path / "out"):
        built, rejected = rebuild_fdb(tmp_path / "release", opened, out, decisions={key: "reject"})
        assert (built.items, built.kept, rejected) == (4, 4, 1)
    assert not list(item.glob("*.wav")) and (item / "script.json").is_file()
    assert not (tmp_path / "out" / key).exists()


def test_a_decision_on_no_item_is_told(corpus: Path, tmp_path: Path) -> None:
    decisions = {"pause_handling/anoter": "reject"}
    assert made(corpus, tmp_path / "release", decisions=decisions).decided["on no item of these"] == 1
    built, rejected = rebuild_fdb(tmp_path / "release", open_corpus(corpus), decisions=decisions)
    assert built.strange == ("pause_handling/anoter",) and rejected == 0


@pytest.mark.parametrize("what", ["summary", "file", "item", "task"])
def test_a_release_with_a_link_out_of_it_is_refused_and_nothing_is_written_there(
    corpus: Path, tmp_path: Path, what: str
) -> None:
    made(corpus, tmp_path / "release")
    item = first(tmp_path / "release", "pause_handling")
    counts = tmp_path / "release" / "counts.json"
    linked = {"summary": counts, "file": item / "pause.json", "item": item, "task": item.parent}[what]
    linked.rename(tmp_path / "elsewhere")
    linked.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="a link out of the release"):
        rebuild_fdb(tmp_path / "release", open_corpus(corpus), tmp_path / "out")
    with pytest.raises(InputError, match="a link out of the release"):
        rebuild_fdb(tmp_path / "release", open_corpus(corpus))
    assert not (tmp_path / "out").exists()
    assert not [*(tmp_path / "elsewhere").rglob("*.wav"), *(tmp_path / "release").rglob("*.wav")]


def test_counts_by_task_and_corpus_are_a_table(tmp_path: Path) -> None:
    one = write_corpus(tmp_path / "one", sound=False)
    two = write_corpus(tmp_path / "two", 2, sound=False)
    made(one, tmp_path / "first")
    made(two, tmp_path / "second")
    rows = table_by_corpus([tmp_path / "first", tmp_path / "second"]).splitlines()
    assert rows[0].split() == ["task", "first", "second"]
    assert rows[2].split() == ["smooth_turn_taking", "2", "4"] and rows[-1].split() == ["all", "5", "10"]
    with pytest.raises(InputError, match="counts of a harvest"):
        (tmp_path / "counts.json").write_text("[]")
        table_by_corpus([tmp_path])


# --- going on ---


def test_a_harvest_that_was_stopped_goes_on_and_ends_as_one_that_was_not(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", 3)
    made(corpus, tmp_path / "whole", audio_allowed="mine")
    opened, asked = open_corpus(corpus), Asked("mine", V10, tmp_path / "out")

    def stops(names: Any) -> Any:
        for name in names[:2]:
            survey(opened, name, asked)
            yield name, ""
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        harvest_fdb(opened, asked, surveys=stops, audio_allowed="mine")
    there = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / ".survey").iterdir()}
    assert len(there) == 2 and not (tmp_path / "out" / "pause_handling").exists()
    assert made(corpus, tmp_path / "out", audio_allowed="mine").items == {k: 3 * n for k, n in FOUND.items()}
    assert all(path.stat().st_mtime_ns == when for path, when in there.items())
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")
    for name in ("counts.json", "harvest.json", "dropped.jsonl", "backchannel_reference.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_damaged_survey_is_made_again(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out")
    (path,) = (tmp_path / "out" / ".survey").iterdir()
    for damage in (b"", b"nonsense\n", path.read_bytes()[:-40]):
        path.write_bytes(damage)
        assert made(corpus, tmp_path / "out").items == FOUND


def test_other_rules_need_another_folder(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out")
    with pytest.raises(InputError, match="choose another --out"):
        made(corpus, tmp_path / "out", replace(V10, lead=0))


def test_a_folder_with_other_things_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="other things"):
        made(corpus, tmp_path / "out")


def test_the_wizard_s_side_has_to_be_told(corpus: Path, tmp_path: Path) -> None:
    media = replace(V10, system="told")
    with pytest.raises(InputError, match="--system-side"):
        made(corpus, tmp_path / "out", media)
    found = made(corpus, tmp_path / "out", media, asked={"system_side": 2})
    assert found.items["smooth_turn_taking"] == 1
    assert {told(path)["recording"]["partner"]["side"] for path in (tmp_path / "out").rglob("script.json")} == {2}


def test_a_conversation_that_cannot_be_read_fails_alone(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", 2, sound=False)
    (corpus / "sw4001A-ms98-a-word.text").write_text("nonsense\n")
    found = made(corpus, tmp_path / "out")
    assert found.items == FOUND and [name for name, _ in found.failed] == ["sw4001"]


class _Energy:
    """A detector that hears wherever a tone sounds."""

    spec, rate = Spec("energy-of-tests"), 8_000

    def detect(self, tracks: Any) -> Any:
        return [[[one.start / 1e6, one.end / 1e6] for one in _sounding(samples)] for samples in tracks]


def _sounding(samples: Any) -> Timeline:
    frames = np.abs(samples[: len(samples) // 80 * 80]).reshape(-1, 80).max(1) > 0.01
    return Timeline(Span(n * 10_000, n * 10_000 + 10_000) for n in np.flatnonzero(frames).tolist())


class _Hears:
    """A recogniser that hears a token in whatever it is given."""

    spec, languages = Spec("hears"), ("en",)

    def recognise(self, samples: Any, rate: int, language: str = "en") -> Heard:
        return Heard((Token("mm-hmm", 0.5, len(samples) / rate - 0.5),))


def test_words_are_added_where_a_transcript_has_none_and_somebody_is_heard(corpus: Path, tmp_path: Path) -> None:
    words = corpus / "sw4000B-ms98-a-word.text"
    words.write_text("".join(f"{line}\n" for line in words.read_text().splitlines() if "uh-huh" not in line))

    def harvested(out: str, recogniser: _Hears | None, **asked: Any) -> FdbHarvested:
        ears = Ears(_Energy(), recogniser, "en", tmp_path / "cache")
        return harvest_fdb(
            open_corpus(corpus), Asked("mine", V10, tmp_path / out, **asked), ears=lambda with_words: ears
        )

    assert harvested("as-it-is", None).items["backchannel"] == 0
    # Heard without words, it may be a backchannel; its words are not known.
    assert harvested("heard", None, listen=True).items["backchannel"] == 1
    found = harvested("filled", _Hears(), fill=True)
    assert (found.items["backchannel"], found.restored, found.words) == (1, 1, 91)
    said = told(first(tmp_path / "filled", "backchannel") / "output.json")["text"]
    assert said == "mm-hmm" and told(tmp_path / "filled" / "counts.json")["words_restored"] == 1


def test_channels_of_one_sound_are_refused_where_they_are_listened_to(corpus: Path, tmp_path: Path) -> None:
    samples, rate = audio.read_all(corpus / "sw04000.wav")
    audio.write(corpus / "sw04000.wav", np.repeat(samples[:, :1], 2, axis=1), rate)
    ears = Ears(_Energy(), None, "en", tmp_path / "cache")
    with pytest.raises(InputError, match="the same sound"):
        made(corpus, tmp_path / "out", asked={"listen": True}, ears=lambda with_words: ears)


class _Named:
    """A corpus with one conversation of a hostile name."""

    format, root, licence, origin, setting = "switchboard", Path(), "", "", ""
    remarks: tuple[str, ...] = ()
    names = ("../../<script>\x00\x1b[31m",)

    def recordings(self, name: str) -> tuple[Recording | None, Recording | None]:
        return None, None

    def read(self, name: str) -> Conversation:
        a, b = partners()
        return Conversation(name, (replace(a.side(), name="../x"), replace(b.side(), name="<b>")), "en")


def test_hostile_names_lead_nowhere(tmp_path: Path) -> None:
    found = harvest_fdb(_Named(), Asked("mine", V10, tmp_path / "a" / "out"))
    assert found.items == FOUND
    assert [path.name for path in tmp_path.iterdir()] == ["a"] and [
        path.name for path in (tmp_path / "a").iterdir()
    ] == ["out"]
    assert not any("script>" in path.read_text() or "../" in path.read_text() for path in tmp_path.rglob("*.json"))


# --- real conversations ---


def test_french_timing_items_come_from_words(tmp_path: Path) -> None:
    source = SHARED / "french" / "rhapsodie"
    if not source.is_dir():
        pytest.skip("Rhapsodie's words are not at hand")
    opened = open_corpus(source, language="fr")
    found = harvest_fdb(opened, Asked("french-callfc", FDB_RULES["french-callfc"], tmp_path / "out", "fr"))
    assert found.items["pause_handling"] > 10 and found.items["backchannel"] > 10
    for path in (tmp_path / "out" / "smooth_turn_taking").glob("*/turn_taking.json"):
        ((start, end),) = [one["timestamp"] for one in told(path)]
        assert 0 <= end - start < 1.0
    assert not any("Branca" in path.read_text() for path in (tmp_path / "out").rglob("*.json"))


def test_french_timing_items_come_from_speaker_turns_alone(tmp_path: Path) -> None:
    source = SHARED / "human_human_timing" / "callfriend_callhome_rttm" / "CallFriendFrench"
    if not source.is_dir():
        pytest.skip("CallFriend's turns are not at hand")
    opened = open_corpus(source, language="fr")
    found = harvest_fdb(opened, Asked("french-callfc", FDB_RULES["french-callfc"], tmp_path / "out", "fr"))
    # In these files one line begins where another ends, whoever speaks: no silence is left for a pause, no overlap was
    # measured, and one gap.
    assert {**found.items, "backchannel": 0} == {
        "pause_handling": 0, "smooth_turn_taking": 1, "backchannel": 0, "user_interruption": 0,
    }  # fmt: skip
    cut = dict(found.funnels)["user_interruption"].reasons["edges that were measured"]
    assert cut == {"its edge was cut, not measured": 57}
    ((name, doubt),) = found.doubts
    assert name == "5136" and "432 of 558 floor transfers" in doubt
    (kept,) = told(tmp_path / "out" / "counts.json")["doubts"]
    assert kept["doubt"] == doubt and "5136" not in kept["conversation"]
    folder = first(tmp_path / "out", "smooth_turn_taking")
    assert (
        set(told(folder / "vad.json")) == {"input", "output"}
        and told(folder / "script.json")["turns"]["user"] == "speech alone"
    )
    assert told(folder / "script.json")["doubts"] == [doubt]
