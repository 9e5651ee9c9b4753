"""Interaction scripts become items: what the user plays and when, where the trigger words lie, what is kept."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import fullduplex.cli.interactions  # noqa: F401  adds its command
from fullduplex import cli
from fullduplex.data import audio
from fullduplex.data.check import check
from fullduplex.data.discover import open_dataset
from fullduplex.data.interactions import read_interaction
from fullduplex.data.official import INTERACTION_TASKS
from fullduplex.driving.clock import run_virtual
from fullduplex.driving.drive import Talk, drive
from fullduplex.engines import each, open_engine
from fullduplex.errors import InputError
from fullduplex.listening.recognisers import Heard
from fullduplex.making import interaction_review
from fullduplex.making.interaction_cues import BACKCHANNELS, PROMPT, Timing, backchannels
from fullduplex.making.interaction_item import MadeInteraction, word_span
from fullduplex.making.interaction_items import dealt, make_interactions, plan_interactions
from fullduplex.making.interaction_review import ReviewTask, distance, hear_item, spelt
from fullduplex.making.interaction_script import read_interactions, shipped
from fullduplex.model.spans import SECOND, Span, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Token, Word
from fullduplex.providers.voices import AUDIBLE, LEVEL
from fullduplex.runs.stimulus import read_cues
from fullduplex.runs.user import part
from fullduplex.systems.scripted import Answer, Script, Scripted, Sound

pytest.importorskip("hibari", reason="hibari-tts is not installed")
POOL = [Spec("hibari"), Spec("hibari", {"pitch": 0.85})]
USER = {"who": "user"}
BACK = {"who": "assistant", "text": "All right."}


def item(category: str, text: str, word: str = "", *, id: str = "01", **more: Any) -> dict[str, Any]:
    anchor = {"line": 0, "word": word} if word else None
    lines = [{**USER, "text": text}, BACK]
    return {"id": id, "scenario": category, "category": category, "lines": lines, "anchor": anchor} | more


ITEMS = [
    item("pause", "I was hoping to [pause 1.3] see it, can I?", "to", target="it"),
    item("grammar", "Correct me. She goed home early, with her dog.", "goed", target="went", notes="accent: Spanish"),
    item("user_backchannel", "Tell me how bread is made."),
    item("volume", "Where are my keys?", "keys", lines=[{**USER, "text": "Where are my keys?", "style": "whispered"}]),
    item("interruption", "How do bees live?",
         lines=[{**USER, "text": "How do bees live?"}, BACK, {**USER, "text": "No, wasps."}, BACK],
         anchor={"line": 2, "word": "wasps"}),
    item("alternating_count", "", lines=[{**USER, "text": "You and I count. One."}, BACK, {**USER, "text": "Three."}],
         anchors=[{"line": 0, "word": "One"}, {"line": 2, "word": "Three"}], targets=["two", "four"]),
    item("groundedness", "", lines=[{**USER, "text": "We need milk."}, BACK, {**USER, "text": "And eggs."}, BACK,
         {**USER, "text": "What do we need?", "probe": {"type": "recall", "expected": "milk and eggs"}}], anchor=None),
    item("logic", "What is two plus two?", "two", target="four", id="../../x <b>\x07"),
]  # fmt: skip


def script(folder: Path, *items: Any) -> Path:
    path = folder / "mine.json"
    path.write_text(json.dumps({"schema": 1, "items": items or ITEMS}))
    return path


def make(source: Path, out: Path, voices: Any = (), **given: Any) -> tuple[MadeInteraction, ...]:
    made = make_interactions(plan_interactions(source, out, voices or POOL, **given), out)
    assert not made.failed, made.failed
    return made.items


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("interactions")
    make(script(folder), folder / "items")
    return folder / "items"


def told(made: Path, scenario: str, id: str = "01") -> dict[str, Any]:
    return read_interaction(made / f"ib_{scenario}" / id / "interaction.json")


def cues(made: Path, scenario: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((made / f"ib_{scenario}" / "01" / "cues.json").read_text())
    return found


def talk(made: Path, scenario: str, system: Scripted) -> Talk:
    """Hold the talk of an item on the virtual clock, with the driver that runs use."""
    asked = read_cues(made / f"ib_{scenario}" / "01" / "cues.json")
    its = part(asked, system.traits, seed=0, attempt=1, language="en", cache=made)
    return run_virtual(drive(system, its.user, length=its.length, hang_up=asked.hang_up))


def answering(length: int, delay: int = ms(700)) -> Scripted:
    samples = np.full(length * 24_000 // SECOND, 0.3, np.float32)
    return Scripted(Script((Answer(Sound(samples), delay, again=True),)))


def began(talk: Talk) -> list[int | None]:
    return [None if turn.span is None else turn.span.start for turn in talk.turns]


# What an item says


def test_each_item_has_a_folder_of_its_scenario_with_a_wav_for_each_cue(made: Path) -> None:
    assert {folder.name for folder in made.iterdir() if folder.is_dir()} <= set(INTERACTION_TASKS)
    assert sorted(path.name for path in (made / "ib_interruption" / "01").iterdir()) == [
        "cues.json", "interaction.json", "script.json", "u0.wav", "u1.wav",
    ]  # fmt: skip


def test_a_pause_is_silence_of_the_stated_length_where_the_item_says(made: Path) -> None:
    (pause,) = told(made, "pause")["pauses"]
    samples, rate = audio.read(made / "ib_pause" / "01" / "u0.wav")
    assert pause["end"] - pause["start"] == pytest.approx(1.3, abs=2 / rate)
    inside = samples[round(pause["start"] * rate) : round(pause["end"] * rate)]
    assert not inside.any() and abs(samples[round(pause["end"] * rate)]) > 10 ** (AUDIBLE / 20)


def test_a_trigger_before_a_pause_ends_where_the_pause_begins(made: Path) -> None:
    found = told(made, "pause")
    assert found["expects"][0]["end"] == found["pauses"][0]["start"]
    assert (found["expects"][0]["word"], found["expects"][0]["action"]) == ("to", "WAIT")


def test_a_trigger_that_ends_a_turn_ends_with_its_last_sample(made: Path) -> None:
    samples, rate = audio.read(made / "ib_interruption" / "01" / "u1.wav")
    (expected,) = told(made, "interruption")["expects"]
    assert expected["cue"] == "u1" and expected["end"] == pytest.approx(len(samples) / rate, abs=1e-5)


def test_a_trigger_in_mid_sentence_lies_where_the_synthesiser_says(made: Path) -> None:
    (expected,) = told(made, "grammar")["expects"]
    about = json.loads((made / "ib_grammar" / "01" / "script.json").read_text())
    (word,) = [w for w in about["cues"][0]["phrases"][0]["words"] if w["text"] == "goed"]
    assert [expected["start"], expected["end"]] == word["timestamp"] and about["words"] == "synthesiser"


def test_the_policy_of_the_category_is_written_in_seconds(made: Path) -> None:
    (expected,) = told(made, "grammar")["expects"]
    assert (expected["action"], expected["window"], expected["overlap"]) == ("INTERRUPT", [0.05, 0.3], "required")


def test_where_the_answer_alone_counts_there_is_no_window(made: Path) -> None:
    (expected,) = told(made, "logic", "%2E.%2F..%2Fx %3Cb%3E%07")["expects"]
    assert expected["window"] is None and expected["overlap"] == "allowed"


def test_every_number_of_a_count_is_expected_with_its_own_target(made: Path) -> None:
    found = told(made, "alternating_count")
    assert [(one["cue"], one["word"], one["target"]) for one in found["expects"]] == [
        ("u0", "One", "two"), ("u1", "Three", "four"),
    ]  # fmt: skip
    assert found["targets"] == ["two", "four"]


def test_a_probe_is_on_the_turn_that_asks_it(made: Path) -> None:
    (probe,) = told(made, "groundedness")["probes"]
    assert (probe["cue"], probe["type"], probe["expected"]) == ("u2", "recall", "milk and eggs")


def test_a_whispered_line_is_softer_and_says_so(made: Path) -> None:
    samples, _ = audio.read(made / "ib_volume" / "01" / "u0.wav")
    loud = samples[np.abs(samples) > 10 ** (AUDIBLE / 20)]
    assert 20 * np.log10(np.sqrt(np.mean(loud.astype(float) ** 2))) < LEVEL - 4
    assert told(made, "volume")["style"] == "whispered"


def test_an_accent_that_is_asked_for_is_written_beside_the_voice_that_speaks(made: Path) -> None:
    about = json.loads((made / "ib_grammar" / "01" / "script.json").read_text())
    summary = json.loads((made / "interactions.json").read_text())
    assert (about["accent"], about["language"]) == ("Spanish", "en-US")
    assert summary["accents"]["asked"] == ["Spanish"] and summary["accents"]["languages"] == ["en-US"]


def test_nothing_of_this_machine_is_written(made: Path) -> None:
    for file in made.rglob("*.json"):
        assert str(made.parent) not in file.read_text()


def test_check_finds_no_error_in_items_that_wait_for_a_system(made: Path) -> None:
    found = check(open_dataset(made))
    assert found.items == len(ITEMS) and not found.of("error")


# When the user speaks


def test_two_backchannels_fall_four_and_nine_seconds_after_the_onset_of_the_answer(made: Path) -> None:
    held = talk(made, "user_backchannel", answering(seconds(20)))
    asked, first, second = (turn.span for turn in held.turns)
    assert asked and first and second
    onset = asked.end + ms(700)
    assert abs(first.start - onset - seconds(4)) <= ms(40) and abs(second.start - onset - seconds(9)) <= ms(40)


def test_the_interruption_falls_three_seconds_into_the_answer(made: Path) -> None:
    held = talk(made, "interruption", answering(seconds(12)))
    asked, interruption = (turn.span for turn in held.turns)
    assert asked and interruption
    assert abs(interruption.start - asked.end - ms(700) - seconds(3)) <= ms(40)
    assert held.turns[1].premise is not None and held.turns[1].premise.talking


def test_into_moves_the_interruption(tmp_path: Path) -> None:
    make(script(tmp_path, ITEMS[4]), tmp_path / "out", timing=Timing(ms(600)))
    assert cues(tmp_path / "out", "interruption")["cues"][1]["due"] == {"when": "into_reply", "delay": 0.6}


def test_the_next_turn_comes_once_the_system_was_quiet_for_a_second_and_a_half(made: Path) -> None:
    held = talk(made, "groundedness", answering(seconds(2)))
    first, second, _ = (turn.span for turn in held.turns)
    assert first and second
    assert abs(second.start - first.end - ms(700) - seconds(2) - ms(1_500)) <= ms(40)


def test_a_count_goes_on_sooner(made: Path) -> None:
    held = talk(made, "alternating_count", answering(ms(400)))
    first, second = (turn.span for turn in held.turns)
    assert first and second
    assert abs(second.start - first.end - ms(700) - ms(400) - ms(500)) <= ms(40)


def test_a_system_that_never_answers_is_asked_everything(made: Path) -> None:
    held = talk(made, "groundedness", Scripted(Script(())))
    asked = [turn.span for turn in held.turns]
    assert all(asked)
    assert [b.start - a.end for a, b in pairwise(asked) if a and b] == [seconds(14)] * 2


def test_nobody_interrupts_a_system_that_never_answers(made: Path) -> None:
    assert began(talk(made, "interruption", Scripted(Script(())))) == [ms(500), None]


def test_the_first_words_come_after_half_a_second(made: Path) -> None:
    for file in made.rglob("cues.json"):
        assert json.loads(file.read_text())["cues"][0]["due"] == {"when": "at", "time": 0.5}


def test_every_system_is_told_the_same_unless_an_item_says_otherwise(made: Path, tmp_path: Path) -> None:
    assert {json.loads(file.read_text())["prompt"] for file in made.rglob("cues.json")} == {PROMPT}
    make(script(tmp_path, {**ITEMS[0], "instruction": "Be brief."}), tmp_path / "out", timing=Timing(prompt=""))
    assert cues(tmp_path / "out", "pause")["prompt"] == told(tmp_path / "out", "pause")["instruction"] == "Be brief."


def test_the_six_backchannels_come_equally_often_and_in_both_places_over_thirty_items() -> None:
    pairs = [backchannels(position) for position in range(30)]
    for place in (0, 1):
        assert Counter(pair[place].name for pair in pairs) == dict.fromkeys((one.name for one in BACKCHANNELS), 5)
    assert all(first != second for first, second in pairs)


def test_a_long_conversation_may_last_ten_minutes_and_the_others_two(made: Path) -> None:
    assert cues(made, "groundedness")["cap"] == 600 and cues(made, "pause")["cap"] == 120


# Making them


def test_what_is_there_is_kept_and_what_changed_is_made_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    make(script(tmp_path, ITEMS[0], ITEMS[4]), out)
    (out / "ib_pause" / "01" / "u0.wav").unlink()
    again = make(script(tmp_path, ITEMS[0], ITEMS[4]), out)
    assert [one.kept for one in again] == [False, True]
    moved = make(script(tmp_path, ITEMS[0], ITEMS[4]), out, timing=Timing(ms(100)))
    assert [one.kept for one in moved] == [False, False]


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2_000])


def _zero(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:44] + bytes(path.stat().st_size - 44))


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("harm", [_cut, _zero, _empty])
@pytest.mark.parametrize("digests", [True, False])
def test_damaged_sound_is_made_again_and_told(harm: Any, digests: bool, tmp_path: Path) -> None:
    source, out = script(tmp_path, ITEMS[0], ITEMS[4]), tmp_path / "out"
    make(source, out)
    folder = out / "ib_pause" / "01"
    if not digests:  # as before they were written
        about = json.loads((folder / "script.json").read_text())
        del about["sha256"]
        (folder / "script.json").write_text(json.dumps(about))
        assert all(one.kept for one in make(source, out)), "what is whole is kept all the same"
    whole = (folder / "u0.wav").read_bytes()
    harm(folder / "u0.wav")
    assert plan_interactions(source, out, POOL).counts()["pause"] == {"items": 1, "there": 0}
    again, other = make(source, out)
    assert (again.kept, other.kept) == (False, True)
    assert again.damaged and not other.damaged
    assert (folder / "u0.wav").read_bytes() == whole


def test_an_item_that_was_corrected_by_hand_is_kept(tmp_path: Path) -> None:
    source, out = script(tmp_path, ITEMS[0]), tmp_path / "out"
    make(source, out)
    path = out / "ib_pause" / "01" / "interaction.json"
    path.write_text(path.read_text().replace("forbidden", "allowed"))
    assert [one.kept for one in make(source, out)] == [True]
    assert "allowed" in path.read_text()


def test_processes_make_the_same_bytes(made: Path, tmp_path: Path) -> None:
    plan = plan_interactions(script(tmp_path), tmp_path / "out", POOL)
    with open_engine("processes:2") as engine:
        assert not make_interactions(plan, tmp_path / "out", each=partial(each, engine)).failed
    for file in (file for file in made.rglob("*") if file.is_file()):
        assert file.read_bytes() == (tmp_path / "out" / file.relative_to(made)).read_bytes(), file


def test_a_folder_that_was_not_made_here_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out" / "ib_pause" / "01").mkdir(parents=True)
    plan = plan_interactions(script(tmp_path, ITEMS[0]), tmp_path / "out", POOL)
    ((name, why),) = make_interactions(plan, tmp_path / "out").failed
    assert name == "ib_pause/01" and "choose another --out" in why


def test_the_voices_are_dealt_evenly_and_stay_whatever_is_made() -> None:
    pool = [Spec("v", {"n": n}) for n in range(5)]
    items = [one for one in read_interactions(shipped()) if one.scenario == "grammar"]
    assert Counter(dealt(one, pool, 0).options["n"] for one in items) == dict.fromkeys(range(5), 2)
    assert dealt(items[7], pool, 0) == dealt(items[7], list(pool), 0)
    assert [dealt(one, pool, 1).options["n"] for one in items] != [dealt(one, pool, 0).options["n"] for one in items]


def test_a_voice_that_tells_no_words_needs_a_recogniser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("py_nanotts", reason="py-nanotts is not installed")
    source, pico = script(tmp_path, ITEMS[1]), [Spec("pico")]
    plan = plan_interactions(source, tmp_path / "out", pico)
    assert "--recogniser" in make_interactions(plan, tmp_path / "out").failed[0][1]

    class Hears:
        spec = Spec("hears")

        def recognise(self, samples: Any, rate: int, language: str) -> Heard:
            words = ["Correct", "me.", "She", "goed", "home", "early,", "with", "her", "dog."]
            return Heard(tuple(Token(word, n / 4, n / 4 + 0.2) for n, word in enumerate(words)))

    for module in ("interaction_item", "interaction_items"):
        monkeypatch.setattr(f"fullduplex.making.{module}.recogniser_of", lambda *_: Hears())
    (found,) = make(source, tmp_path / "out", pico, recogniser=Spec("hears"))
    (expected,) = told(tmp_path / "out", "grammar")["expects"]
    assert found.words == "recogniser hears" and (expected["start"], expected["end"]) == (0.75, 0.95)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"scenarios": ["chess"]}, "--scenario: found chess"),
        ({"scenarios": ["whisper"]}, "a scenario that it has"),
        ({"timing": Timing(seconds(61))}, "--into"),
        ({"seed": -1}, "--seed"),
        ({"limit": 0}, "--limit"),
        ({"rate": 1}, "--rate"),
    ],
)
def test_an_option_that_cannot_be_meant_is_one_sentence(tmp_path: Path, given: Any, found: str) -> None:
    with pytest.raises(InputError, match=found):
        plan_interactions(script(tmp_path), tmp_path / "out", POOL, **given)
    assert not (tmp_path / "out").exists()


def word(text: str, start: int) -> Word:
    return Word(text, Span(ms(start), ms(start + 90)))


def test_a_word_is_found_by_its_letters_where_the_voice_cuts_words_otherwise() -> None:
    placed = [word("well", 0), word("-known", 100), word("o", 200), word("'clock.", 300)]
    assert word_span(placed, "Well-known o'clock.", 0) == Span(0, ms(190))
    assert word_span(placed, "Well-known o'clock.", 1) == Span(ms(200), ms(390))


def test_a_word_that_a_recogniser_spelt_among_others_is_found_by_itself_or_not_at_all() -> None:
    placed = [word("20", 0), word("cats", 100), word("ran", 200)]
    assert word_span(placed, "twenty cats ran", 1) == Span(ms(100), ms(190))
    assert word_span(placed, "twenty cats ran", 0) is None
    assert word_span([word("two", 0), word("two", 100), word("x", 200)], "two cats too", 0) is None


# Hearing them


class _Ear:
    spec = Spec("ear")

    def __init__(self, *tokens: tuple[str, float, float]) -> None:
        self.tokens = tuple(Token(*one) for one in tokens)

    def recognise(self, samples: Any, rate: int, language: str) -> Heard:
        return Heard(self.tokens)


def heard(made: Path, monkeypatch: pytest.MonkeyPatch, off: float, text: str = "goed") -> Any:
    end = told(made, "grammar")["expects"][0]["end"] + off
    words = [("Correct", 0.0, 0.1), ("me", 0.1, 0.2), ("She", 0.2, 0.3), (text, end - 0.1, end)]
    words += [(one, 3.0, 3.1) for one in ("home", "early", "with", "her", "dog")]
    monkeypatch.setattr(interaction_review, "recogniser_of", lambda *_: _Ear(*words))
    return hear_item(ReviewTask(made / "ib_grammar" / "01", "ib_grammar/01", "en", Spec("ear")))


@pytest.mark.parametrize(("off", "kinds"), [(0.249, []), (-0.249, []), (0.251, ["trigger"]), (-0.251, ["trigger"])])
def test_a_trigger_is_to_be_heard_within_a_quarter_of_a_second(
    made: Path, monkeypatch: pytest.MonkeyPatch, off: float, kinds: list[str]
) -> None:
    assert [fault.kind for fault in heard(made, monkeypatch, off).faults] == kinds


def test_another_word_in_its_place_is_told(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (fault,) = heard(made, monkeypatch, 0.0, "mumbled").faults
    assert fault.kind == "trigger" and "not heard" in fault.text


def test_words_that_nobody_said_are_told(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interaction_review, "recogniser_of", lambda *_: _Ear(("Thanks for watching", 0.0, 1.0)))
    found = hear_item(ReviewTask(made / "ib_grammar" / "01", "x", "en", Spec("ear")))
    assert [fault.kind for fault in found.faults] == ["trigger", "words"]


def test_a_cue_that_is_far_too_soft_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(script(tmp_path, ITEMS[1]), tmp_path / "out")
    wav = tmp_path / "out" / "ib_grammar" / "01" / "u0.wav"
    samples, rate = audio.read(wav)
    audio.write(wav, samples * np.float32(0.3), rate)
    assert "level" in [fault.kind for fault in heard(tmp_path / "out", monkeypatch, 0.0).faults]


def test_a_number_that_was_written_in_figures_is_its_words() -> None:
    assert spelt("22 cats, 17, 40 and 5") == ("twenty", "two", "cats", "seventeen", "forty", "and", "five")
    assert distance("two", 8.0, [Token("two", 1.0, 1.2), Token("22", 7.5, 8.1)]) == pytest.approx(0.1)


# The command


def command(*given: Any) -> Any:
    return CliRunner().invoke(cli.main, ["interactions", *map(str, given)], catch_exceptions=False)


def test_the_command_makes_the_first_of_a_scenario_and_says_so(tmp_path: Path) -> None:
    done = command("--out", tmp_path / "o", "--scenario", "grammar", "--limit", 1, "--voice", "hibari", "--json",
                   "--engine", "here")  # fmt: skip
    found = json.loads(done.stdout)
    assert done.exit_code == 0 and found["items"] == {"grammar": 1} and found["accents"]["asked"] == ["Spanish"]


def test_the_command_counts_and_makes_nothing(tmp_path: Path) -> None:
    done = command("--out", tmp_path / "o", "--voice", "hibari", "--dry-run", "--json")
    assert sum(one["items"] for one in json.loads(done.stdout)["would_make"].values()) == 221
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("given", [("--annotate",), ("--annotate", "--model", "m"), ("--limit", "1")])
def test_what_the_command_lacks_is_usage(given: tuple[str, ...]) -> None:
    assert command(*given).exit_code == 2
