import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on
from fullduplex.driving.drive import BrokenTalk, Talk, drive
from fullduplex.driving.lines import next_line
from fullduplex.driving.personas import BUILT_IN, Persona, read_personas
from fullduplex.driving.playout import Samples
from fullduplex.driving.policy import PROMPT, Declared, Policy, instructions
from fullduplex.driving.simulated import SimulatedUser
from fullduplex.driving.talk import HangUp
from fullduplex.driving.user import User
from fullduplex.driving.validity import Check, validity
from fullduplex.errors import InputError, PluginError
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.providers.language_models import Message
from fullduplex.providers.voices import Spoken
from fullduplex.providers.voices.opened import open_voice
from fullduplex.systems.scripted import Answer, Say, Script, Scripted, Sound

RATE = 16_000
BYE = "Thank you, goodbye. [END]"
ANA = Persona("Ana Ruiz", patience=ms(800))


@dataclass
class Lines:
    """A language model that says given lines one after another and keeps what it was asked."""

    lines: Sequence[str]
    asked: list[list[Message]] = field(default_factory=list)
    spec: Spec = field(default_factory=lambda: Spec("lines"))

    def reply(self, messages: Sequence[Message], *, limit: int = 60) -> Iterator[str]:
        self.asked.append(list(messages))
        line = self.lines[min(len(self.asked), len(self.lines)) - 1]
        yield from (line[i : i + 5] for i in range(0, len(line), 5))


class Hum:
    """A voice that hums 250 ms for each word."""

    spec = Spec("hum")

    def speak(self, text: str) -> Spoken:
        return Spoken(tone(ms(250) * len(text.split())), RATE)


def tone(length: int, level: float = 0.3) -> Samples:
    return np.full(length * RATE // SECOND, level, np.float32)


def answers(*texts: str, length: int = seconds(2), yields: int | None = ms(300)) -> Scripted:
    lines = tuple(Answer(Sound(tone(length), text), ms(400)) for text in texts)
    return Scripted(Script(lines, yields, rate=RATE), rate_in=RATE)


def caller(
    *lines: str, persona: Persona = ANA, policy: Policy | None = None, model: Any = None, **more: Any
) -> SimulatedUser:
    policy = policy or Policy()
    return SimulatedUser(model or Lines(lines), Hum(), persona, "Book a table.", policy, rate=RATE, **more)


def hold(user: SimulatedUser, system: Scripted, length: int = seconds(60)) -> Talk:
    talk = drive(system, user, length=length, hang_up=HangUp(quiet=seconds(4)))
    return run_on("step-algorithmic", talk)


def did(user: SimulatedUser, what: str) -> list[Any]:
    return [entry for entry in user.log if entry["did"] == what]


def texts(talk: Talk) -> list[str]:
    return [taken.turn.text for taken in talk.turns]


def starts(talk: Talk) -> list[float]:
    return [in_seconds(taken.span.start) for taken in talk.turns if taken.span]


def test_it_is_a_user() -> None:
    assert isinstance(caller("hello"), User)


def test_a_talk_goes_to_its_end_turn_by_turn_and_is_valid() -> None:
    user = caller("I want a table for two.", "At seven, please.", BYE)
    talk = hold(user, answers("For how many?", "It is booked."))
    assert texts(talk) == ["I want a table for two.", "At seven, please.", "Thank you, goodbye."]
    assert (user.ended, talk.ended_by) == ("the model ended the talk", "quiet")
    assert validity(talk, check=Check(required=("table for two",), stops=True, language="en")) == ()


def test_a_turn_comes_after_patience_and_the_time_that_writing_and_speaking_take() -> None:
    user = caller("One two.", BYE, declared=Declared(ms(500), ms(200)))
    talk = hold(user, answers("Yes?"))
    # Asked at 0.6 s, the first tick half a second in; ready at 1.3 s, said at the next tick.
    assert starts(talk)[0] == 1.4
    # The reply ends at 1.9 + 0.4 + 2.0 = 4.3 s; 800 ms later is 5.1 s, the tick 5.2 s; ready at 5.9 s.
    assert starts(talk)[1] == 6.0


def test_a_patient_person_waits_longer() -> None:
    slow = hold(caller("One two.", BYE, persona=replace(ANA, patience=seconds(2))), answers("Yes?"))
    assert starts(slow)[1] == pytest.approx(7.2)


def test_the_same_seed_repeats_exactly_and_another_does_not() -> None:
    persona = replace(ANA, interrupts=0.5, backchannels=0.5)

    def once(seed: int) -> tuple[str, Talk]:
        user = caller("One two.", "Three four.", "Five six.", BYE, persona=persona, seed=seed)
        talk = hold(user, answers("a", "b", "c", length=seconds(6)))
        return json.dumps(user.log), talk

    (log, talk), (log_2, talk_2) = once(1), once(1)
    assert log == log_2 and np.array_equal(talk.user, talk_2.user)
    assert len({once(seed)[0] for seed in range(1, 6)}) > 1


def test_the_model_sees_itself_as_the_caller_and_turns_that_alternate() -> None:
    model = Lines(["I want a table.", BYE])
    hold(caller(model=model), answers("For how many?"))
    first, second = model.asked
    assert [m.role for m in first] == ["system", "user"]
    assert "Ana Ruiz" in first[0].text and "Book a table." in first[0].text
    assert [(m.role, m.text) for m in second[1:]] == [
        ("user", "(The call begins. You speak first.)"),
        ("assistant", "I want a table."),
        ("user", "For how many?"),
    ]


def test_a_system_that_begins_is_heard_first() -> None:
    model = Lines(["Hello, a table please.", BYE])
    system = Scripted(Script((Say(Sound(tone(seconds(2)), "Welcome!"), ms(100)),), rate=RATE), rate_in=RATE)
    talk = hold(caller(model=model), system)
    assert model.asked[0][-1].text == "Welcome!"
    assert starts(talk)[0] > 2.1 + 0.8


def test_a_user_without_an_opening_waits_for_the_system_and_then_speaks_anyway() -> None:
    talk = hold(caller(BYE, policy=Policy(opening=None, unanswered=seconds(3))), answers())
    assert starts(talk)[0] == pytest.approx(3.0 + 0.8)


def test_no_answer_is_told_to_the_model() -> None:
    model = Lines(["Hello?", BYE])
    hold(caller(model=model), answers())
    assert model.asked[1][-1].text == "(No answer.)"


def test_what_is_not_reported_is_recognised() -> None:
    model, lengths = Lines(["Hello.", BYE]), list[float]()

    def hear(sound: Samples, rate: int) -> str:
        lengths.append(np.count_nonzero(sound) / rate)
        return "for how many"

    hold(caller(model=model, hear=hear), answers(""))
    assert model.asked[1][-1].text == "for how many"
    assert lengths == [pytest.approx(2.0)]


def test_without_a_recogniser_the_model_is_told_that_it_could_not_be_made_out() -> None:
    model = Lines(["Hello.", BYE])
    hold(caller(model=model), answers(""))
    assert "could not make out" in model.asked[1][-1].text


def test_a_reply_whose_words_were_reported_before_is_not_told_as_unheard() -> None:
    model = Lines(["Hello there.", "Wait.", BYE])
    policy = Policy(interrupt_after=(seconds(1), seconds(1)))
    hold(caller(model=model, persona=replace(ANA, interrupts=1.0), policy=policy), answers("long", length=seconds(10)))
    assert model.asked[1][-1].text.startswith("long\n(The other end is still talking.")
    assert model.asked[2][-1].text == "(The other end said no more.)"


def test_one_who_always_interrupts_cuts_into_the_reply() -> None:
    policy = Policy(interrupt_after=(seconds(1), seconds(1)))
    user = caller("Hello there.", "Wait.", BYE, persona=replace(ANA, interrupts=1.0), policy=policy)
    talk = hold(user, answers("long", length=seconds(10)))
    cut_in = talk.turns[1]
    assert cut_in.turn.id == "interruption 2"
    assert cut_in.premise is not None and cut_in.premise.talking
    assert cut_in.span is not None and cut_in.premise.since is not None
    # A second into the reply, the next tick, 700 ms to write and speak, the next tick.
    assert seconds(1.7) <= cut_in.span.start - cut_in.premise.since <= seconds(2.1)
    assert validity(talk, check=Check(stops=True)) == ()


def test_the_goal_s_words_make_one_cut_in_who_never_would() -> None:
    policy = Policy(interrupt_on=("no tables",))
    user = caller("Hello there.", "Wait.", BYE, policy=policy)
    talk = hold(user, answers("Sorry, we have no tables today.", length=seconds(8)))
    assert talk.turns[1].turn.id == "interruption 2"
    calm = caller("Hello there.", "Wait.", BYE, policy=policy)
    assert hold(calm, answers("We have tables.", length=seconds(8))).turns[1].turn.id == "turn 2"


def test_an_interruption_that_comes_too_late_is_thrown_away() -> None:
    policy = Policy(interrupt_after=(seconds(1), seconds(1)))
    user = caller("Hello there.", "Wait.", BYE, persona=replace(ANA, interrupts=1.0), policy=policy)
    talk = hold(user, answers("short", length=ms(1_300)))
    assert [entry["text"] for entry in did(user, "drop")] == ["Wait."]
    assert texts(talk) == ["Hello there.", "Thank you, goodbye."]


def test_words_are_thrown_away_when_the_system_goes_on_meanwhile() -> None:
    pause = np.zeros(seconds(1.2) * RATE // SECOND, np.float32)
    reply = Sound(np.concatenate([tone(seconds(1)), pause, tone(seconds(2))]), "One moment. Yes?")
    system = Scripted(Script((Answer(reply, ms(400)),), rate=RATE), rate_in=RATE)
    user = caller("Hello there.", "Are you there?", BYE)
    talk = hold(user, system)
    assert [entry["text"] for entry in did(user, "drop")] == ["Are you there?"]
    assert texts(talk) == ["Hello there.", "Thank you, goodbye."]
    assert validity(talk) == ()


def long_winded() -> Scripted:
    pause = np.zeros(ms(400) * RATE // SECOND, np.float32)
    parts = [tone(seconds(3)), pause, tone(seconds(3)), pause, tone(seconds(3))]
    return Scripted(Script((Answer(Sound(np.concatenate(parts), "long"), ms(400)),), rate=RATE), rate_in=RATE)


def test_backchannels_come_at_pauses_of_a_long_reply() -> None:
    user = caller("Hello there.", BYE, persona=replace(ANA, backchannels=1.0))
    talk = hold(user, long_winded())
    ids = [taken.turn.id.split()[0] for taken in talk.turns]
    assert ids == ["turn", "backchannel", "backchannel", "backchannel", "turn"]
    assert {taken.turn.text for taken in talk.turns[1:4]} <= {"Mm-hm.", "Right.", "Okay."}
    assert validity(talk) == ()
    silent_one = caller("Hello there.", BYE)
    assert len(hold(silent_one, long_winded()).turns) == 2


@pytest.mark.parametrize(("limit", "cut"), [(seconds(1), True), (None, False)])
def test_one_who_is_talked_over_for_too_long_falls_silent(limit: int | None, cut: bool) -> None:
    system = Scripted(Script((Say(Sound(tone(seconds(8)), "blah"), seconds(2)),), rate=RATE), rate_in=RATE)
    model = Lines(["One two three four five six seven eight nine ten eleven twelve.", BYE])
    user = caller(model=model, policy=Policy(yields_after=limit))
    talk = hold(user, system)
    span = talk.turns[0].span
    assert span is not None
    # It begins at 1.4 s and would last 3 s; the system begins at 2 s and is given a second.
    assert (span.duration < seconds(3)) == cut
    assert len(did(user, "hush")) == cut
    if cut:
        assert in_seconds(span.end) == 3.0
        assert model.asked[1][2].text == "One two three four five six …"
        assert [fault.kind for fault in validity(talk)] == ["cut"]
        assert validity(talk, check=Check(stops=True)) == ()


def test_the_user_gives_up_after_so_many_turns() -> None:
    user = caller("Again.", policy=Policy(turns=3))
    talk = hold(user, answers("a", "b", "c", "d"))
    assert (texts(talk), user.ended) == (["Again."] * 3, "3 turns were said")


@pytest.mark.parametrize("written", ["", "  \n", "(sighs)", "…"])
def test_a_model_that_writes_nothing_is_asked_once_more_and_then_the_talk_is_over(written: str) -> None:
    model = Lines([written])
    user = caller(model=model)
    talk = hold(user, answers("hello"))
    assert (texts(talk), user.ended, len(model.asked)) == ([], "the model wrote nothing that can be said", 2)
    assert [fault.kind for fault in validity(talk)] == ["empty"]


def test_a_model_that_ends_without_a_word_ends_the_talk() -> None:
    user = caller("[END]")
    assert texts(hold(user, answers("hello"))) == []
    assert user.ended == "the model ended the talk"


def test_a_model_that_fails_ends_the_talk_in_a_sentence() -> None:
    class Gone:
        spec = Spec("gone")

        def reply(self, messages: Sequence[Message], *, limit: int = 60) -> Iterator[str]:
            raise PluginError("nobody answers at the server")

    with pytest.raises(BrokenTalk, match="the user could not go on: nobody answers at the server"):
        hold(caller(model=Gone()), answers("hello"))


def test_everything_that_makes_the_user_is_in_its_spec_and_can_be_written() -> None:
    spec = caller("hello", seed=3).spec
    written = json.loads(json.dumps(spec.to_json()))
    assert written["options"]["seed"] == 3 and written["options"]["persona"]["name"] == "Ana Ruiz"
    other = caller("hello", seed=3, policy=Policy(turns=2)).spec
    assert other.digest != spec.digest


@pytest.mark.parametrize(
    ("written", "line", "ended"),
    [
        ("Hello there.", "Hello there.", False),
        ('Ana: "Hello there."', "Hello there.", False),
        ("**Caller:** Hello (smiling) there.", "Hello there.", False),
        ("Hello.\nAssistant: How can I help?\nUser: A table.", "Hello.", False),
        ("<think>They want me to\nsay hello.</think>\nHello.", "Hello.", False),
        ("<think>never closed", "", False),
        ("Thanks, bye! [END] and more", "Thanks, bye!", True),
        ("[END]", "", True),
        ("I want a table. And then I would like to", "I want a table.", False),
        ("I would like to", "I would like to", False),
        ("Note: at 7:30, please.", "Note: at 7:30, please.", False),
        ("*waves*", "", False),
        ("我想订桌子。还有", "我想订桌子。", False),
    ],
)
def test_only_what_the_person_says_is_kept(written: str, line: str, ended: bool) -> None:
    assert next_line(written, "Ana Ruiz", "[END]") == (line, ended)


def test_the_five_personas_carry_the_settings_of_their_voices() -> None:
    personas = read_personas(BUILT_IN)
    assert list(personas) == ["Mildred Kaplan", "Arjun Roy", "Wei Lin", "Mamadou Diallo", "Priya Patil"]
    spec = personas["Priya Patil"].spoken_by(Spec("elevenlabs", {"voice": "x"}))
    expected = {"stability": 0.6, "similarity": 0.78, "style": 0.3, "speaker_boost": True, "speed": 1.1, "voice": "x"}
    assert spec.options == expected
    assert personas["Priya Patil"].spoken_by(Spec("hibari")).options == {"speed": 1.1}
    settings = {"stability": 0.6, "similarity": 0.78, "style": 0.3, "speaker_boost": True, "voice": "x"}
    assert personas["Priya Patil"].settled(Spec("elevenlabs", {"voice": "x"})).options == settings


def test_elevenlabs_takes_every_option_that_a_persona_gives_it() -> None:
    for persona in read_personas().values():
        assert open_voice(persona.spoken_by(Spec("elevenlabs", {"voice": "x"}))).spec.options["speaker_boost"] is True


def test_a_persona_can_be_written_and_read(tmp_path: Path) -> None:
    personas = [*read_personas().values(), ANA]
    (tmp_path / "p.json").write_text(json.dumps({"personas": [p.to_json() for p in personas]}))
    assert list(read_personas(tmp_path / "p.json").values()) == personas


@pytest.mark.parametrize(
    ("persona", "names"),
    [
        ({}, "an object with 'name'"),
        ({"name": " "}, "a name"),
        ({"name": "A", "interrupts": 1.5}, "persona 1, interrupts: found 1.5"),
        ({"name": "A", "pace": 0}, "pace"),
        ({"name": "A", "patience": 0}, "patience"),
        ({"name": "A", "patience": "1"}, "patience"),
        ({"name": "A", "mood": "good"}, "'mood'"),
        ({"name": "A", "voice": {"x": 1}}, "options by the voice's name"),
    ],
)
def test_a_persona_that_is_none_is_refused_in_a_sentence(tmp_path: Path, persona: Any, names: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"personas": [persona]}))
    with pytest.raises(InputError) as refused:
        read_personas(path)
    assert names in str(refused.value) and "\n" not in str(refused.value)


def test_instructions_hold_hostile_goals_as_they_are(tmp_path: Path) -> None:
    persona = Persona("$end", "<script>$goal</script>")
    told = instructions(PROMPT, persona, "$name ${x} $", Policy())
    assert "$name ${x} $" in told and "<script>$goal</script>" in told
    (tmp_path / "p.txt").write_text("Say $what")
    with pytest.raises(InputError, match="what"):
        instructions(tmp_path / "p.txt", persona, "", Policy())


@pytest.mark.parametrize(
    "make", [lambda: Policy(tick=0), lambda: Policy(turns=0), lambda: Policy(interrupt_after=(2, 1))]
)
def test_a_policy_that_cannot_be_meant_is_refused(make: Callable[[], Policy]) -> None:
    with pytest.raises(InputError, match="policy"):
        make()


@pytest.mark.weights
def test_a_small_model_talks_in_a_real_voice_and_repeats() -> None:
    pytest.importorskip("hibari")
    pytest.importorskip("xllamacpp")
    from fullduplex.providers.language_models.llamacpp import LlamaCpp
    from fullduplex.providers.voices.hibari import Hibari

    try:
        model = LlamaCpp()
        list(model.reply([Message("user", "Say hello.")], limit=4))
    except PluginError as missing:
        pytest.skip(str(missing))

    def once() -> Talk:
        policy = Policy(turns=2, tokens=25)
        user = SimulatedUser(model, Hibari(), ANA, "Ask what time the shop opens.", policy, rate=RATE, seed=1)
        return hold(user, answers("We open at nine."), length=seconds(40))

    talk = once()
    assert talk.turns and all(taken.turn.text for taken in talk.turns)
    assert not {"not due", "late", "inaudible", "stray sound"} & {f.kind for f in validity(talk)}
    assert texts(once()) == texts(talk)


def test_on_the_wall_clock_work_runs_beside_the_talk() -> None:
    user = caller("Hello there. [END]", policy=Policy(opening=ms(100)))
    talk = run_on("wall", drive(answers("Yes?"), user, length=seconds(2)))
    assert texts(talk) == ["Hello there."]
    assert 0.2 <= starts(talk)[0] < 1.5
