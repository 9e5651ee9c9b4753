"""Whatever a server does, a judge ends in its time with one of two failures and one sentence without the key."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from tests.judging.loopback_api import (
    Answer,
    Api,
    completion,
    dripping,
    dripping_headers,
    endless,
    generated,
    hung_up,
    message,
    packed,
    serving,
    silent,
    truncated,
)

from fullduplex.judging.providers.anthropic import Anthropic
from fullduplex.judging.providers.compatible import Compatible
from fullduplex.judging.providers.gemini import Gemini
from fullduplex.judging.providers.openai import OpenAI
from fullduplex.judging.question import Judge, Refused, Request, Unreachable

KEY = "sk-very-secret-0123456789"
ASKED = Request("You judge.", "What of this?", schema={"type": "object", "properties": {"rating": {"type": "integer"}}})
#: Each judge by the path that its address ends in.
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
    server.says = lambda seen: None
    server.seen.clear()
    return server


@pytest.fixture(scope="module", params=list(JUDGES))
def judge(request: pytest.FixtureRequest, server: Api) -> Iterator[Judge]:
    make, path = JUDGES[request.param]
    made = make(url=server.url + path, model="judge", key=KEY, timeout=5.0)
    yield made
    made.close()


@pytest.fixture(scope="module", params=list(JUDGES))
def hasty(request: pytest.FixtureRequest, server: Api) -> Iterator[Judge]:
    make, path = JUDGES[request.param]
    made = make(url=server.url + path, model="judge", key=KEY, timeout=0.3)
    yield made
    made.close()


@pytest.fixture
def made(api: Api) -> Iterator[Callable[..., Judge]]:
    """Make one judge by its name."""
    all_made: list[Judge] = []

    def make(name: str) -> Judge:
        maker, path = JUDGES[name]
        all_made.append(maker(url=api.url + path, model="judge", key=KEY, timeout=5.0))
        return all_made[-1]

    yield make
    for judge in all_made:
        judge.close()


def failure(judge: Judge, request: Request = ASKED) -> Refused | Unreachable:
    with pytest.raises((Refused, Unreachable)) as caught:
        judge.ask(request)
    text = str(caught.value)
    assert text.isprintable() and KEY not in text and len(text) < 500 and "Traceback" not in text
    assert judge.spec.name in text or judge.spec.options["url"] in text
    assert caught.value.__cause__ is None or KEY not in str(caught.value.__cause__)
    return caught.value  # type: ignore[return-value]


def refuses(api: Api, status: int, error: Any, **headers: str) -> None:
    api.says = lambda seen: Answer(
        status,
        {"error": error} if not isinstance(error, bytes) else error,
        {k.replace("_", "-"): v for k, v in headers.items()},
    )


@pytest.mark.parametrize("status", [401, 403, 402, 404])
def test_a_wrong_key_or_model_is_refused_for_all(api: Api, judge: Judge, status: int) -> None:
    refuses(api, status, {"message": f"no such thing: {KEY}", "type": "some_error"})
    found = failure(judge)
    assert isinstance(found, Refused) and found.for_all and f"answered {status}: no such thing: …" in str(found)
    assert len(api.seen) == 1


def test_a_policy_is_refused_for_this_request_alone(api: Api, judge: Judge) -> None:
    refuses(api, 400, {"message": "this content is against the policy", "code": "content_policy_violation"})
    found = failure(judge)
    assert isinstance(found, Refused) and not found.for_all and "against the policy" in str(found)


def test_a_request_that_is_too_long_is_refused_for_this_request_alone(api: Api, judge: Judge) -> None:
    refuses(api, 413, {"message": "too large"})
    found = failure(judge)
    assert isinstance(found, Refused) and not found.for_all


@pytest.mark.parametrize(
    "error",
    [
        {
            "message": "Unsupported value: 'temperature' does not support 0",
            "code": "unsupported_value",
            "param": "temperature",
        },
        {"message": "`temperature` is deprecated for this model.", "type": "invalid_request_error"},
    ],
)
def test_a_model_that_takes_no_temperature_is_told_with_the_way_out(api: Api, judge: Judge, error: Any) -> None:
    refuses(api, 400, error)
    found = failure(judge)
    assert isinstance(found, Refused) and found.for_all and "plain=true" in str(found)


def test_an_account_without_quota_is_refused_for_all_though_its_status_is_that_of_a_rate_limit(
    api: Api, judge: Judge
) -> None:
    refuses(api, 429, {"message": "You exceeded your quota", "code": "insufficient_quota"})
    found = failure(judge)
    assert isinstance(found, Refused) and found.for_all


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("0.5", 0.5), ("soon", None), ("nan", None), ("-3", 0.0)])
def test_a_rate_limit_is_unreachable_with_the_seconds_to_wait(
    api: Api, judge: Judge, header: str, seconds: float | None
) -> None:
    refuses(api, 429, {"message": "slow down"}, retry_after=header)
    found = failure(judge)
    assert isinstance(found, Unreachable) and found.after == seconds
    assert len(api.seen) == 1, "asking again is not the judge's to decide"


def test_a_rate_limit_without_a_word_has_no_seconds(api: Api, judge: Judge) -> None:
    refuses(api, 429, {"message": "slow down"})
    found = failure(judge)
    assert isinstance(found, Unreachable) and found.after is None


def test_a_date_to_come_back_at_is_read_as_seconds(api: Api, judge: Judge) -> None:
    refuses(
        api, 429, {"message": "x"}, retry_after=format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    )
    found = failure(judge)
    assert isinstance(found, Unreachable) and found.after is not None and 25 < found.after < 31


def test_the_delay_that_google_puts_into_the_error_is_read(api: Api, made: Callable[..., Judge]) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}]
    refuses(api, 429, {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": details})
    found = failure(made("gemini"))
    assert isinstance(found, Unreachable) and found.after == 37.0


def test_google_tells_a_wrong_key_with_the_status_of_a_bad_request(api: Api, made: Callable[..., Judge]) -> None:
    refuses(api, 400, {"code": 400, "message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]})
    found = failure(made("gemini"))
    assert isinstance(found, Refused) and found.for_all


@pytest.mark.parametrize("status", [500, 502, 503, 529, 408])
def test_a_server_at_fault_is_unreachable(api: Api, judge: Judge, status: int) -> None:
    refuses(api, status, b"<html>\x1b[31m gateway </html>", content_type="text/html")
    found = failure(judge)
    assert isinstance(found, Unreachable) and f"answered {status}" in str(found) and len(api.seen) == 1


@pytest.mark.parametrize("status", [400, 418, 500])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b'"x"',
        b'{"error": "x"}',
        b'{"error": ["x"]}',
        b'{"error": {"message": 3, "code": {}}}',
        b'[{"error": {"details": 3}}]',
        b"\xff\xfe",
    ],
    ids=range(9),
)
def test_an_error_of_any_shape_is_a_sentence(api: Api, judge: Judge, status: int, body: bytes) -> None:
    refuses(api, status, body)
    assert isinstance(failure(judge), Unreachable if status == 500 else Refused)


def test_an_error_nested_without_end_is_a_sentence(api: Api, judge: Judge) -> None:
    refuses(api, 400, b"[" * 50_000)
    assert failure(judge)


def test_a_server_that_sends_elsewhere_is_not_followed(api: Api, judge: Judge) -> None:
    refuses(api, 307, {}, location="http://127.0.0.1:9/elsewhere")
    found = failure(judge)
    assert isinstance(found, Refused) and found.for_all and len(api.seen) == 1


@pytest.mark.parametrize("name", list(JUDGES))
def test_nobody_at_the_address_is_unreachable(name: str) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        make, path = JUDGES[name]
        judge = make(url=f"http://127.0.0.1:{bound.getsockname()[1]}{path}", model="judge", key=KEY, timeout=2.0)
        found = failure(judge)
    assert isinstance(found, Unreachable) and "could not be talked with" in str(found)
    judge.close()


@pytest.mark.parametrize("play", [silent, dripping, dripping_headers], ids=lambda play: str(play.__name__))
def test_a_server_that_never_ends_its_answer_is_left_in_time(api: Api, hasty: Judge, play: Any) -> None:
    api.says = lambda seen: Answer(play=play)
    began = time.monotonic()
    found = failure(hasty)
    assert isinstance(found, Unreachable) and "did not answer within 0.3 s" in str(found)
    assert time.monotonic() - began < 1.5


def test_the_next_request_has_all_of_its_time_again(api: Api, hasty: Judge) -> None:
    api.says = lambda seen: Answer(play=silent)
    failure(hasty)
    api.says = lambda seen: None
    assert hasty.ask(ASKED).complete


@pytest.mark.parametrize("play", [truncated, hung_up], ids=lambda play: str(play.__name__))
def test_an_answer_that_breaks_off_is_unreachable(api: Api, judge: Judge, play: Any) -> None:
    api.says = lambda seen: Answer(play=play)
    assert isinstance(failure(judge), Unreachable)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"ok",
        b"<html>hello</html>",
        b"[1]",
        b"null",
        b'{"choices": 3}',
        b'{"content": "x"}',
        b"\xff\xfe",
        b"[" * 50_000,
    ],
    ids=["empty", "text", "html", "list", "null", "choices", "content", "bytes", "nested"],
)
@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_an_answer_that_is_no_reply_is_unreachable(api: Api, judge: Judge, body: bytes, kind: str) -> None:
    api.says = lambda seen: Answer(200, body, {"content-type": kind})
    found = failure(judge)
    assert isinstance(found, Unreachable) and "sent what is no" in str(found)


def test_a_reply_without_end_is_not_read_to_its_end(api: Api, judge: Judge) -> None:
    api.says = lambda seen: Answer(play=endless)
    found = failure(judge)
    assert isinstance(found, Unreachable) and "more than 4 MB" in str(found)


def test_a_small_answer_that_unpacks_to_a_large_one_is_not_read_to_its_end(api: Api, judge: Judge) -> None:
    api.says = lambda seen: packed(40 << 20)
    found = failure(judge)
    assert isinstance(found, Unreachable) and "more than 4 MB" in str(found)


def answer_of(api: Api, judge: Judge, change: Callable[[Any], None]) -> None:
    """Have the server send what it would, changed."""

    def says(seen: Any) -> Answer:
        make = {"anthropic": message, "gemini": generated}.get(judge.spec.name, completion)
        told = make(api, json.loads(seen.body))
        change(told)
        return Answer(200, told)

    api.says = says


def test_a_reply_that_was_cut_is_not_complete(api: Api, judge: Judge) -> None:
    def cut(told: Any) -> None:
        if "choices" in told:
            told["choices"][0]["finish_reason"] = "length"
        elif "candidates" in told:
            told["candidates"][0]["finishReason"] = "MAX_TOKENS"
        else:
            told["stop_reason"] = "max_tokens"

    answer_of(api, judge, cut)
    assert not judge.ask(ASKED).complete


def test_a_model_that_thought_until_its_limit_gave_an_empty_cut_reply(api: Api, judge: Judge) -> None:
    def cut(told: Any) -> None:
        if "choices" in told:
            told["choices"][0] = {"finish_reason": "length", "message": {"content": None}}
        elif "candidates" in told:
            told["candidates"][0] = {"finishReason": "MAX_TOKENS", "content": {"role": "model"}}
        else:
            told |= {"stop_reason": "max_tokens", "content": []}

    answer_of(api, judge, cut)
    found = judge.ask(ASKED)
    assert (found.text, found.complete) == ("", False)


def test_no_choice_is_unreachable(api: Api, judge: Judge) -> None:
    def empty(told: Any) -> None:
        for name in ("choices", "candidates", "content"):
            if name in told:
                told[name] = []

    answer_of(api, judge, empty)
    found = failure(judge)
    assert isinstance(found, Unreachable) and "without" in str(found)


def test_a_model_that_declines_has_refused(api: Api, judge: Judge) -> None:
    def declined(told: Any) -> None:
        if "choices" in told:
            told["choices"][0]["message"] = {"content": None, "refusal": "I will not."}
        elif "candidates" in told:
            told["candidates"][0] = {"finishReason": "SAFETY"}
        else:
            told |= {"stop_reason": "refusal", "stop_details": {"type": "refusal", "explanation": "I will not."}}

    answer_of(api, judge, declined)
    found = failure(judge)
    assert isinstance(found, Refused) and not found.for_all and "declined" in str(found)


def test_a_filter_of_openai_has_refused(api: Api, made: Callable[..., Judge]) -> None:
    judge = made("openai")
    answer_of(api, judge, lambda told: told["choices"][0].update(finish_reason="content_filter"))
    assert isinstance(failure(judge), Refused)


def test_a_prompt_that_google_blocks_is_refused(api: Api, made: Callable[..., Judge]) -> None:
    judge = made("gemini")
    api.says = lambda seen: Answer(200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})
    found = failure(judge)
    assert isinstance(found, Refused) and "PROHIBITED_CONTENT" in str(found)


def test_hostile_words_of_a_server_are_harmless(api: Api, judge: Judge) -> None:
    refuses(api, 400, {"message": "\x1b]0;x\x07\u202e<script>\n" + "a" * 100_000})
    assert isinstance(failure(judge), Refused)


def test_a_server_of_others_may_put_its_error_anywhere(api: Api, made: Callable[..., Judge]) -> None:
    judge = made("openai-compatible")
    for body, said in (({"detail": "not here"}, "not here"), ({"error": "no model"}, "no model"), ([], "[]")):
        api.says = lambda seen, body=body: Answer(422, body)  # type: ignore[misc]
        assert said in str(failure(judge))
