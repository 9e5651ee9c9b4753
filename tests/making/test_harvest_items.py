"""A harvest on disk: its items, its counts, its annotations alone, and the same items again from the corpus."""

from __future__ import annotations

import json
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.making.talked import Person, talkers, write_ms98

from fullduplex.data import audio
from fullduplex.data.corpora.conversation import Conversation, Recording
from fullduplex.data.corpora.opened import open_corpus, open_recordings
from fullduplex.data.interactions import read_interaction
from fullduplex.errors import InputError
from fullduplex.listening.recognisers import Heard
from fullduplex.making.harvest.harvest import Harvested, harvest
from fullduplex.making.harvest.hearing import Ears, how_alike, placed
from fullduplex.making.harvest.item import Sounds
from fullduplex.making.harvest.rebuild import format_of, rebuild
from fullduplex.making.harvest.semantics import ByRule
from fullduplex.model.spans import Span, Timeline, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Token, Word

SHARED = Path(__file__).parents[3] / "shared" / "data"
FOUND = {
    "wait_intra_pause": 1, "wait_inter_pause": 1, "wait_continuous": 1, "backchannel_affirmative": 1,
    "take_turn_slight_overlap": 1,
}  # fmt: skip


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_ms98(tmp_path / "corpus", 4000, *talkers(), sound=True)
    return tmp_path / "corpus"


def made(corpus: Path, out: Path, **options: Any) -> Harvested:
    return harvest(open_corpus(corpus), out, **options)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.glob("da_*/*/*"))}


def item(out: Path, condition: str) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    (folder,) = (out / f"da_{condition}").iterdir()
    return (
        folder,
        json.loads((folder / "interaction.json").read_text()),
        json.loads((folder / "script.json").read_text()),
    )


def test_one_item_of_each_kind_is_made_and_can_be_read(corpus: Path, tmp_path: Path) -> None:
    found = made(corpus, tmp_path / "out", audio_allowed="mine")
    assert found.items == FOUND
    for condition in FOUND:
        folder, told, script = item(tmp_path / "out", condition)
        assert read_interaction(folder / "interaction.json")["scenario"] == condition
        assert (told["origin"], told["setting"], told["instructed"]) == ("recorded", "casual", "not")
        assert script["semantic"] == "rule" and "no prosody" in told["notes"]
        assert sorted(path.name for path in folder.iterdir()) == [
            "cues.json",
            "interaction.json",
            "script.json",
            "u0.wav",
        ]


def test_the_sound_is_the_speaker_s_channel_alone_untouched(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out", audio_allowed="mine")
    folder, told, script = item(tmp_path / "out", "backchannel_affirmative")
    samples, rate = audio.read(folder / "u0.wav")
    whole, _ = audio.read(corpus / "sw04000.wav", 0)
    first = round(script["recording"]["start"] * rate)
    assert rate == 8_000 and np.array_equal(samples, whole[first : first + len(samples)])
    # 150 ms before the first word at 38 s; the listener's own sound is on the other channel, where the mark says.
    assert script["recording"]["start"] == 37.85 and script["recording"]["channel"] == 1
    (mark,) = told["marks"]
    assert (mark["kind"], mark["text"], mark["start"], mark["end"]) == ("backchannel", "uh-huh", 1.75, 2.0)


def test_a_pause_is_marked_where_it_is_heard(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out", audio_allowed="mine")
    folder, told, _ = item(tmp_path / "out", "wait_intra_pause")
    samples, rate = audio.read(folder / "u0.wav")
    (mark,) = told["marks"]
    assert (mark["start"], mark["end"]) == (1.65, 2.15)
    assert not samples[round(1.65 * rate) : round(2.15 * rate)].any()
    assert samples[round(1.55 * rate) : round(1.65 * rate)].any() and samples[round(2.15 * rate) :].any()


def test_continuous_speech_is_marked_from_its_first_word_to_its_last(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out")
    (mark,) = item(tmp_path / "out", "wait_continuous")[1]["marks"]
    assert (mark["start"], mark["end"]) == (0.15, 3.15)


def test_an_entry_is_marked_from_the_answer_s_start_to_the_turn_s_end(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out")
    (mark,) = item(tmp_path / "out", "take_turn_slight_overlap")[1]["marks"]
    assert (mark["kind"], mark["start"], mark["end"], mark["text"]) == ("entry", 1.75, 2.15, "you know")


def test_without_a_right_to_the_audio_no_sound_is_written_but_where_it_is(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.wav"))
    _, _, script = item(tmp_path / "out", "wait_intra_pause")
    assert script["recording"]["conversation"] == "sw4000" and len(script["recording"]["sha256"]) == 64
    assert json.loads((tmp_path / "out" / "harvest.json").read_text())["audio"] is None


def test_by_what_right_sound_was_written_is_written_down(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out", audio_allowed="CC BY 4.0")
    assert json.loads((tmp_path / "out" / "harvest.json").read_text())["audio"] == "CC BY 4.0"


def test_a_release_becomes_the_same_items_byte_for_byte(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "whole", audio_allowed="mine")
    made(corpus, tmp_path / "release")
    # Who rebuilds needs the recordings alone, wherever they lie.
    (tmp_path / "theirs" / "disc1").mkdir(parents=True)
    shutil.copy(corpus / "sw04000.wav", tmp_path / "theirs" / "disc1" / "sw04000.wav")
    again = open_recordings(tmp_path / "theirs", format_of(tmp_path / "release"))
    assert rebuild(tmp_path / "release", again).items == 5
    assert tree(tmp_path / "release") == tree(tmp_path / "whole")
    assert rebuild(tmp_path / "release", again).kept == 5


def test_a_release_is_rebuilt_elsewhere_and_stays_as_it_is(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "release")
    before = tree(tmp_path / "release")
    rebuild(tmp_path / "release", open_corpus(corpus), tmp_path / "out")
    assert tree(tmp_path / "release") == before and len(tree(tmp_path / "out")) == 20


def test_a_release_with_an_item_that_lies_elsewhere_is_refused_and_nothing_is_written_there(
    corpus: Path, tmp_path: Path
) -> None:
    made(corpus, tmp_path / "release")
    item = next(path.parent for path in sorted((tmp_path / "release").glob("da_*/*/script.json")))
    item.rename(tmp_path / "elsewhere")
    item.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="a link out of the release"):
        rebuild(tmp_path / "release", open_corpus(corpus))
    assert not [*(tmp_path / "elsewhere").rglob("*.wav"), *(tmp_path / "release").rglob("*.wav")]


def test_another_recording_of_that_name_fails_its_items(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "release")
    samples, rate = audio.read_all(corpus / "sw04000.wav")
    audio.write(corpus / "sw04000.wav", samples * 0.5, rate)
    done = rebuild(tmp_path / "release", open_corpus(corpus))
    assert done.items == 0 and len(done.failed) == 5 and "the one harvested" in done.failed[0][1]


def test_a_release_of_words_alone_says_that_it_cannot_check_the_recording(tmp_path: Path) -> None:
    write_ms98(tmp_path / "words", 4000, *talkers())
    made(tmp_path / "words", tmp_path / "release")
    write_ms98(tmp_path / "sound", 4000, *talkers(), sound=True)
    done = rebuild(tmp_path / "release", open_corpus(tmp_path / "sound"))
    assert (done.items, done.unchecked) == (5, 5)


def test_audio_of_a_corpus_without_recordings_is_a_sentence(tmp_path: Path) -> None:
    write_ms98(tmp_path / "words", 4000, *talkers())
    with pytest.raises(InputError, match="no recording of it"):
        made(tmp_path / "words", tmp_path / "out", audio_allowed="mine")


def test_every_candidate_is_kept_or_dropped_with_a_reason(corpus: Path, tmp_path: Path) -> None:
    found = made(corpus, tmp_path / "out")
    dropped = [json.loads(line) for line in (tmp_path / "out" / "dropped.jsonl").read_text().splitlines()]
    assert all(one["reason"] and one["filter"] for one in dropped)
    assert sum(funnel.candidates for _, funnel in found.funnels) == len(dropped) + sum(FOUND.values())
    counts = json.loads((tmp_path / "out" / "counts.json").read_text())["conditions"]
    for told in counts.values():
        before = told["candidates"]
        for step in told["steps"]:
            assert before == step["kept"] + sum(step["dropped"].values())
            before = step["kept"]


def test_the_rule_for_backchannels_is_held_against_the_corpus_own_acts(corpus: Path, tmp_path: Path) -> None:
    told = made(corpus, tmp_path / "out").against.to_json()
    assert told is not None and told["acts"] == 1
    assert told["rules"]["structure and words"] == {
        "taken": 1, "right": 1, "precision": 1.0, "precision_with_kin": 1.0, "found": 1, "recall": 1.0,
    }  # fmt: skip


def test_an_act_that_is_no_backchannel_counts_against_the_rule(tmp_path: Path) -> None:
    a = Person("A").at(1.0, "it rained on the first day / sd (0.3) and then the sun came out / sd")
    write_ms98(tmp_path / "c", 4000, a, Person("B").at(2.6, "right / sd"))
    b = Person("B").at(2.6, "the potato / b").at(9.0, "yeah / b")
    write_ms98(tmp_path / "c", 4001, a, b)
    told = made(tmp_path / "c", tmp_path / "out").against.to_json()
    assert told is not None
    structure, words = told["rules"]["structure"], told["rules"]["structure and words"]
    assert (structure["taken"], structure["precision"], structure["recall"]) == (2, 0.5, 0.5)
    assert (words["taken"], words["precision"], words["recall"]) == (1, 0.0, 0.0)
    assert told["missed"] == {"words": 1, "begins outside of the other's turn": 1}


def test_a_second_harvest_makes_nothing_again(corpus: Path, tmp_path: Path) -> None:
    assert made(corpus, tmp_path / "out", audio_allowed="mine").written == 5
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("da_*/*/*")}
    assert made(corpus, tmp_path / "out", audio_allowed="mine").written == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("da_*/*/*")} == before


def test_items_that_a_changed_corpus_has_no_more_are_removed(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out", audio_allowed="mine")
    a, b = talkers()
    a.words = [replace(word, span=word.span.shift(ms(40))) for word in a.words]
    write_ms98(corpus, 4000, a, b, sound=True)
    found = made(corpus, tmp_path / "out", audio_allowed="mine")
    made(corpus, tmp_path / "fresh", audio_allowed="mine")
    assert tree(tmp_path / "out") == tree(tmp_path / "fresh")
    assert sum(found.items.values()) == len(list((tmp_path / "out").glob("da_*/*")))


def test_what_harvest_did_not_make_is_never_removed(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out")
    mine = tmp_path / "out" / "da_wait_continuous" / "mine"
    mine.mkdir()
    (mine / "interaction.json").write_text("{}")
    made(corpus, tmp_path / "out")
    assert (mine / "interaction.json").read_text() == "{}"


def test_the_right_to_sound_that_is_there_stays_written_down(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out", audio_allowed="CC BY 4.0")
    found = made(corpus, tmp_path / "out")
    assert found.audio == "CC BY 4.0" and len(list((tmp_path / "out").rglob("u0.wav"))) == 5
    assert json.loads((tmp_path / "out" / "harvest.json").read_text())["audio"] == "CC BY 4.0"


def test_an_item_that_cannot_be_written_fails_alone_and_is_not_counted(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "da_wait_continuous").mkdir(parents=True)
    made(corpus, tmp_path / "first")
    folder, _, _ = item(tmp_path / "first", "wait_continuous")
    (tmp_path / "out" / "da_wait_continuous" / folder.name).mkdir()
    found = made(corpus, tmp_path / "out")
    assert "wait_continuous" not in found.items and sum(found.items.values()) == 4
    ((name, why),) = found.failed
    assert name == f"da_wait_continuous/{folder.name}" and "a folder that harvest did not make" in why
    assert json.loads((tmp_path / "out" / "counts.json").read_text())["items"] == found.items


def test_a_clip_that_the_recording_ends_within_is_not_cut_short(corpus: Path, tmp_path: Path) -> None:
    recording = Recording(corpus / "sw04000.wav", 0)
    lasts = audio.probe(recording.file).duration / 1e6
    samples, rate, _ = Sounds().cut(recording, lasts - 1, lasts + 0.1, lasts - 0.1)
    assert len(samples) == rate
    with pytest.raises(InputError, match=r"s of sound, expected sound from .* s to"):
        Sounds().cut(recording, lasts - 1, lasts + 0.5, lasts + 0.25)


def test_a_release_of_another_recording_that_is_too_short_fails_its_last_items(corpus: Path, tmp_path: Path) -> None:
    write_ms98(tmp_path / "words", 4000, *talkers())
    made(tmp_path / "words", tmp_path / "release")
    samples, rate = audio.read_all(corpus / "sw04000.wav")
    (tmp_path / "theirs").mkdir()
    audio.write(tmp_path / "theirs" / "sw04000.wav", samples[: 28 * rate], rate)
    done = rebuild(tmp_path / "release", open_recordings(tmp_path / "theirs", "switchboard"))
    assert (done.items, len(done.failed)) == (2, 3)
    for folder in (tmp_path / "release").glob("da_*/*"):
        if (folder / "u0.wav").exists():
            read_interaction(folder / "interaction.json")


def test_annotations_get_their_sound_later(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out")
    assert made(corpus, tmp_path / "out", audio_allowed="mine").written == 5
    made(corpus, tmp_path / "at_once", audio_allowed="mine")
    assert tree(tmp_path / "out") == tree(tmp_path / "at_once")


def test_an_item_that_lost_a_file_is_made_again(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out", audio_allowed="mine")
    folder, _, _ = item(tmp_path / "out", "wait_intra_pause")
    (folder / "u0.wav").unlink()
    assert made(corpus, tmp_path / "out", audio_allowed="mine").written == 1


def test_a_harvest_of_another_make_is_refused_and_what_differs_is_named(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out")
    with pytest.raises(InputError, match="setting: found 'casual', expected 'meeting'; choose another --out"):
        made(corpus, tmp_path / "out", setting="meeting")


def test_a_folder_with_other_things_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="a folder with other things in it"):
        made(corpus, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_one_unreadable_conversation_fails_and_the_others_are_harvested(corpus: Path, tmp_path: Path) -> None:
    write_ms98(corpus, 4001, *talkers())
    (corpus / "sw4001A-ms98-a-word.text").write_text("nonsense\n")
    found = made(corpus, tmp_path / "out")
    assert found.conversations == 1 and [name for name, _ in found.failed] == ["sw4001"]


def test_a_limit_holds_for_each_condition_and_stops_reading(corpus: Path, tmp_path: Path) -> None:
    for number in range(4001, 4005):
        write_ms98(corpus, number, *talkers())
    found = made(corpus, tmp_path / "out", limit=1)
    assert all(n == 1 for n in found.items.values())
    assert found.items == FOUND


def test_items_of_one_conversation_end_alike_and_are_one_cluster(corpus: Path, tmp_path: Path) -> None:
    from fullduplex.data.discover import open_dataset

    write_ms98(corpus, 4001, *talkers(), sound=True)
    made(corpus, tmp_path / "out", audio_allowed="mine")
    entries = open_dataset(tmp_path / "out").entries
    assert len(entries) == 10 and len({entry.group for entry in entries}) == 2
    assert {entry.task for entry in entries} == {f"da_{name}" for name in FOUND}


# --- what is heard ---


class Energy:
    """Hears speech wherever there is sound."""

    spec, rate = Spec("energy"), 8_000

    def detect(self, batch: Any) -> list[tuple[tuple[float, float], ...]]:
        found = []
        for samples in batch:
            loud = np.abs(samples).reshape(-1, 80).max(axis=1) > 0.01
            edges = np.flatnonzero(np.diff(np.concatenate([[False], loud, [False]]).astype(int)))
            found.append(tuple(zip((edges[::2] / 100).tolist(), (edges[1::2] / 100).tolist(), strict=True)))
        return found


class Reads:
    """A recogniser that reads from a script, by the loudest side."""

    spec, languages = Spec("reads"), ("en",)

    def __init__(self, *people: Person) -> None:
        self.people, self.asked = list(people), 0

    def recognise(self, samples: Any, rate: int, language: str = "en") -> Heard:
        person = self.people[self.asked % 2]
        self.asked += 1
        ends = {act.last - 1 for act in person.acts}
        return Heard(tuple(
            Token(word.text + "." * (n in ends), word.span.start / 1e6, word.span.end / 1e6)
            for n, word in enumerate(person.words)
        ))  # fmt: skip


def test_recordings_without_words_are_heard_once_and_harvested(tmp_path: Path) -> None:
    a, b = talkers()
    write_ms98(tmp_path / "c", 4000, a, b, sound=True)
    (tmp_path / "audio").mkdir()
    (tmp_path / "c" / "sw04000.wav").rename(tmp_path / "audio" / "call.wav")
    reads = Reads(a, b)
    ears = Ears(Energy(), reads, "en", tmp_path / "cache")
    found = made(tmp_path / "audio", tmp_path / "out", ears=lambda: ears, audio_allowed="mine", setting="meeting")
    assert found.items["wait_intra_pause"] == 1 and found.items["backchannel_affirmative"] == 1
    _, told, script = item(tmp_path / "out", "wait_intra_pause")
    assert told["setting"] == "meeting" and script["sentences"] == "punctuation" and script["words"] == "reads"
    made(tmp_path / "audio", tmp_path / "out", ears=lambda: ears, audio_allowed="mine", setting="meeting")
    assert reads.asked == 2


def test_speech_without_a_word_is_heard_once_more_by_itself(tmp_path: Path) -> None:
    a, b = talkers()
    write_ms98(tmp_path / "c", 4000, a, b, sound=True)
    (tmp_path / "audio").mkdir()
    (tmp_path / "c" / "sw04000.wav").rename(tmp_path / "audio" / "call.wav")

    class Deaf(Reads):
        """Passes over the listener's token, unless it is heard alone."""

        def recognise(self, samples: Any, rate: int, language: str = "en") -> Heard:
            if len(samples) < 2 * rate:
                self.asked += 1
                return Heard((Token("uh-huh", 0.4, 0.9),))
            tokens = super().recognise(samples, rate, language).tokens
            return Heard(tuple(token for token in tokens if not token.text.startswith("uh-huh")))

    ears = Ears(Energy(), Deaf(a, b), "en", tmp_path / "cache")
    found = made(tmp_path / "audio", tmp_path / "out", ears=lambda: ears)
    assert found.items["backchannel_affirmative"] == 1
    (mark,) = item(tmp_path / "out", "backchannel_affirmative")[1]["marks"]
    assert (mark["text"], mark["start"], mark["end"]) == ("uh-huh", 1.75, 2.0)


def test_two_channels_of_one_sound_are_no_conversation(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(0, 0.1, 16_000).astype(np.float32)
    audio.write(tmp_path / "same.wav", np.stack([noise, 0.5 * np.roll(noise, 400)], axis=1), 8_000)
    ears = Ears(Energy(), Reads(Person("A"), Person("B")), "en", tmp_path / "cache")
    with pytest.raises(InputError, match="carry the same sound"):
        made(tmp_path, tmp_path.parent / "out", ears=lambda: ears)
    assert how_alike(Recording(tmp_path / "same.wav", 0), Recording(tmp_path / "same.wav", 1)) > 0.9


def test_so_are_two_channels_of_one_sound_beside_words(corpus: Path, tmp_path: Path) -> None:
    samples, rate = audio.read_all(corpus / "sw04000.wav")
    audio.write(corpus / "sw04000.wav", np.repeat(samples.sum(axis=1, keepdims=True) / 2, 2, axis=1), rate)
    with pytest.raises(InputError, match="carry the same sound"):
        made(corpus, tmp_path / "out")


def test_a_rebuilt_item_is_from_the_channel_that_was_harvested(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "whole", audio_allowed="mine")
    made(corpus, tmp_path / "release")

    class Exchanged:
        """The same corpus, of which somebody says that its channels are the other way round."""

        root = corpus

        def recordings(self, name: str) -> Any:
            return open_corpus(corpus).recordings(name)[::-1]

    exchanged: Any = Exchanged()
    assert rebuild(tmp_path / "release", exchanged).items == 5
    assert tree(tmp_path / "release") == tree(tmp_path / "whole")


def test_a_hostile_name_leads_nowhere(corpus: Path, tmp_path: Path) -> None:
    class Hostile:
        """The same corpus under a name that climbs."""

        def __init__(self) -> None:
            self.under = open_corpus(corpus)
            self.format, self.root, self.names = "switchboard", corpus, ("../../<script>\x1b",)
            self.licence = self.origin = self.setting = ""
            self.remarks = ()

        def recordings(self, name: str) -> Any:
            return self.under.recordings("sw4000")

        def read(self, name: str) -> Conversation:
            return Conversation(name, self.under.read("sw4000").sides, "en")

    found = harvest(Hostile(), tmp_path / "deep" / "er" / "out", audio_allowed="mine")
    assert sum(found.items.values()) == 5
    assert {path.name for path in tmp_path.iterdir()} == {"corpus", "deep"}
    assert len(list((tmp_path / "deep" / "er" / "out").glob("da_*/*/u0.wav"))) == 5


def test_the_rule_is_the_default_and_says_so(corpus: Path, tmp_path: Path) -> None:
    made(corpus, tmp_path / "out")
    told = json.loads((tmp_path / "out" / "harvest.json").read_text())
    assert told["asked"]["semantic"] == ByRule.of("en").by == "rule"


def words(*spans: tuple[float, float]) -> list[Word]:
    return [Word("go", Span(seconds(start), seconds(end))) for start, end in spans]


@pytest.mark.parametrize(
    ("spans", "speech", "expected"),
    [
        # A word that lasts into silence is cut, one that begins late begins with its speech.
        ([(1.0, 2.0)], [(1.0, 1.6)], [(1.0, 1.6)]),
        ([(1.1, 1.6)], [(1.0, 1.7)], [(1.0, 1.7)]),
        # Speech whose edge is further away than is looked is other speech, too.
        ([(1.3, 1.6)], [(1.0, 2.0)], [(1.3, 1.6)]),
        # No edge moves into the next word, and a word in silence stays.
        ([(1.0, 1.3), (1.4, 1.8)], [(1.0, 1.8)], [(1.0, 1.4), (1.4, 1.8)]),
        ([(3.0, 3.2)], [(1.0, 1.8)], [(3.0, 3.2)]),
    ],
)
def test_a_heard_word_ends_where_its_speech_does(
    spans: list[tuple[float, float]], speech: list[tuple[float, float]], expected: list[tuple[float, float]]
) -> None:
    heard = Timeline(Span(seconds(start), seconds(end)) for start, end in speech)
    assert [word.span for word in placed(words(*spans), heard)] == [word.span for word in words(*expected)]


def test_on_switchboard_the_rule_finds_what_people_called_backchannels(tmp_path: Path) -> None:
    """What was measured when the word list was drawn up, on the same conversations: a floor, not a promise."""
    packed = SHARED / "human_human_timing" / "switchboard_ms98" / "swb_ms98_45conv.tar.gz"
    if not packed.is_file():
        pytest.skip("no switchboard_ms98 in the shared data beside the checkout")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path / "swb", filter="data")
    found = made(tmp_path / "swb", tmp_path / "out")
    told = found.against.to_json()
    assert found.conversations == 45 and told is not None and told["acts"] == 1_525
    assert told["rules"]["structure and words"]["precision"] > 0.75
    assert told["rules"]["structure and words"]["recall"] > 0.55
    assert found.items["backchannel_affirmative"] > 100 and found.items["take_turn_slight_overlap"] > 15
    assert not list((tmp_path / "out").rglob("*.wav"))


def test_a_word_within_the_one_before_it_keeps_its_place() -> None:
    words = [Word("right", Span(ms(100), ms(900))), Word("so", Span(ms(300), ms(500)))]
    found = placed(words, Timeline((Span(ms(120), ms(880)),)))
    assert [word.span for word in found] == [Span(ms(120), ms(880)), Span(ms(300), ms(500))]
