"""What vendors count, in their own forms, and what it costs."""

from __future__ import annotations

from typing import Any

import pytest

from fullduplex.driving.link import Note, Said
from fullduplex.driving.prices import Prices, dollars, prices_of
from fullduplex.driving.usage import Usage, usage_of
from fullduplex.errors import InputError
from fullduplex.model.spec import Spec


def test_tokens_of_a_driver_in_the_plain_form_add_up() -> None:
    one = Note("usage", {"input": {"audio": 5, "text": 1}, "output": {"audio": 7}})
    assert usage_of([one, Said("hello"), one], 2.0) == Usage(
        2.0, {"input_audio": 10, "input_text": 2, "output_audio": 14}, None, 2
    )


def test_what_was_cached_is_no_input_of_openai_s() -> None:
    usage = {
        "input_tokens": 100,
        "output_tokens": 50,
        "input_token_details": {
            "text_tokens": 20,
            "audio_tokens": 80,
            "cached_tokens": 30,
            "cached_tokens_details": {"text_tokens": 10, "audio_tokens": 20},
        },
        "output_token_details": {"text_tokens": 10, "audio_tokens": 40},
    }
    found = usage_of([Note("response.done", {"id": "r", "usage": usage})], 1.0).tokens
    assert found == {
        "input_text": 10, "input_audio": 60, "cached_text": 10, "cached_audio": 20, "output_text": 10,
        "output_audio": 40,
    }  # fmt: skip
    assert sum(found.values()) == 150


def test_tokens_without_a_modality_are_counted_too() -> None:
    found = usage_of([Note("response.done", {"usage": {"input_tokens": 9, "output_tokens": 4}})], 1.0)
    assert found.tokens == {"input": 9, "output": 4}


def test_google_s_count_has_thoughts_and_a_rest() -> None:
    told = {
        "promptTokenCount": 522,
        "responseTokenCount": 42,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 332}, {"modality": "AUDIO", "tokenCount": 165}],
        "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": 42}],
        "thoughtsTokenCount": 136,
    }
    assert usage_of([Note("usage", told)], 1.0).tokens == {
        "input_text": 332, "input_audio": 165, "input": 25, "output_audio": 42, "output_text": 136,
    }  # fmt: skip


def test_seconds_that_run_on_are_not_added_up() -> None:
    notes = [Note("usage", {"usage": {"seconds": 3}}), Note("session_closed", {"usage": {"seconds": 5.5}})]
    assert usage_of(notes, 4.0).charged == 5.5


def test_a_transcript_s_tokens_stand_apart() -> None:
    told = {"of": "transcription", "type": "tokens", "input_tokens": 30, "output_tokens": 4}
    assert usage_of([Note("usage", told)], 1.0).tokens == {"transcription_input": 30, "transcription_output": 4}


@pytest.mark.parametrize("bad", [True, -1, 1.5, "7", None, 1 << 60, float("nan")])
def test_what_is_no_count_is_passed_over(bad: Any) -> None:
    assert usage_of([Note("usage", {"input": {"audio": bad}, "output": {"audio": 1}})], 1.0).tokens == {
        "output_audio": 1
    }


def test_a_price_alone_is_that_of_a_minute() -> None:
    assert Prices.parse("0.06").cost(Usage(30.0)) == pytest.approx(0.03)
    assert Prices.parse("minute=0.06,talk=0.5").cost(Usage(30.0)) == pytest.approx(0.53)


def test_seconds_that_the_system_charges_go_before_those_of_the_talk() -> None:
    assert Prices.parse("0.06").cost(Usage(30.0, {}, 60.0, 1)) == pytest.approx(0.06)


def test_a_kind_without_a_price_makes_the_cost_unknown() -> None:
    prices = Prices.parse("input_audio=32,output=64")
    assert prices.cost(Usage(1.0, {"input_audio": 1_000_000, "output_audio": 500_000}, None, 1)) == 64.0
    usage = Usage(1.0, {"input_text": 3}, None, 1)
    assert prices.cost(usage) is None and prices.without_price(usage) == ("input_text",)


def test_cached_input_without_a_price_costs_what_input_costs() -> None:
    assert Prices.parse("input_audio=32").cost(Usage(1.0, {"cached_audio": 1_000_000}, None, 1)) == 32.0


def test_tokens_that_were_not_counted_are_not_free() -> None:
    assert Prices.parse("input_audio=32").cost(Usage(1.0)) is None
    assert Prices.parse("input_audio=32").at_most(1.0) is None and Prices.parse("6").at_most(30.0) == 3.0


@pytest.mark.parametrize("text", ["", "x", "-1", "nan", "inf", "audio=1", "input_audio=1,input_audio=2", "minute="])
def test_what_is_no_price_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match="--price"):
        Prices.parse(text)


def test_the_table_knows_a_model_and_its_snapshots_and_no_other() -> None:
    def found(model: str, **options: Any) -> Prices | None:
        return prices_of(Spec("openai-realtime", {"model": model, **options}))

    known = found("gpt-realtime-2.1")
    assert known is not None and known.tokens["input_audio"] == 32 and "2026" in known.source
    assert found("gpt-realtime-2.1-2026-08-01") is known and found("gpt-realtime-2.1-tiny") is None
    assert found("gpt-realtime-2.1", preset="azure") is None
    assert prices_of(Spec("openai-realtime", {"model": "gpt-realtime-2.1"}), hosted=False) is None


def test_money_reads_as_money() -> None:
    assert [dollars(x) for x in (0.0, 0.0123456, 1.005, 12.0)] == ["US$ 0.00", "US$ 0.0123", "US$ 1.00", "US$ 12.00"]
