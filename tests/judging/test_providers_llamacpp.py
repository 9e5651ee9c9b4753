"""A real server of llama.cpp as a judge: it is held to the schema, token by token."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest

from fullduplex.errors import PluginError
from fullduplex.judging.providers.compatible import Compatible
from fullduplex.judging.question import Request
from fullduplex.providers import weights
from fullduplex.providers.language_models import Message
from fullduplex.providers.language_models.llamacpp import SMOLLM2, _server, smollm2

pytestmark = pytest.mark.weights
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": 60}, "rating": {"type": "integer", "enum": [0, 1, 2, 3]}},
}
ASKED = Request(
    "You rate answers from 0 to 3. Say why, then the rating, as JSON.",
    "Question: what is the capital of France? Answer: Paris.",
    schema=SCHEMA,
    seed=1,
    temperature=0.0,
    limit=120,
)


@pytest.fixture(scope="module")
def address() -> str:
    pytest.importorskip("xllamacpp")
    cache = weights.default_cache(os.environ)
    try:
        weights.path(SMOLLM2, cache)
    except PluginError as error:
        pytest.skip(str(error))
    small = smollm2(cache=cache)
    list(small.reply([Message("user", "Hello.")], limit=1))
    return f"{_server(str(small._file), small.context, small.threads).listening_address}/v1"


@pytest.fixture
def judge(address: str) -> Iterator[Compatible]:
    made = Compatible("smollm2", url=address, timeout=60.0)
    yield made
    made.close()


def test_its_reply_is_of_the_schema_and_its_tokens_are_counted(judge: Compatible) -> None:
    reply = judge.ask(ASKED)
    told = json.loads(reply.text)
    assert list(told) == ["reason", "rating"] and told["rating"] in (0, 1, 2, 3)
    assert reply.complete and reply.model and reply.cost is None
    assert reply.usage["input"] > 20 and 5 < reply.usage["output"] <= 120


def test_a_reply_that_its_limit_cuts_is_not_complete(judge: Compatible) -> None:
    reply = judge.ask(Request("", "Tell me a long story.", limit=5))
    assert not reply.complete and reply.usage["output"] == 5


def test_the_same_question_with_the_same_seed_has_the_same_reply(judge: Compatible) -> None:
    assert judge.ask(ASKED).text == judge.ask(ASKED).text
