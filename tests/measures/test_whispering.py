"""Voice: the rule for a whisper and for a quieter reply at their edges, and what a silent system comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from fullduplex.measures import whispering
from fullduplex.measures.replies import Limits
from fullduplex.model.items import Item
from fullduplex.model.spans import Span, Timeline, ms
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

LIMITS = Limits()


def talk(
    sound: Mapping[str, float] | None = None,
    *,
    scenario: str = "whisper",
    style: str = "",
    reply: tuple[int, int] | None = (3500, 5000),
    said: str = "eight legs",
    usual: Mapping[str, float] | None = None,
    verdicts: Mapping[str, Verdict | Absent] | None = None,
    lasts: int = 20_000,
) -> Trial:
    told = {
        "scenario": scenario, "style": style, "target": "eight", "expects": [], "probes": [], "pauses": [],
        "turns": [{"id": "u0", "text": "How many legs?", "timestamp": [0.5, 3.0]}],
    }  # fmt: skip
    words: tuple[Word, ...] = ()
    speech = Timeline()
    if reply:
        span = Span(ms(reply[0]), ms(reply[1]))
        words, speech = (Word(said, span),) if said else (), Timeline([span])
    system = Track(
        words, speech, {f"replies/u0/{name}": value for name, value in (sound or {}).items()}, duration=ms(lasts)
    )
    reference = {"interaction": told, **({"usual_level": usual} if usual is not None else {})}
    return Trial(Item("1", reference=reference), Track((Word("legs", Span(ms(500), ms(3000))),)), system,
                 verdicts=verdicts or {})  # fmt: skip


def value(found: Fact | Absent) -> float | str:
    return found.value if isinstance(found, Fact) else found.reason


@pytest.mark.parametrize(
    ("hnr", "voiced", "whispered"),
    [(5.999, 0.399, 1), (6.0, 0.399, 0), (5.999, 0.4, 0), (20.0, 0.9, 0), (-3.0, 0.0, 1)],
)
def test_a_whisper_is_below_both_bounds_and_at_neither(hnr: float, voiced: float, whispered: float) -> None:
    assert value(whispering.whispers(talk({"hnr": hnr, "voiced_fraction": voiced}), LIMITS)) == whispered


def test_a_whisper_that_passes_says_that_it_has_to_be_heard() -> None:
    found = whispering.whispers(talk({"hnr": 2.0, "voiced_fraction": 0.1}), LIMITS)
    assert (
        isinstance(found, Fact)
        and found.why == "whispered by its sound, to be heard by a person: HNR 2.0 dB, voiced 0.10"
    )


def test_a_whisper_in_which_no_word_was_recognised_is_one() -> None:
    assert value(whispering.whispers(talk({"hnr": 2.0, "voiced_fraction": 0.1}, said=""), LIMITS)) == 1


def test_no_reply_is_no_whisper_and_a_sound_that_was_not_measured_is_not_known() -> None:
    assert value(whispering.whispers(talk(reply=None), LIMITS)) == 0
    assert value(whispering.whispers(talk({"hnr": 2.0}), LIMITS)) == "not measured"
    assert value(whispering.whispers(talk({"voiced_fraction": 0.1}), LIMITS)) == "not measured"


def test_a_recording_that_ends_too_soon_tells_nothing() -> None:
    found = [value(whispering.whispers(talk(reply=None, lasts=lasts), LIMITS)) for lasts in (4999, 5000)]
    assert found == ["censored", 0]


def test_a_failed_talk_and_one_without_sound_have_their_reasons() -> None:
    assert value(whispering.whispers(replace(talk(), failed="no such file"), LIMITS)) == "failed"
    assert value(whispering.whispers(replace(talk(), system=Track()), LIMITS)) == "no output"
    assert value(whispering.whispers(Trial(Item("1")), LIMITS)) == "no annotation"


def whispered_to(sound: Mapping[str, float], usual: Mapping[str, float] | None) -> Trial:
    return talk(sound, scenario="volume", style="whispered", usual=usual)


@pytest.mark.parametrize(("level", "adapted"), [(-26.0, 1), (-25.999, 0), (-10.0, 0), (-40.0, 1)])
def test_a_reply_adapts_that_is_six_decibels_below_the_usual_level(level: float, adapted: float) -> None:
    assert value(whispering.adapts(whispered_to({"loudness_lufs": level}, {"loudness_lufs": -20.0}), LIMITS)) == adapted


def test_intensity_is_compared_where_loudness_is_not_known_of_both() -> None:
    usual = {"loudness_lufs": -20.0, "mean_intensity": 70.0}
    assert value(whispering.adapts(whispered_to({"mean_intensity": 60.0}, usual), LIMITS)) == 1
    loud = {"loudness_lufs": -20.0, "mean_intensity": 60.0}
    assert value(whispering.adapts(whispered_to(loud, {"mean_intensity": 70.0}), LIMITS)) == 1
    assert value(whispering.adapts(whispered_to(loud, usual), LIMITS)) == 0


def test_only_whispered_requests_call_for_a_quieter_reply() -> None:
    for style in ("shouted", ""):
        trial = talk({"loudness_lufs": -40.0}, scenario="volume", style=style, usual={"loudness_lufs": -20.0})
        assert value(whispering.adapts(trial, LIMITS)) == "not whispered"


def test_adapting_is_not_known_without_the_usual_level_or_the_replys() -> None:
    assert value(whispering.adapts(whispered_to({"loudness_lufs": -40.0}, None), LIMITS)) == "no usual level"
    assert value(whispering.adapts(whispered_to({}, {"loudness_lufs": -20.0}), LIMITS)) == "not measured"
    silent = talk(scenario="volume", style="whispered", reply=None, usual={"loudness_lufs": -20.0})
    assert value(whispering.adapts(silent, LIMITS)) == 0


def test_understanding_is_as_judged_and_a_silent_system_understood_nothing() -> None:
    for said, found in (("yes", 1), ("no", 0)):
        trial = talk(scenario="volume", style="shouted", verdicts={"understood": Verdict(said)})
        assert value(whispering.understands(trial, LIMITS)) == found
    assert value(whispering.understands(talk(scenario="volume"), LIMITS)) == "not judged"
    assert value(whispering.understands(talk(scenario="volume", reply=None), LIMITS)) == 0


def test_a_reply_without_a_recognised_word_says_so() -> None:
    found = whispering.understands(talk(scenario="volume", said=""), LIMITS)
    assert isinstance(found, Fact) and found.value == 0 and "no word recognised" in found.why


def test_the_level_of_a_reply_is_what_was_measured() -> None:
    assert value(whispering.level(talk({"loudness_lufs": -23.0}), "loudness_lufs", LIMITS)) == -23.0
    assert value(whispering.level(talk(reply=None), "loudness_lufs", LIMITS)) == "no reply"
    assert value(whispering.level(talk(), "loudness_lufs", LIMITS)) == "not measured"


@pytest.mark.parametrize(
    ("reply", "said", "missed", "told"),
    [
        ((3500, 5000), "", 1, "1.50 s of sound, no words recognised"),
        ((3500, 5000), "eight", 0, "1.50 s of sound, 1 word recognised in 100% of it"),
        ((3500, 3799), "", 0, "0.30 s of sound: too short to tell"),
        ((3500, 3800), "", 1, "0.30 s of sound, no words recognised"),
        (None, "", 0, "no reply"),
        ((1000, 2500), "", 0, "no reply"),
    ],
)
def test_a_reply_that_sounds_without_a_word_was_missed(
    reply: tuple[int, int] | None, said: str, missed: int, told: str
) -> None:
    found = whispering.words_missed(talk(reply=reply, said=said), LIMITS)
    assert isinstance(found, Fact) and (found.value, found.why) == (missed, told)


@pytest.mark.parametrize(("end", "missed"), [(3799, 1), (3800, 0)])
def test_words_in_less_than_a_fifth_of_the_sound_do_not_stand_for_it(end: int, missed: int) -> None:
    trial = talk(reply=(3500, 5000))
    few = (Word("eight", Span(ms(3500), ms(end))),)
    found = whispering.words_missed(replace(trial, system=replace(trial.system, words=few)), LIMITS)
    assert isinstance(found, Fact) and found.value == missed


def test_marks_alone_and_words_before_the_turn_ended_are_no_words_of_the_reply() -> None:
    trial = talk(reply=(3500, 5000))
    for words in ((Word("...", Span(ms(3500), ms(5000))),), (Word("eight", Span(ms(1000), ms(2900))),)):
        found = whispering.words_missed(replace(trial, system=replace(trial.system, words=words)), LIMITS)
        assert isinstance(found, Fact) and found.value == 1


def test_where_nobody_listened_nothing_was_missed() -> None:
    trial = talk()
    deaf, blind = replace(trial.system, words=None), replace(trial.system, speech=None)
    assert value(whispering.words_missed(replace(trial, system=deaf), LIMITS)) == "no words"
    assert value(whispering.words_missed(replace(trial, system=blind), LIMITS)) == "not measured"


@pytest.mark.parametrize("sound", [{"hnr": 20.0, "voiced_fraction": 0.9}, {}])
def test_a_recognisers_slip_is_for_a_person_whether_the_reply_passes_or_not(sound: dict[str, float]) -> None:
    slip, plain = (whispering.whispers(talk(sound, said=said), LIMITS) for said in ("", "eight legs"))
    told = [one.why if isinstance(one, Fact) else one.detail for one in (slip, plain)]
    assert told[0].endswith("; to be heard by a person: 1.50 s of sound, no words recognised")
    assert "person" not in told[1]
    assert value(slip) == value(plain)
