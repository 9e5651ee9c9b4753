"""What goes over the wire to each judge, and what comes of its reply."""

from __future__ import annotations

import base64
import json
import os
import threading
import wave
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.judging.loopback_api import MODEL, SAID, Answer, Api, serving

from fullduplex.data import audio
from fullduplex.errors import InputError, PluginError
from fullduplex.judging.providers import KEY_NAMES, settings
from fullduplex.judging.providers.anthropic import Anthropic
from fullduplex.judging.providers.compatible import Compatible
from fullduplex.judging.providers.gemini import Gemini
from fullduplex.judging.providers.openai import OpenAI
from fullduplex.judging.question import Judge, Refused, Reply, Request, Unreachable

KEY = "sk-very-secret-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "rating": {"type": "integer", "minimum": 0, "maximum": 5}},
}
ASKED = Request("You judge.", "What of this?", schema=SCHEMA, seed=7, temperature=0.5, limit=300)
JUDGES: dict[str, tuple[Callable[..., Judge], str]] = {
    "openai": (OpenAI, "/v1"),
    "openai-compatible": (Compatible, "/v1"),
    "anthropic": (Anthropic, ""),
    "gemini": (Gemini, ""),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Api]:
    with serving() as api:
        yield api


@pytest.fixture
def api(server: Api) -> Api:
    server.says, server.text = lambda seen: None, SAID
    server.seen.clear()
    return server


@pytest.fixture
def made(api: Api) -> Iterator[Callable[..., Any]]:
    all_made: list[Judge] = []

    def make(name: str, **options: Any) -> Judge:
        maker, path = JUDGES[name]
        known = {"url": api.url + path, "model": "judge", "key": KEY, "timeout": 5.0}
        all_made.append(maker(**(known | options)))
        return all_made[-1]

    yield make
    for judge in all_made:
        judge.close()


@pytest.fixture(params=list(JUDGES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    audio.write(tmp_path / "clip.wav", np.linspace(-0.5, 0.5, 1600), 16_000)
    return tmp_path / "clip.wav"


def test_a_reply_comes_with_its_model_and_its_tokens(made: Callable[..., Judge], name: str) -> None:
    assert made(name).ask(ASKED) == Reply(SAID, MODEL, {"input": 100, "output": 20, "cached": 40}, True, None)


def test_a_key_that_a_reply_repeats_is_not_kept(api: Api, made: Callable[..., Judge], name: str) -> None:
    api.text = f"I was called with {KEY}."
    assert made(name).ask(ASKED).text == "I was called with …."
    api.text = "none of these"
    assert made(name, key="none").ask(ASKED).text == "none of these"


def test_a_count_of_tokens_that_is_none_is_left_out(api: Api, made: Callable[..., Judge]) -> None:
    said = {"choices": [{"message": {"content": SAID}}], "usage": {"prompt_tokens": True, "completion_tokens": 3}}
    api.says = lambda seen: Answer(body=said)
    assert made("openai-compatible").ask(ASKED).usage == {"output": 3}


def test_given_prices_make_a_cost(made: Callable[..., Judge], name: str) -> None:
    assert made(name, price_in=10, price_out=50.0).ask(ASKED).cost == pytest.approx((100 * 10 + 20 * 50) / 1e6)


def test_the_key_is_on_the_wire_and_nowhere_else(api: Api, made: Callable[..., Judge], name: str) -> None:
    judge = made(name)
    judge.ask(ASKED)
    carried = [header for header, value in api.seen[0].headers.items() if KEY in value]
    assert [header.lower() for header in carried] == [
        {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(name, "authorization")
    ]
    assert KEY not in repr(vars(judge)["_known"]) and KEY not in str(judge.spec)
    assert KEY not in json.dumps(judge.spec.to_json())


def test_the_environment_changes_nothing_of_what_is_sent(
    api: Api, made: Callable[..., Judge], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(name).ask(ASKED)
    for variable, value in {
        "HTTP_PROXY": "http://127.0.0.1:9",
        "ALL_PROXY": "http://127.0.0.1:9",
        "OPENAI_API_KEY": "another",
        "OPENAI_ORG_ID": "someone",
        "OPENAI_BASE_URL": "http://127.0.0.1:9",
        "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer another\nX-Who: someone",
        "ANTHROPIC_API_KEY": "another",
        "ANTHROPIC_AUTH_TOKEN": "another",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Who: someone",
        "GOOGLE_API_KEY": "another",
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_GENAI_API_VERSION": "v9",
    }.items():
        monkeypatch.setenv(variable, value)
    made(name).ask(ASKED)
    first, second = api.seen
    assert (first.path, dict(first.headers), first.body) == (second.path, dict(second.headers), second.body)


def test_no_key_is_no_header(api: Api, made: Callable[..., Judge], name: str) -> None:
    made(name, key="").ask(ASKED)
    assert not {"authorization", "x-api-key", "x-goog-api-key"} & {header.lower() for header in api.seen[0].headers}


def test_a_key_file_holds_the_key(api: Api, made: Callable[..., Judge], name: str, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    made(name, key="", key_file=str(tmp_path / "key")).ask(ASKED)
    assert any(KEY in value for value in api.seen[0].headers.values())


def test_openai_is_asked_by_a_strict_schema_a_seed_and_a_temperature(api: Api, made: Callable[..., Judge]) -> None:
    made("openai").ask(ASKED)
    assert api.seen[0].json == {
        "model": "judge",
        "messages": [{"role": "system", "content": "You judge."}, {"role": "user", "content": "What of this?"}],
        "max_completion_tokens": 300,
        "seed": 7,
        "temperature": 0.5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "verdict",
                "strict": True,
                "schema": {**SCHEMA, "additionalProperties": False, "required": ["reason", "rating"]},
            },
        },
    }


def test_what_thinks_gets_room_and_no_temperature(api: Api, made: Callable[..., Judge]) -> None:
    made("openai", plain=True, effort="low", room=2000).ask(ASKED)
    asked = api.seen[0].json
    assert (asked["max_completion_tokens"], asked["reasoning_effort"]) == (2300, "low")
    assert not {"seed", "temperature"} & set(asked)


@pytest.mark.parametrize(
    ("structure", "kind"), [("json_schema", "json_schema"), ("json_object", "json_object"), ("none", None)]
)
def test_a_compatible_server_is_held_to_json_as_it_can(
    api: Api, made: Callable[..., Judge], structure: str, kind: str | None
) -> None:
    made("openai-compatible", structure=structure, extra='{"think": false}').ask(ASKED)
    asked = api.seen[0].json
    assert asked.get("response_format", {}).get("type") == kind
    assert asked["max_tokens"] == 300 and asked["think"] is False


def test_free_text_is_asked_for_without_a_schema(api: Api, made: Callable[..., Judge], name: str) -> None:
    made(name).ask(Request("You judge.", "Say."))
    assert not any(word in api.seen[0].body.decode() for word in ("schema", "response_format", "application/json"))


def test_anthropic_is_asked_by_a_schema_without_bounds_and_by_no_seed(api: Api, made: Callable[..., Judge]) -> None:
    made("anthropic", effort="low").ask(ASKED)
    schema = {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "rating": {"type": "integer", "enum": [0, 1, 2, 3, 4, 5]}},
        "additionalProperties": False,
        "required": ["reason", "rating"],
    }
    assert api.seen[0].json == {
        "model": "judge",
        "max_tokens": 300,
        "system": "You judge.",
        "messages": [{"role": "user", "content": "What of this?"}],
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": schema}},
    }


def test_older_models_of_anthropic_take_a_temperature(api: Api, made: Callable[..., Judge]) -> None:
    made("anthropic", plain=False, structure="none").ask(ASKED)
    assert api.seen[0].json["temperature"] == 0.5 and "output_config" not in api.seen[0].json


def test_gemini_is_asked_by_a_schema_and_hears(api: Api, made: Callable[..., Judge], clip: Path) -> None:
    made("gemini").ask(Request("You judge.", "What?", (clip,), SCHEMA, seed=7, temperature=0.0, limit=300))
    asked = api.seen[0].json
    assert api.seen[0].path == "/v1beta/models/judge:generateContent"
    words, sound = asked["contents"][0]["parts"]
    # Google's SDK writes one of the two names that the service takes.
    assert words == {"text": "What?"} and "audio/wav" in sound["inlineData"].values()
    assert base64.urlsafe_b64decode(sound["inlineData"]["data"]) == clip.read_bytes()
    held = asked["generationConfig"]
    assert (held["seed"], held["temperature"], held["maxOutputTokens"]) == (7, 0.0, 300 + 4096)
    assert held["responseJsonSchema"]["required"] == ["reason", "rating"]


@pytest.mark.parametrize("name", ["openai", "openai-compatible"])
def test_a_model_that_hears_gets_the_clip(api: Api, made: Callable[..., Judge], name: str, clip: Path) -> None:
    judge = made(name, audio=True)
    judge.ask(Request("You judge.", "What?", (clip,), SCHEMA))
    words, sound = api.seen[0].json["messages"][1]["content"]
    assert judge.hears and words == {"type": "text", "text": "What?"}
    assert sound["input_audio"]["format"] == "wav"
    assert base64.b64decode(sound["input_audio"]["data"]) == clip.read_bytes()


def test_models_of_openai_that_hear_take_no_schema(api: Api, made: Callable[..., Judge], clip: Path) -> None:
    judge = made("openai", audio=True)
    judge.ask(Request("You judge.", "What?", (clip,), SCHEMA))
    assert "response_format" not in api.seen[0].json and judge.spec.options["structure"] == "none"


def test_a_clip_in_another_format_is_sent_as_the_same_sound(
    api: Api, made: Callable[..., Judge], tmp_path: Path
) -> None:
    samples = np.linspace(-0.5, 0.5, 1600, dtype=np.float32)
    audio.write(tmp_path / "clip.flac", samples, 16_000)
    made("gemini").ask(Request("", "What?", (tmp_path / "clip.flac",)))
    sent = tmp_path / "sent.wav"
    sent.write_bytes(base64.urlsafe_b64decode(api.seen[0].json["contents"][0]["parts"][1]["inlineData"]["data"]))
    with wave.open(str(sent)) as file:
        assert file.getframerate() == 16_000
    assert np.array_equal(audio.read(sent)[0], audio.read(tmp_path / "clip.flac")[0])


def test_a_clip_that_would_not_be_heard_is_refused_for_all(
    api: Api, made: Callable[..., Judge], name: str, clip: Path
) -> None:
    judge = made(name, **({} if name == "anthropic" else {"audio": False}))
    with pytest.raises(Refused, match="hears none") as caught:
        judge.ask(Request("", "What?", (clip,)))
    assert caught.value.for_all and not judge.hears and not api.seen


def test_a_clip_that_is_no_sound_is_refused(made: Callable[..., Judge], tmp_path: Path) -> None:
    (tmp_path / "clip.wav").write_text("no sound")
    for clip in (tmp_path / "clip.wav", tmp_path / "none.wav"):
        with pytest.raises(Refused, match="a clip cannot be read"):
            made("gemini").ask(Request("", "What?", (clip,)))


def test_clips_that_no_vendor_takes_are_refused_unsent(api: Api, made: Callable[..., Judge], tmp_path: Path) -> None:
    audio.write(tmp_path / "long.wav", np.zeros(8_000_000), 16_000)
    with pytest.raises(Refused, match="16 MB"):
        made("gemini").ask(Request("", "What?", (tmp_path / "long.wav",)))
    assert not api.seen


def test_eight_threads_each_get_their_own_reply(api: Api, made: Callable[..., Judge], name: str) -> None:
    together = threading.Barrier(8)
    api.text = lambda user: f"of {user}"
    judge = made(name)

    def ask(number: int) -> str:
        together.wait(10)
        return judge.ask(Request("", f"question {number}")).text

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(32))) == [f"of question {number}" for number in range(32)]


def test_a_deadline_is_each_threads_own(api: Api, made: Callable[..., Judge]) -> None:
    def says(seen: Any) -> Answer | None:
        if b"slow" in seen.body:
            api.over.wait(0.5)
        return None

    api.says = says
    judge = made("openai", timeout=0.3)

    def ask(word: str) -> str:
        try:
            return judge.ask(Request("", word)).text
        except Unreachable:
            return "late"

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, ["slow", "quick"] * 4))
    assert found == ["late", SAID] * 4


def test_names_in_the_middle_of_an_address_lead_nowhere_else(api: Api, made: Callable[..., Judge]) -> None:
    judge = made("gemini", model="../../x?key=1#<script>")
    with pytest.raises((Refused, Unreachable)) as caught:
        judge.ask(ASKED)
    assert str(caught.value).isprintable()


def test_a_schema_with_half_a_character_is_sent_or_refused_in_a_sentence(made: Callable[..., Judge], name: str) -> None:
    try:
        assert made(name).ask(Request("You judge.", "half \ud83d of one")).text == SAID
    except (Refused, Unreachable) as failure:
        assert str(failure).isprintable()


def test_specs_tell_what_changes_a_reply_and_nothing_else(made: Callable[..., Judge], name: str) -> None:
    base = made(name).spec
    assert made(name, key="other", timeout=9.0, price_in=1, price_out=2).spec == base
    for option, value in {"model": "m", "plain": name != "anthropic", "room": 9, "structure": "none"}.items():
        assert made(name, **{option: value}).spec.digest != base.digest


def test_keys_have_the_names_that_the_vendors_gave_them() -> None:
    assert KEY_NAMES == {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": ""}, "the name that the server has"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": float("nan")}, "a number"),
        ({"url": "ftp://x"}, "http://HOST"),
        ({"url": f"http://{KEY}@x/v1"}, "more than an address"),
        ({"url": "http://x/v1?key=1"}, "http://HOST"),
        ({"key": "two words"}, "a key, in one line"),
        ({"key": "", "key_file": "/nowhere/key"}, "a file that holds the key"),
        ({"room": -1}, "room"),
        ({"price_in": 1.0}, "both or neither"),
        ({"price_in": -1.0, "price_out": 1.0}, "price_in"),
        ({"structure": "yaml"}, "json_schema"),
        ({"proxy": "http://user:pw@x"}, "more than an address"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    made: Callable[..., Judge], name: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        made(name, **options)
    assert said in str(caught.value) and KEY not in str(caught.value)


@pytest.mark.parametrize("maker", [OpenAI, Anthropic, Gemini])
def test_a_vendors_own_address_needs_a_key(maker: Callable[..., Judge]) -> None:
    with pytest.raises(InputError, match="a key for this service"):
        maker(model="judge")


def test_a_missing_sdk_is_told_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(settings, "import_module", nothing)
    with pytest.raises(PluginError, match=r"judge 'openai' needs openai.*fullduplex\[judges\]"):
        OpenAI("judge", KEY)


def test_a_request_can_go_through_a_proxy(api: Api, made: Callable[..., Judge]) -> None:
    # A server that is asked for a whole address is a proxy; this one answers itself.
    judge = made("openai-compatible", url="http://nowhere.invalid/v1", proxy=api.url)
    api.says = lambda seen: None if seen.path.startswith("/") else Answer(403, {"error": {"message": seen.path}})
    with pytest.raises(Refused, match=r"http://nowhere\.invalid/v1/chat/completions"):
        judge.ask(ASKED)


def test_importing_the_judges_loads_no_sdk() -> None:
    import subprocess
    import sys

    modules = "anthropic, batch, compatible, gemini, openai, recorded, wire"
    script = f"from fullduplex.judging.providers import {modules}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ)
    assert not {"openai", "anthropic", "google.genai", "httpx2", "httpx", "soundfile"} & set(run.stdout.split())
