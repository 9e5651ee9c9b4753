"""The cascade's turns, with parts that do what they are told: every time in the talk is known in advance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import Clock, run_on
from fullduplex.driving.cues import at
from fullduplex.driving.drive import drive
from fullduplex.driving.link import Note, Said, UserVad
from fullduplex.driving.playout import Flush
from fullduplex.driving.talk import BrokenTalk, Talk
from fullduplex.driving.user import Turn
from fullduplex.errors import InputError, PluginError
from fullduplex.listening.recognisers import Heard
from fullduplex.model.spans import SECOND, Span, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Token, Word
from fullduplex.providers.language_models import Message
from fullduplex.providers.voices import Spoken
from fullduplex.systems.cascade import Cascade, ears, parts
from fullduplex.systems.cascade.stages import STAGES, Stages

RATE = 16_000
ASKED: list[list[Message]] = []
HEARD: list[float] = []


class LoudIsSpeech:
    """In the network's place: a window with a loud sample is speech."""

    def run(self, _: Any, given: dict[str, Any]) -> tuple[Any, Any]:
        return np.array([[float(np.abs(given["input"][0, 64:]).max() > 0.1)]]), given["state"]


class Counts:
    """A recogniser that hears how many tenths of a second were loud."""

    def __init__(self, deaf: bool = False, fails: bool = False) -> None:
        self.deaf, self.fails = deaf, fails

    spec = Spec("counts")
    languages = ("en",)

    def recognise(self, samples: Any, rate: int, language: str = "en") -> Heard:
        if self.fails:
            raise RuntimeError("out of memory")
        loud = float(np.count_nonzero(np.abs(samples) > 0.1)) / rate
        if rate == RATE:  # the user's, and not what it tried itself on before the talk
            HEARD.append(round(loud, 2))
        return Heard(() if self.deaf else (Token(f"{round(loud * 10)} tenths", 0.0, 1.0),))


class Says:
    """A language model with one reply, a word at a time."""

    def __init__(self, text: str = "one two three four. five six seven eight.", fails: bool = False) -> None:
        self.text, self.fails = text.replace("|", " "), fails

    spec = Spec("says")

    def reply(self, messages: Sequence[Message], *, limit: int = 60) -> Iterator[str]:
        if limit > 1:
            ASKED.append(list(messages))
            if self.fails:
                raise PluginError("the language model at http://localhost:1/v1 could not be talked with")
        yield from (word + " " for word in self.text.split()[:limit])


class Tones:
    """A voice that takes half a second for each word, and knows when it says which."""

    spec = Spec("tones")

    def speak(self, text: str) -> Spoken:
        if "unspeakable" in text:
            raise InputError("text", found="unspeakable", expected="words to speak")
        words = text.split()
        placed = tuple(Word(w, Span(seconds(i / 2), seconds((i + 1) / 2))) for i, w in enumerate(words))
        return Spoken(np.full(len(words) * 12_000, 0.5, np.float32), 24_000, placed, "synthesiser")


class Finished:
    """A turn detector that always says the same."""

    def __init__(self, likely: float = 1.0) -> None:
        self.likely = likely

    spec = Spec("finished")

    def finished(self, samples: Any) -> float:
        return self.likely


@pytest.fixture(autouse=True)
def told_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"counts": Counts, "says": Says, "tones": Tones, "finished": Finished}
    monkeypatch.setattr("fullduplex.plugins.find", lambda family, name: made[name])
    monkeypatch.setattr("fullduplex.systems.cascade.network", lambda cache: LoudIsSpeech())
    ASKED.clear()
    HEARD.clear()


def cascade(**options: Any) -> Cascade:
    """Return a cascade whose stages take whole tenths: 0.1 s each, and nothing for later tokens or characters."""
    declared = dict.fromkeys(("declared_recogniser", "declared_first_token", "declared_voice", "declared_turns"), 0.1)
    none = dict.fromkeys(
        (
            "declared_window",
            "declared_recogniser_second",
            "declared_prompt_character",
            "declared_token",
            "declared_voice_character",
        ),
        0.0,
    )
    named = {"recogniser": "counts", "model": "says", "voice": "tones"}
    return Cascade(**{**named, **declared, **none, "gap": 0.0, "cache": Path("none"), **options})


def hold(system: Cascade, *spoken: tuple[float, float], length: float = 12, clock: Clock = "step-algorithmic") -> Talk:
    """The user speaks from the first to the second time of each pair, in seconds."""
    turns = [Turn(np.full(round((b - a) * RATE), 0.5, np.float32), at(seconds(a))) for a, b in spoken]
    return run_on(clock, drive(system, turns, length=seconds(length), frame=ms(32)))


def heard(talk: Talk) -> list[tuple[float, float]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], talk.system != 0, [0]]).astype(int)))
    return [(round(a / talk.rate, 3), round(b / talk.rate, 3)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def notes(talk: Talk, kind: str) -> list[Any]:
    return [note.data for note in talk.notes if isinstance(note, Note) and note.kind == kind]


def flushes(talk: Talk) -> list[Flush]:
    return [event for event in talk.received if isinstance(event, Flush)]


# Times below are multiples of 32 ms, the network's window, so that none is rounded.
SPEECH = (0.32, 1.6)
ENDPOINT = 1.6 + 0.512


def test_it_answers_after_the_silence_and_each_stage() -> None:
    talk = hold(cascade(), SPEECH)
    first = round(ENDPOINT + 0.3, 3)
    assert heard(talk) == [(first, first + 4.0)]
    (stage,) = notes(talk, "stage")
    assert [round(stage[name], 3) for name in STAGES] == [0.512, 0.1, 0.1, 0.0, 0.1]
    assert stage["total"] == pytest.approx(0.812) and stage["at"]["first_audio"] == pytest.approx(first)


def test_the_stages_add_up_to_the_total() -> None:
    stages = Stages(1, ms(100), ms(600))
    for moment, name in enumerate(("recognised", "wrote", "cut", "spoke"), 7):
        getattr(stages, name)(ms(moment * 100 + 3))
    told = stages.to_json()
    assert sum(told[name] for name in STAGES) == pytest.approx(told["total"])


def test_it_reports_what_it_took_the_user_to_say_and_when_the_user_spoke() -> None:
    talk = hold(cascade(), SPEECH)
    said = [(note.who, note.text) for note in talk.notes if isinstance(note, Said)]
    assert said == [("user", "13 tenths"), ("system", "one two three four."), ("system", "five six seven eight.")]
    vad = [(note.speaking, note.source) for note in talk.notes if isinstance(note, UserVad)]
    assert vad == [(True, ms(320)), (False, ms(1600))]


def test_it_hears_the_onset_that_came_before_the_first_window() -> None:
    hold(cascade(), (0.33, 1.6))
    assert HEARD == [1.27]


def test_a_pause_shorter_than_the_silence_is_part_of_the_turn() -> None:
    talk = hold(cascade(), (0.32, 1.6), (2.08, 2.88))
    assert len(notes(talk, "stage")) == 1 and HEARD == [2.08]


def test_a_detector_that_hears_the_end_shortens_the_wait() -> None:
    talk = hold(cascade(turns="finished"), SPEECH)
    (stage,) = notes(talk, "stage")
    assert stage["endpoint"] == pytest.approx(0.224 + 0.1)


def test_a_detector_that_hears_no_end_lets_the_user_think() -> None:
    talk = hold(cascade(turns="finished:likely=0.49"), SPEECH)
    (stage,) = notes(talk, "stage")
    assert stage["endpoint"] == pytest.approx(2.016)


def test_at_the_threshold_the_turn_is_over() -> None:
    talk = hold(cascade(turns="finished:likely=0.5"), SPEECH)
    assert notes(talk, "stage")[0]["endpoint"] < 0.5


def test_it_stops_when_the_user_has_spoken_for_long_enough() -> None:
    talk = hold(cascade(), SPEECH, (3.52, 4.48))
    (flush,) = flushes(talk)
    # 0.2 s of speech is seven windows.
    assert (flush.scope, flush.arrived) == ("r1", ms(3520 + 224))
    assert heard(talk)[0] == (2.412, 3.744)


def test_the_user_may_cough_while_it_speaks() -> None:
    talk = hold(cascade(), SPEECH, (3.52, 3.648))
    assert flushes(talk) == [] and len(notes(talk, "overlap")) == 1
    assert heard(talk) == [(2.412, 6.412)] and HEARD == [1.28]


def test_one_that_may_not_be_interrupted_talks_on() -> None:
    talk = hold(cascade(interruptible=False), SPEECH, (3.52, 4.8))
    assert flushes(talk) == [] and heard(talk)[0] == (2.412, 6.412)


def test_it_remembers_what_was_heard_and_not_what_it_wrote() -> None:
    hold(cascade(), SPEECH, (3.52, 4.48))
    # 1.3 s of it had sounded: two words, and more than half of the third.
    assert [message.text for message in ASKED[1]][1:] == ["13 tenths", "one two three", "10 tenths"]


def test_what_was_heard_to_the_end_is_remembered_whole() -> None:
    hold(cascade(), SPEECH, (8.0, 8.96))
    assert [message.text for message in ASKED[1]][2] == "one two three four. five six seven eight."


def test_a_turn_that_goes_on_before_the_answer_is_one_turn() -> None:
    # Silent for 0.52 s: the turn seems over, then goes on while the recogniser works.
    talk = hold(cascade(declared_recogniser=1.0), (0.32, 1.6), (2.2, 3.2))
    assert len(notes(talk, "withdrawn")) == 1 and flushes(talk) == []
    assert HEARD == [1.28, 2.28] and len(notes(talk, "stage")) == 1
    assert [[message.text for message in asked] for asked in ASKED][-1][1:] == ["23 tenths"]


def test_a_click_is_no_turn() -> None:
    talk = hold(cascade(), (0.32, 0.384))
    assert len(notes(talk, "noise")) == 1 and HEARD == []


def test_a_turn_without_words_gets_no_answer_and_says_so() -> None:
    talk = hold(cascade(recogniser="counts:deaf=true"), SPEECH)
    (stage,) = notes(talk, "stage")
    assert stage["why"] == "no words were recognised" and "total" not in stage and not talk.system.any()


def test_what_the_voice_cannot_say_is_left_out_and_told() -> None:
    talk = hold(cascade(model="says:text=An|unspeakable|thing|is|this.|Then|this."), SPEECH)
    assert len(notes(talk, "unspoken")) == 1
    assert [note.text for note in talk.notes if isinstance(note, Said) and note.who == "system"] == ["Then this."]


def test_a_backchannel_comes_in_a_pause_of_a_long_turn_and_only_then() -> None:
    options = {"turns": "finished:likely=0.1", "backchannel": 2.0}
    talk = hold(cascade(**options), (0.32, 1.28), (1.76, 3.2), (3.68, 4.8))
    told = notes(talk, "backchannel")
    assert [note["id"] for note in told] == ["b1"]
    (said,) = [note for note in talk.notes if isinstance(note, Said) and note.id == "b1"]
    # The first pause came too early; the second was told from an end of turn at 3.2 + 0.224 + 0.1, and then spoken.
    assert said.text == "Mm-hmm." and said.arrived == ms(3624) and flushes(talk) == []


def test_without_being_told_to_it_gives_no_backchannel() -> None:
    assert notes(hold(cascade(turns="finished:likely=0.1"), (0.32, 3.2), (3.68, 4.8)), "backchannel") == []


def test_audio_is_sent_ahead_or_in_real_time() -> None:
    ahead, paced = hold(cascade(), SPEECH), hold(cascade(paced=True), SPEECH)
    assert ahead.received[-1].arrived < seconds(2.7) < seconds(6) < paced.received[-1].arrived
    assert np.array_equal(ahead.system, paced.system)


def test_in_real_time_it_is_interrupted_at_the_same_moment() -> None:
    talk = hold(cascade(paced=True), SPEECH, (3.52, 4.48))
    assert [flush.arrived for flush in flushes(talk)] == [ms(3744)] and heard(talk)[0] == (2.412, 3.744)


def test_the_gap_between_pieces_is_silent_and_moves_the_words() -> None:
    talk = hold(cascade(gap=0.2), SPEECH)
    assert heard(talk) == [(2.412, 4.412), (4.612, 6.612)]
    second = [note for note in talk.notes if isinstance(note, Said)][-1]
    assert second.words[0][1] == seconds(2.2)


def test_the_same_talk_repeats_to_the_byte() -> None:
    one, other = (hold(cascade(backchannel=1.0), SPEECH, (3.52, 4.48), (9.0, 10.0)) for _ in range(2))
    assert np.array_equal(one.system, other.system) and one.notes == other.notes


def test_on_the_wall_clock_it_does_the_same() -> None:
    talk = hold(cascade(silence=0.2), (0.32, 0.96), length=2.5, clock="wall")
    assert 1.1 < heard(talk)[0][0] < 1.9
    assert talk.ready.settings["stage_times"] == "real" and talk.ready.settings["fed"] == "streamed"


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ({"model": "says:fails=true"}, "http://localhost:1/v1 could not be talked with"),
        ({"recogniser": "counts:fails=true"}, "a part failed: RuntimeError: out of memory"),
    ],
)
def test_a_part_that_fails_ends_the_talk_in_a_sentence(part: dict[str, str], sentence: str) -> None:
    if "recogniser" in part:
        with pytest.raises(BrokenTalk, match="out of memory"):
            hold(cascade(**part), SPEECH)
    else:
        with pytest.raises(BrokenTalk, match=sentence):
            hold(cascade(**part), SPEECH)


@pytest.mark.parametrize(
    "options",
    [
        {"silence": "long"},
        {"silence": 0},
        {"silence": -1},
        {"silence": 4000},
        {"silence": float("nan")},
        {"chunk": 0.001},
        {"backchannel_text": 5},
        {"paced": "yes"},
        {"limit": 2.5},
        {"barge_in": True},
        {"language": "xx", "voice": ""},
        {"language": "fr"},
        {"turns": "finished", "patience": 0.1},
        {"recogniser": "counts:deaf"},
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="cascade"):
        cascade(**options)


def test_a_part_is_named_with_options_between_semicolons() -> None:
    assert parts.part_spec("openai-compatible:url=http://localhost:11434/v1;model=qwen3:8b;seed=3", "model") == Spec(
        "openai-compatible", {"url": "http://localhost:11434/v1", "model": "qwen3:8b", "seed": 3}
    )


def test_an_option_that_a_part_does_not_have_is_refused() -> None:
    with pytest.raises(PluginError, match=r"recogniser 'counts' has no option 'size'; it has: deaf, fails"):
        cascade(recogniser="counts:size=base")


def test_a_spec_on_the_command_line_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'cascade:language="en",recogniser=counts:deaf=true;fails=false,model=says,voice=tones,silence=0.7'
    options = Spec.parse(text).options
    made = Cascade(**options, cache=Path("none"))
    assert (made.silence, made.spec.options["recogniser"]["name"]) == (0.7, "counts")


def test_speech_that_flickers_for_a_window_is_one_stretch() -> None:
    talker = ears.Talker(ms(64))
    edges = [talker.hear(p) for p in (0.4, 0.5, 0.4, 0.1, 0.9, 0.34, 0.34)]
    assert edges == [None, True, None, None, None, None, False]
    assert (talker.since, talker.until) == (ms(32), ms(160))


def test_windows_that_come_in_parts_are_the_same_windows() -> None:
    sound = np.random.default_rng(0).standard_normal(RATE).astype(np.float32)

    class Sums:
        def run(self, _: Any, given: dict[str, Any]) -> tuple[Any, Any]:
            assert given["input"].shape == (1, 576)
            return given["input"].sum(keepdims=True), given["state"]

    whole, parted = ears.Windows(Sums()), ears.Windows(Sums())
    told = whole.hear(sound)
    assert parted.ready(511) == 0 and parted.ready(512) == 1
    assert [p for i in range(0, RATE, 320) for p in parted.hear(sound[i : i + 320])] == told
    assert len(told) == RATE // 512 and SECOND == 1_000_000
