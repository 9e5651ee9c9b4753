"""Scripts of actions become items: what sounds when and how loud, what is marked, who speaks, what is kept."""

from __future__ import annotations

import base64
import json
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import fullduplex.cli.interactions  # noqa: F401  adds its command
from fullduplex import cli
from fullduplex.data import audio
from fullduplex.data.interactions import read_interaction
from fullduplex.driving.clock import run_virtual
from fullduplex.driving.drive import Talk, drive
from fullduplex.driving.personas import read_personas
from fullduplex.engines import each, open_engine
from fullduplex.errors import InputError
from fullduplex.listening.recognisers import Heard
from fullduplex.making.acting import review as acting_review
from fullduplex.making.acting.breath import silences
from fullduplex.making.acting.cues import PROMPT, Asking
from fullduplex.making.acting.item import MadeAction
from fullduplex.making.acting.items import make_actions, people, plan_actions
from fullduplex.making.acting.review import hear_item
from fullduplex.making.effects.sound import speech_level
from fullduplex.making.interaction_review import ReviewTask
from fullduplex.model.spans import SECOND, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Token
from fullduplex.providers.voices import AUDIBLE, LEVEL
from fullduplex.runs.stimulus import read_cues
from fullduplex.runs.user import part
from fullduplex.systems.scripted import Answer, Script, Scripted, Sound

pytest.importorskip("hibari", reason="hibari-tts is not installed")
POOL = [Spec("hibari"), Spec("hibari", {"pitch": 0.85})]
LONG = ("Tell me how bread is made.", "First of all, the flour.")
ITEMS = {
    "wait_intra_pause": ("I was hoping to [pause 0.7] see it today, can I?",),
    "wait_continuous": ("I was hoping to see it today can I do that?",),
    "ignore_other_directed": ("I like this sofa. [aside: Nadia, hold my bottle?] Also, is it deep?",),
    "ignore_background": ("We read in the park, [background: Not the ball!] and I would like some food for it.",),
    "take_turn_immediate": ("Book me a table for the fourth of May.",),
    "take_turn_slight_overlap": ("How long do I boil an egg, [entry] you know, like my mother did.",),
    "backchannel_affirmative": ("We drove all night, [backchannel] and then we slept in the car.",),
    "backchannel_uncertainty": ("He counted stones, [pause 0.4] [backchannel] and wrote it all down.",),
    "stop_direct_interruption": (*LONG, "No, tell me about cake.", "All right, cake."),
    "hold_floor_background": (*LONG, "[background: The blue one goes on top.]"),
    "hold_floor_other_directed": (*LONG, "[aside: Put the parcel next to the stairs.]"),
    "interrupt_help": ("I keep turning it right, clockwise, [target] with a cloth and with a glove.",),
}  # fmt: skip


def item(id: str, *texts: str, **more: Any) -> dict[str, Any]:
    lines = [{"who": ("user", "assistant")[n % 2], "text": text} for n, text in enumerate(texts)]
    return {"id": id, "setting": "meeting", "lines": lines, "target": "Answers.", "topic": "x", **more}


def script(folder: Path, items: dict[str, Any] | None = None) -> Path:
    """Write a folder of scripts, an item of each condition."""
    (folder / "scripts").mkdir(parents=True, exist_ok=True)
    for condition, one in (items or ITEMS).items():
        listed = one if isinstance(one, list) else [item("01", *one)]
        told = {"schema": 1, "scenario": condition, "items": listed}
        (folder / "scripts" / f"{condition}.json").write_text(json.dumps(told))
    return folder / "scripts"


def make(source: Path, out: Path, voices: Any = (), **given: Any) -> tuple[MadeAction, ...]:
    made = make_actions(plan_actions(source, out, voices or POOL, **given), out)
    assert not made.failed, made.failed
    return made.items


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("actions")
    make(script(folder), folder / "items")
    return folder / "items"


def told(made: Path, condition: str) -> dict[str, Any]:
    return read_interaction(made / f"da_{condition}" / "01" / "interaction.json")


def about(made: Path, condition: str, cue: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((made / f"da_{condition}" / "01" / "script.json").read_text())
    return found["cues"][cue]  # type: ignore[no-any-return]


def sound(made: Path, condition: str, cue: str = "u0") -> tuple[Any, int]:
    return audio.read(made / f"da_{condition}" / "01" / f"{cue}.wav")


def cut(samples: Any, rate: int, one: dict[str, Any]) -> Any:
    return samples[round(one["start"] * rate) : round(one["end"] * rate)]


def decibels(samples: Any, rate: int) -> float:
    return 20 * float(np.log10(speech_level(samples, rate)))


def words(made: Path, condition: str) -> dict[str, list[float]]:
    return {
        word["text"].strip(",.?"): word["timestamp"] for p in about(made, condition)["phrases"] for word in p["words"]
    }


# What is marked


def test_the_wait_is_the_pause_and_nothing_sounds_in_it(made: Path) -> None:
    (mark,) = told(made, "wait_intra_pause")["marks"]
    samples, rate = sound(made, "wait_intra_pause")
    assert mark["kind"] == "wait" and mark["end"] - mark["start"] == pytest.approx(0.7, abs=2 / rate)
    assert not cut(samples, rate, mark).any()
    assert abs(samples[round(mark["end"] * rate)]) > 10 ** (AUDIBLE / 20)


def test_the_wait_of_a_turn_without_a_pause_is_the_whole_turn(made: Path) -> None:
    (mark,) = told(made, "wait_continuous")["marks"]
    samples, rate = sound(made, "wait_continuous")
    assert (mark["kind"], mark["start"]) == ("wait", 0) and mark["end"] == pytest.approx(len(samples) / rate, abs=1e-5)


def test_an_aside_is_marked_where_it_sounds_with_silence_around_it(made: Path) -> None:
    (mark,) = told(made, "ignore_other_directed")["marks"]
    samples, rate = sound(made, "ignore_other_directed")
    before, after, aside = about(made, "ignore_other_directed")["phrases"]
    assert (mark["kind"], mark["text"]) == ("ignored", "Nadia, hold my bottle?")
    assert [mark["start"], mark["end"]] == aside["timestamp"]
    assert mark["start"] - before["timestamp"][1] == pytest.approx(0.2, abs=2 / rate)
    assert after["timestamp"][0] - mark["end"] == pytest.approx(0.2, abs=2 / rate)
    turning = samples[round(before["timestamp"][1] * rate) + 1 : round(mark["start"] * rate) - 1]
    assert not turning.any()


def test_an_aside_is_softer_than_the_users_speech_by_its_level(made: Path) -> None:
    (mark,) = told(made, "ignore_other_directed")["marks"]
    samples, rate = sound(made, "ignore_other_directed")
    user = decibels(samples[: round(about(made, "ignore_other_directed")["phrases"][0]["timestamp"][1] * rate)], rate)
    assert decibels(cut(samples, rate, mark), rate) - user == pytest.approx(-8, abs=2.5)


def test_a_background_takes_no_time_and_is_fifteen_decibels_down(made: Path, tmp_path: Path) -> None:
    (mark,) = told(made, "ignore_background")["marks"]
    with_it, rate = sound(made, "ignore_background")
    plain = "We read in the park, and I would like some food for it."
    make(script(tmp_path, {"take_turn_immediate": (plain,)}), tmp_path / "out", [_spec(made, "ignore_background")])
    without, _ = sound(tmp_path / "out", "take_turn_immediate")
    assert len(with_it) == len(without)
    added = with_it - without
    assert decibels(cut(added, rate, mark), rate) - decibels(without, rate) == pytest.approx(-15, abs=1.5)
    assert np.abs(added[: round(mark["start"] * rate) - 1]).max() < 1e-4


def test_a_background_begins_where_the_word_before_it_ends_and_another_voice_says_it(made: Path) -> None:
    (mark,) = told(made, "ignore_background")["marks"]
    user, other = about(made, "ignore_background")["phrases"]
    start, end = words(made, "ignore_background")["park"]
    assert (mark["kind"], mark["text"]) == ("ignored", "Not the ball!")
    assert start < mark["start"] <= end
    assert other["who"] == "background" and other["voice"] != user["voice"]


def test_what_is_in_the_background_is_no_word_of_the_users(made: Path) -> None:
    line = told(made, "ignore_background")["script"][0]
    assert line == {"who": "user", "text": "We read in the park, and I would like some food for it.", "cue": "u0"}
    assert (
        told(made, "ignore_other_directed")["script"][0]["text"].split(".")[1]
        == " Nadia, hold my bottle? Also, is it deep?"
    )


def test_there_is_no_silence_as_long_as_a_pause_but_where_one_was_asked_for(made: Path, tmp_path: Path) -> None:
    text = "We went there. It rained all day, and then, at last, we saw it. Where do we go now?"
    make(script(tmp_path, {"wait_continuous": (text,)}), tmp_path / "out")
    samples, rate = sound(tmp_path / "out", "wait_continuous")
    (mark,) = told(tmp_path / "out", "wait_continuous")["marks"]
    assert not silences(samples, rate, longer_than=ms(200)) and silences(samples, rate, longer_than=ms(195))
    assert mark["end"] == pytest.approx(len(samples) / rate, abs=1e-5)
    samples, rate = sound(made, "wait_intra_pause")
    (first, last), (mark,) = *silences(samples, rate, longer_than=ms(200)), told(made, "wait_intra_pause")["marks"]
    assert (first / rate, last / rate) == pytest.approx((mark["start"], mark["end"]), abs=1e-4)


def test_an_entry_runs_from_the_last_word_that_matters_to_the_turns_end(made: Path) -> None:
    (mark,) = told(made, "take_turn_slight_overlap")["marks"]
    samples, rate = sound(made, "take_turn_slight_overlap")
    start, end = words(made, "take_turn_slight_overlap")["egg"]
    assert mark["kind"] == "entry" and start < mark["start"] <= end - 0.05
    # The silence at a comma is the word's, says the voice; the word ends with its last audible sample.
    last = round(mark["start"] * rate)
    assert abs(samples[last - 1]) > 10 ** (AUDIBLE / 20) and np.abs(
        samples[last : round(end * rate) - 1]
    ).max() <= 10 ** (AUDIBLE / 20)
    assert mark["end"] == pytest.approx(len(samples) / rate, abs=1e-5)
    assert mark["text"] == "you know, like my mother did."


def test_a_backchannel_belongs_between_two_words(made: Path) -> None:
    (mark,) = told(made, "backchannel_affirmative")["marks"]
    samples, rate = sound(made, "backchannel_affirmative")
    placed = words(made, "backchannel_affirmative")
    assert placed["night"][0] < mark["start"] < mark["end"] <= placed["and"][1]
    inside = cut(samples, rate, mark)[1:-1]
    assert not len(inside) or np.abs(inside).max() <= 10 ** (AUDIBLE / 20)


def test_a_pause_at_a_backchannel_is_the_room_for_it_and_no_wait(made: Path) -> None:
    found = told(made, "backchannel_uncertainty")
    (mark,), (pause,) = found["marks"], found["pauses"]
    assert (mark["kind"], mark["start"], mark["end"]) == ("backchannel", pause["start"], pause["end"])


def test_the_point_to_break_in_at_is_the_word_before_it(made: Path) -> None:
    (mark,) = told(made, "interrupt_help")["marks"]
    start, end = words(made, "interrupt_help")["clockwise"]
    assert (mark["kind"], mark["text"]) == ("target", "clockwise")
    assert start <= mark["start"] < mark["end"] <= end


def test_a_voice_over_the_answer_is_a_cue_of_its_own_as_loud_as_under_the_users_speech(made: Path) -> None:
    for condition, level in (("hold_floor_background", -15), ("hold_floor_other_directed", -8)):
        samples, rate = sound(made, condition, "b0")
        (mark,) = told(made, condition)["marks"]
        assert (mark["cue"], mark["kind"], mark["start"]) == ("b0", "ignored", 0)
        assert decibels(cut(samples, rate, mark), rate) - decibels(sound(made, condition)[0], rate) == pytest.approx(
            level, abs=2
        )
        assert len(samples) / rate - mark["end"] <= 0.151


def test_an_item_says_where_it_is_and_what_it_is_made_of(made: Path) -> None:
    found = told(made, "wait_intra_pause")
    assert (found["setting"], found["origin"], found["instructed"]) == ("meeting", "synthesised", "not")
    assert found["target"] == "Answers." and "Not the paper's origin" in found["notes"]
    assert "Not the paper's origin" not in told(made, "ignore_background")["notes"]


def test_no_cue_is_beyond_full_scale(made: Path) -> None:
    for file in made.rglob("*.wav"):
        assert np.abs(audio.read(file)[0]).max() <= 0.991


# When the user speaks


def talk(made: Path, condition: str, *answers: Answer) -> Talk:
    asked = read_cues(made / f"da_{condition}" / "01" / "cues.json")
    system = Scripted(Script(answers))
    its = part(asked, system.traits, seed=0, attempt=1, language="en", cache=made)
    return run_virtual(drive(system, its.user, length=its.length, hang_up=asked.hang_up))


def answering(length: int, delay: int = ms(700)) -> Answer:
    return Answer(Sound(np.full(length * 24_000 // SECOND, 0.3, np.float32)), delay, again=True)


@pytest.mark.parametrize("condition", ["stop_direct_interruption", "hold_floor_background"])
def test_what_is_said_over_the_answer_falls_three_seconds_into_it(made: Path, condition: str) -> None:
    asked, event = (turn.span for turn in talk(made, condition, answering(seconds(12))).turns)
    assert asked and event and abs(event.start - asked.end - ms(700) - seconds(3)) <= ms(40)


def test_nobody_speaks_over_an_answer_that_never_comes(made: Path) -> None:
    assert [turn.span is None for turn in talk(made, "hold_floor_background").turns] == [False, True]


def test_an_answer_may_begin_nine_seconds_late_and_last_twenty(made: Path) -> None:
    held = talk(made, "take_turn_immediate", answering(seconds(20), seconds(9)))
    loud = np.flatnonzero(np.abs(held.system) > 0.1)
    assert (loud[-1] - loud[0]) / held.rate == pytest.approx(20, abs=0.1)


def test_every_system_is_told_where_it_is_and_nothing_of_when_to_speak(made: Path, tmp_path: Path) -> None:
    assert {read_cues(file).prompt for file in made.rglob("cues.json")} == {
        PROMPT + " It is a meeting at work, in which you take part."
    }
    make(script(tmp_path, {"wait_continuous": ITEMS["wait_continuous"]}), tmp_path / "o", asking=Asking(prompt=""))
    assert read_cues(tmp_path / "o" / "da_wait_continuous" / "01" / "cues.json").prompt == ""


# Making them


def test_what_is_there_is_kept_and_what_changed_is_made_again(tmp_path: Path) -> None:
    two = {name: ITEMS[name] for name in ("wait_intra_pause", "hold_floor_background")}
    make(script(tmp_path, two), tmp_path / "out")
    (tmp_path / "out" / "da_wait_intra_pause" / "01" / "u0.wav").unlink()
    assert [one.kept for one in make(script(tmp_path, two), tmp_path / "out")] == [False, True]
    moved = make(script(tmp_path, two), tmp_path / "out", asking=Asking(ms(600)))
    assert [one.kept for one in moved] == [False, False]


def test_a_recording_that_was_damaged_is_made_again_and_told(tmp_path: Path, made: Path) -> None:
    source, out = script(tmp_path, {"wait_continuous": ITEMS["wait_continuous"]}), tmp_path / "out"
    make(source, out)
    wav = out / "da_wait_continuous" / "01" / "u0.wav"
    whole = wav.read_bytes()
    wav.write_bytes(whole[:-100] + bytes(100))
    assert plan_actions(source, out, POOL).counts() == {"wait_continuous": {"items": 1, "there": 0}}
    (again,) = make(source, out)
    assert not again.kept and "u0.wav" in again.damaged and wav.read_bytes() == whole


def test_processes_make_the_same_bytes(made: Path, tmp_path: Path) -> None:
    some = ("ignore_background", "hold_floor_other_directed", "wait_intra_pause")
    plan = plan_actions(script(tmp_path), tmp_path / "out", POOL, scenarios=some)
    with open_engine("processes:2") as engine:
        assert not make_actions(plan, tmp_path / "out", each=partial(each, engine)).failed
    files = [file for name in some for file in (made / f"da_{name}").rglob("*") if file.is_file()]
    assert len(files) == 4 + 5 + 4
    for file in files:
        assert file.read_bytes() == (tmp_path / "out" / file.relative_to(made)).read_bytes(), file


def test_no_name_leads_out_of_the_folder_and_nothing_of_this_machine_is_written(tmp_path: Path, made: Path) -> None:
    hostile = item("../../x <b>\x07", *ITEMS["wait_continuous"])
    (one,) = make(script(tmp_path, {"wait_continuous": [hostile]}), tmp_path / "out")
    assert one.folder.parent == tmp_path / "out" / "da_wait_continuous" and one.folder.is_dir()
    assert not any(str(made.parent) in file.read_text() for file in made.rglob("*.json"))


def test_a_folder_that_was_not_made_here_is_left_alone(tmp_path: Path) -> None:
    source = script(tmp_path, {"wait_continuous": ITEMS["wait_continuous"]})
    (tmp_path / "out" / "da_wait_continuous" / "01").mkdir(parents=True)
    ((name, why),) = make_actions(plan_actions(source, tmp_path / "out", POOL), tmp_path / "out").failed
    assert name == "da_wait_continuous/01" and "choose another --out" in why


def test_a_voice_in_the_background_may_not_outlast_the_turn(tmp_path: Path) -> None:
    text = "We read in [background: Extraordinarily unforgettable refrigerators!] a a a"
    source = script(tmp_path, {"ignore_background": (text,)})
    ((name, why),) = make_actions(plan_actions(source, tmp_path / "out", POOL), tmp_path / "out").failed
    assert name == "da_ignore_background/01" and "longer than the user" in why


def test_a_voice_that_tells_no_words_needs_a_recogniser_only_where_a_mark_hangs_on_one(tmp_path: Path) -> None:
    pytest.importorskip("py_nanotts", reason="py-nanotts is not installed")
    names = ("wait_intra_pause", "backchannel_uncertainty", "interrupt_help")
    source = script(tmp_path, {name: ITEMS[name] for name in names})
    made = make_actions(plan_actions(source, tmp_path / "out", [Spec("pico")]), tmp_path / "out")
    assert [one.scenario for one in made.items] == ["wait_intra_pause", "backchannel_uncertainty"]
    assert "u0, clockwise" in made.failed[0][1] and "--recogniser" in made.failed[0][1]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"scenarios": ["chess"]}, "--scenario: found chess"),
        ({"scenarios": ["recover"]}, "a condition that it has"),
        ({"asking": Asking(seconds(61))}, "--into"),
        ({"seed": -1}, "--seed"),
        ({"limit": 0}, "--limit"),
        ({"rate": 1}, "--rate"),
        ({"personas": list(read_personas().values())}, "the voice hibari, for Mildred Kaplan"),
    ],
)
def test_an_option_that_cannot_be_meant_is_one_sentence(tmp_path: Path, given: Any, found: str) -> None:
    with pytest.raises(InputError, match=found):
        plan_actions(script(tmp_path), tmp_path / "out", POOL, **given)
    assert not (tmp_path / "out").exists()


def test_an_action_stands_for_its_conditions(tmp_path: Path) -> None:
    plan = plan_actions(script(tmp_path), tmp_path / "out", POOL, scenarios=["backchannel"])
    assert list(plan.counts()) == ["backchannel_affirmative", "backchannel_uncertainty"]


# Who speaks


def test_a_background_needs_a_second_voice(tmp_path: Path) -> None:
    same = [Spec("hibari"), Spec("hibari", {"pitch": 1.0})]
    with pytest.raises(InputError, match="a second voice"):
        plan_actions(script(tmp_path), tmp_path / "out", same)


def test_voices_are_dealt_evenly_and_stay_whatever_is_made(tmp_path: Path) -> None:
    pool = [Spec("hibari", {"pitch": 1 + n / 10}) for n in range(5)]
    every = [item(f"{n:02d}", *ITEMS["ignore_background"]) for n in range(10)]
    plan = plan_actions(script(tmp_path, {"ignore_background": every}), tmp_path / "out", pool)
    assert set(Counter(str(task.voice) for task in plan.tasks).values()) == {2}
    assert all(task.other is not None and task.other != task.voice for task in plan.tasks)
    assert len({str(task.other) for task in plan.tasks}) > 1
    (first,) = plan_actions(tmp_path / "scripts", tmp_path / "out", pool, limit=1).tasks
    assert (first.voice, first.other) == (plan.tasks[0].voice, plan.tasks[0].other)


def eleven(*voices: str) -> list[Spec]:
    return [Spec("elevenlabs", {"voice": voice}) for voice in voices]


def test_each_persona_keeps_its_voice_and_no_voice_is_left_out() -> None:
    five = list(read_personas().values())
    said = [(one.named.options["voice"], one.persona.name) for one in people(eleven(*"abcde"), five) if one.persona]
    assert said == list(zip("abcde", read_personas(), strict=True))
    assert len(people(eleven("a"), five)) == 5 and len(people(eleven(*"abcdefg"), five)) == 7


def test_settings_that_a_voice_states_itself_win() -> None:
    (wei,) = people([Spec("elevenlabs", {"voice": "a", "style": 0.9})], [read_personas()["Wei Lin"]])
    assert (wei.voice.options["style"], wei.voice.options["stability"]) == (0.9, 0.55)


def test_the_same_voice_by_two_personas_is_no_second_voice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a second voice"):
        plan_actions(script(tmp_path), tmp_path / "out", eleven("a"), personas=list(read_personas().values()))


def test_an_item_that_names_a_persona_is_spoken_by_it(tmp_path: Path) -> None:
    named = [item(f"{n}", *ITEMS["wait_continuous"], persona="Arjun Roy") for n in range(3)]
    source = script(tmp_path, {"wait_continuous": named})
    for personas in ((), tuple(read_personas().values())):
        plan = plan_actions(source, tmp_path / "out", eleven(*"abcde"), personas=personas)
        assert {task.persona for task in plan.tasks} == {"Arjun Roy"}
        assert {task.voice.options["stability"] for task in plan.tasks} == {0.75}
    assert {task.persona for task in plan_actions(source, tmp_path / "out", POOL).tasks} == {""}


class Server:
    """Speaks ElevenLabs' protocol on this machine, a tone of 100 ms for each character, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, body))
                size = len(body["text"])
                tone = (8000 * np.sin(np.arange(size * 2_400) * 0.2)).astype("<i2")
                aligned = {
                    "characters": list(body["text"]),
                    "character_start_times_seconds": [n / 10 for n in range(size)],
                    "character_end_times_seconds": [(n + 1) / 10 for n in range(size)],
                }
                told = {"audio_base64": base64.b64encode(tone.tobytes()).decode(), "alignment": aligned}
                content = json.dumps(told).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    pytest.importorskip("httpx", reason="httpx is not installed")
    one = Server()
    yield one
    one.close()


def test_a_server_of_voices_is_asked_for_each_personas_settings(server: Server, tmp_path: Path) -> None:
    every = [item(f"{n}", *ITEMS["ignore_background"]) for n in range(5)]
    pool = [Spec("elevenlabs", {"voice": voice, "base_url": server.url}) for voice in "abcde"]
    source = script(tmp_path, {"ignore_background": every})
    items = make(source, tmp_path / "out", pool, personas=list(read_personas().values()))
    assert Counter(one.persona for one in items) == dict.fromkeys(read_personas(), 1)
    user = {path.split("/")[3]: body["voice_settings"] for path, body in server.asked if "voice_settings" in body}
    assert user["c"] == {"stability": 0.55, "similarity_boost": 0.75, "style": 0.35, "use_speaker_boost": True}
    assert len(user) == 5
    # Who is in the background is nobody's persona.
    assert sum("voice_settings" not in body for _, body in server.asked) == 5


# Hearing them


class _Ear:
    spec = Spec("ear")

    def __init__(self, heard: dict[str, list[list[Any]]]) -> None:
        self.heard = [tuple(Token(*one) for one in tokens) for tokens in heard.values()]

    def recognise(self, samples: Any, rate: int, language: str) -> Heard:
        return Heard(self.heard.pop(0))


def heard(made: Path, condition: str, monkeypatch: pytest.MonkeyPatch, off: float = 0.0, say: str = "") -> Any:
    """Hear an item with an ear that hears every word ``off`` seconds late, and ``say`` in place of each if given."""
    cues = json.loads((made / f"da_{condition}" / "01" / "script.json").read_text())["cues"]
    front = {
        cue["id"]: [
            [say or word["text"], word["timestamp"][0], word["timestamp"][1] + off]
            for phrase in sorted(cue["phrases"], key=lambda phrase: phrase["timestamp"][0])
            if phrase["who"] != "background" or len(cue["phrases"]) == 1
            for word in phrase["words"]
        ]
        for cue in cues
    }
    monkeypatch.setattr(acting_review, "recogniser_of", lambda *_: _Ear(front))
    return hear_item(ReviewTask(made / f"da_{condition}" / "01", condition, "en", Spec("ear")))


@pytest.mark.parametrize("condition", ITEMS)
def test_an_ear_that_hears_all_words_in_their_places_finds_nothing(
    made: Path, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert heard(made, condition, monkeypatch).faults == ()


@pytest.mark.parametrize(
    ("condition", "word"),
    [
        ("wait_intra_pause", "'to'"),
        ("ignore_other_directed", "'bottle"),
        ("ignore_background", "'park"),
        ("take_turn_slight_overlap", "'egg"),
        ("backchannel_affirmative", "'night"),
        ("interrupt_help", "'clockwise"),
    ],
)
def test_a_word_that_a_mark_hangs_on_is_to_be_heard_in_its_place(
    made: Path, condition: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fault,) = heard(made, condition, monkeypatch, off=0.7).faults
    assert fault.kind == "word" and word in fault.text


def test_words_that_nobody_said_are_told(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {fault.kind for fault in heard(made, "wait_intra_pause", monkeypatch, say="mumble").faults} == {
        "word",
        "words",
    }


def test_a_pause_in_which_something_sounds_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(script(tmp_path, {"wait_intra_pause": ITEMS["wait_intra_pause"]}), tmp_path / "out")
    samples, rate = sound(tmp_path / "out", "wait_intra_pause")
    (mark,) = told(tmp_path / "out", "wait_intra_pause")["marks"]
    samples[round((mark["start"] + 0.3) * rate)] = 0.1
    audio.write(tmp_path / "out" / "da_wait_intra_pause" / "01" / "u0.wav", samples, rate)
    assert [fault.kind for fault in heard(tmp_path / "out", "wait_intra_pause", monkeypatch).faults] == ["pause"]


def test_a_silence_that_nobody_asked_for_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(script(tmp_path, {"wait_continuous": ITEMS["wait_continuous"]}), tmp_path / "out")
    samples, rate = sound(tmp_path / "out", "wait_continuous")
    longer = np.concatenate([samples[:rate], np.zeros(rate // 2, np.float32), samples[rate:]])
    audio.write(tmp_path / "out" / "da_wait_continuous" / "01" / "u0.wav", longer, rate)
    (fault,) = heard(tmp_path / "out", "wait_continuous", monkeypatch).faults
    assert fault.kind == "pause" and "nobody asked for" in fault.text


def test_a_cue_that_is_far_too_soft_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(script(tmp_path, {"hold_floor_background": ITEMS["hold_floor_background"]}), tmp_path / "out")
    samples, rate = sound(tmp_path / "out", "hold_floor_background", "b0")
    assert decibels(samples, rate) == pytest.approx(LEVEL - 15, abs=2)
    audio.write(tmp_path / "out" / "da_hold_floor_background" / "01" / "b0.wav", samples * np.float32(0.4), rate)
    (fault,) = heard(tmp_path / "out", "hold_floor_background", monkeypatch).faults
    assert (fault.cue, fault.kind) == ("b0", "level")


# The command


def command(*given: Any) -> Any:
    args = ["interactions", "--benchmark", "duplexact", *map(str, given)]
    return CliRunner().invoke(cli.main, args, catch_exceptions=False)


def test_the_command_makes_a_condition_and_says_what_the_publication_made_it_from(tmp_path: Path) -> None:
    source = script(tmp_path)
    given = (source, "--out", tmp_path / "o", "--voice", "hibari", "--voice", "hibari:pitch=0.9", "--engine", "here")
    done = command(*given, "--scenario", "wait")
    assert done.exit_code == 0 and "2 items of 2 conditions, in " in done.stdout
    assert "fewer than 4 voices" in done.stdout and "in 2 of these conditions" in done.stdout
    again = json.loads(command(*given, "--scenario", "wait_continuous", "--json").stdout)
    assert again["items"] == {"wait_continuous": 1} and again["kept"] == 1


def test_the_command_counts_without_a_folder() -> None:
    done = command("--voice", "hibari", "--voice", "hibari:pitch=0.9", "--dry-run", "--scenario", "stop")
    assert done.exit_code == 0 and "stop_direct_interruption: 12 items\n" in done.stdout


def test_the_command_counts_those_that_ship_and_makes_nothing(tmp_path: Path) -> None:
    done = command("--out", tmp_path / "o", "--voice", "hibari", "--voice", "hibari:pitch=0.9", "--dry-run", "--json")
    counts = json.loads(done.stdout)["would_make"]
    assert len(counts) == 24 and not (tmp_path / "o").exists()


@pytest.mark.parametrize("given", [("--annotate",), ("--out", "o", "--model", "m"), ("--limit", "1")])
def test_what_the_command_lacks_is_usage(given: tuple[str, ...]) -> None:
    assert command(*given).exit_code == 2


def test_personas_are_for_actions_alone(tmp_path: Path) -> None:
    given = ["interactions", "--out", str(tmp_path), "--persona", "Wei Lin"]
    assert CliRunner().invoke(cli.main, given).exit_code == 2


def test_a_persona_that_nobody_knows_is_one_sentence(tmp_path: Path) -> None:
    done = command("--out", tmp_path / "o", "--persona", "Nobody")
    assert done.exit_code == 1 and "--persona: found Nobody, expected of Mildred Kaplan" in done.stderr


def test_persona_without_a_name_is_all_five(tmp_path: Path) -> None:
    done = command("--out", tmp_path / "o", "--dry-run", "--json", "--voice", "elevenlabs:voice=a", "--voice",
                   "elevenlabs:voice=b", "--persona")  # fmt: skip
    assert done.exit_code == 0 and json.loads(done.stdout)["voices"] == 5


def _spec(made: Path, condition: str) -> Spec:
    voice = about(made, condition)["phrases"][0]["voice"]
    return Spec(voice["name"], {"pitch": voice["options"]["pitch"]})
