"""The chain as people use it: items made by the command, a scripted system that speaks, Silero's ears, a judge.

Every margin is clear of what a detector of frames can be wrong by.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.conducts import VARIANTS, Facts, call, facts, judged

from fullduplex.data import audio
from fullduplex.data.files import read_json, write_json
from fullduplex.errors import PluginError
from fullduplex.making.processed import whispered
from fullduplex.providers import weights

pytest.importorskip("hibari", reason="hibari-tts is not installed")

#: What the user says in each scenario; the word that counts follows an asterisk.
SAID: dict[str, tuple[str, ...]] = {
    "backchannel": ("Well I went down to the harbour and the boat had gone so I sat on the wall and ate my cake.",),
    "pause": ("I would like to *go [pause 1.6] home by train.",),
    "turn_taking": ("How long do turtles usually *live?",),
    "user_backchannel": ("Tell me how to bake bread.",),
    "interruption": ("Tell me how to grow beans.", "Wait a moment and tell me about growing white cabbage *instead."),
    "logic": ("I have three hats and lose one. How many are *left?",),
    "countdown": ("Count down to zero from *five.",),
    "alternating_count": ("Let us count in turns. *One.", "*Three.", "*Five."),
    "grammar": ("Mend my grammar. My uncle *teached me to skate and now I like it a lot.",),
    "keyword_wait": ("Stop me at a bird. I saw a fox and a *penguin and then I saw a bear.",),
    "stay_quiet": ("Keep quiet until I ask. I have four eggs. How many do I *need?",),
    "whisper": ("Please whisper the capital of *Portugal.",),
    "volume": ("How long should I boil an *egg?",),
    "groundedness": ("The soup is for Sunday.", "Which day is the soup for?"),
}
TARGETS = {"alternating_count": ("two", "four", "six")}
ANSWER, MORE = "That is right as far as I can tell.", "Mm-hmm."
LONG = (
    "You begin with a bowl of flour and some warm water and a spoon of salt and you stir it all until it is smooth and "
    "then you leave it alone for an hour or two while you go out and walk the dog and when you come back it has grown "
    "and you fold it over and over and let it rest again before it goes into a hot oven for most of an hour"
)
#: What passes, by scenario; None: the conduct has no part in it. ``early`` under the page's rules.
CONDUCTS = ("perfect", "early", "silent", "talkative", "slow")
UNMET = "not exercised"
PASSED: dict[str, tuple[float | str, ...]] = {
    "backchannel": (1, 0, 0, 0, 1),
    "pause": (1, 0, 0, 0, 1),
    "turn_taking": (1, 0, 0, 0, 0),
    "user_backchannel": (1, 1, UNMET, 1, 1),
    "interruption": (1, 0, UNMET, 0, 0),
    "logic": (1, 1, 0, 0, 1),
    "countdown": (1, 1, 0, 0, 1),
    "alternating_count": (1, 0, 0, 0, 0),
    "grammar": (1, 0, 0, 0, 0),
    "keyword_wait": (1, 0, 0, 0, 0),
    "stay_quiet": (1, 0, 0, 0, 1),
    "whisper": (1, 0, 0, 0, 0),
    "volume": (1, 1, 0, 0, 1),
    "groundedness": (1, 1, 0, 0, 1),
}


def script(scenario: str) -> dict[str, Any]:
    """Return the script of a scenario's one item."""
    lines: list[dict[str, Any]] = []
    anchors = []
    for n, text in enumerate(SAID[scenario]):
        line: dict[str, Any] = {"who": "user", "text": text.replace("*", "")}
        if scenario == "groundedness" and n:
            line["probe"] = {"type": "recall", "expected": "Says that it is for Sunday."}
        if "*" in text:
            word = text.partition("*")[2].split()[0].strip(".?")
            anchors.append({"line": len(lines), "word": word, "occurrence": 1})
        lines += [line, {"who": "assistant", "text": "So it is."}]
    item: dict[str, Any] = {
        "id": "1", "category": scenario, "topic": "", "lines": lines, "target": "right", "notes": "",
        "anchor": anchors[0] if anchors else None,
    }  # fmt: skip
    if len(anchors) > 1:
        targets = TARGETS[scenario]
        item |= {"anchors": anchors, "targets": targets, "target": ", ".join(targets)}
    return {"schema": 1, "scenario": scenario, "items": [item]}


def say(text: str, at: float) -> dict[str, Any]:
    return {"say": text, "at": round(at, 3)}


def answer(text: str, delay: float, not_before: float = 0.0) -> dict[str, Any]:
    return {"answer": text, "delay": delay, "not_before": round(not_before, 3)}


def conduct(name: str, scenario: str, item: Path) -> dict[str, Any]:
    """Return the script of a system of known conduct in the item."""
    told = read_json(item / "interaction.json")
    length = audio.probe(item / "u0.wav").duration / 1e6
    end = 0.5 + length
    trigger = 0.5 + told["expects"][0]["end"] if told["expects"] else end
    lag = {"perfect": 0.25, "early": -0.6, "slow": 3.2}.get(name, 0.0)
    if name == "silent":
        return {"lines": []}
    if name == "talkative":
        return {"lines": [say(LONG, 0.9), say(LONG, 17.5)]}
    last = [say(ANSWER, end + lag)]
    if scenario == "pause" and name == "early":
        return {"lines": [say(MORE, 0.5 + told["pauses"][0]["start"] + 0.6), say(ANSWER, end + 0.3)]}
    if scenario == "backchannel" and name != "early":
        return {"lines": [say(MORE, 2.0), say(MORE, 4.0), say(ANSWER, end + lag + 0.5)]}
    if scenario in ("grammar", "keyword_wait"):
        return {"lines": [say("Right.", trigger + {"perfect": 0.175, "early": -0.15}.get(name, lag))]}
    if scenario == "alternating_count":
        if name == "early":
            return {"lines": [say("Two.", end - 0.2)]}
        # What the user says ends audibly a little before its recording does.
        heard = {"Two.": end - 0.3}
        return {"lines": [answer(word, abs(lag), heard.get(word, 0)) for word in ("Two.", "Four.", "Six.")]}
    if scenario == "groundedness":
        return {"lines": [answer(ANSWER, abs(lag), end - 0.3), answer(ANSWER, abs(lag))]}
    if scenario == "user_backchannel":
        return {"lines": [say(LONG, end + lag)]}
    if scenario == "interruption":
        over = end + max(lag, 0) + 3 + audio.probe(item / "u1.wav").duration / 1e6
        begins = over - 0.5 if name == "early" else over + (0.4 if name == "perfect" else 16)
        return {"lines": [say(LONG, end + lag), say(ANSWER, begins)]} | ({} if name == "slow" else {"yields": 0.3})
    if scenario == "whisper" and name == "perfect":
        return {"lines": [{**last[0], "audio": "whisper.wav"}]}
    return {"lines": last}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Facts]:
    """Give what is measured of each system by its conduct."""
    try:
        weights.path("silero-v6-sequence", weights.default_cache(os.environ))
    except PluginError as error:
        pytest.skip(str(error))
    root = tmp_path_factory.mktemp("spoken")
    (root / "scripts").mkdir()
    for scenario in SAID:
        write_json(root / "scripts" / f"{scenario}.json", script(scenario))
    call("interactions", root / "scripts", "--out", root / "items", "--voice", "hibari", "--engine", "here")
    from fullduplex.providers.voices.hibari import Hibari

    spoken = Hibari().speak(ANSWER)
    found = {}
    for name in CONDUCTS:
        place = root / name
        place.mkdir()
        audio.write(place / "whisper.wav", whispered(spoken.samples, spoken.rate), spoken.rate)
        for scenario in SAID:
            told = conduct(name, scenario, root / "items" / f"ib_{scenario}" / "1")
            (place / f"ib_{scenario}.json").write_text(json.dumps(told))
        call("run", "interactionbench@all", "--data", root / "items", "--recogniser", "reported", "--engine", "here",
             "--system", f"scripted:file={place}/{{set}}.json", "--no-page", "--out", root / f"{name}.run")  # fmt: skip
        for variant in ("anchored", ""):
            judged(root / f"{name}.run", root / "cache", variant)
        call("measure", root / f"{name}.run")
        found[name] = facts(root / f"{name}.run")
    # Of one who always whispers no words are known; its sound is.
    call("run", "interactionbench@all", "--data", root / "items/ib_whisper", "--engine", "here",
         "--system", f"scripted:file={root}/perfect/ib_whisper.json", "--recogniser", "none", "--no-page",
         "--out", root / "whispering.run")  # fmt: skip
    return found | {"whispering": facts(root / "whispering.run")}


@pytest.mark.parametrize("variant", ["page", "anchored"])
@pytest.mark.parametrize("scenario", PASSED)
def test_what_silero_hears_of_each_conduct_gets_the_verdict_of_the_rules(
    measured: Mapping[str, Facts], scenario: str, variant: str
) -> None:
    metric = "grounded" if scenario == "groundedness" else "passed"
    found = {name: measured[name][variant, f"{scenario}/1", metric] for name in CONDUCTS}
    expected = dict(zip(CONDUCTS, PASSED[scenario], strict=True))
    if scenario == "interruption" and variant == "anchored":
        expected["early"] = 1
    assert found == expected


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_who_whispers_passes_by_its_sound_alone(measured: Mapping[str, Facts], variant: str) -> None:
    assert measured["whispering"][variant, "whisper/1", "passed"] == 1
