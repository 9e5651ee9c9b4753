"""Anthropic's message batches: requests go up in one body, results come down line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fullduplex.judging.providers.batch import (
    Outcomes,
    batch_id,
    failed_line,
    in_order,
    object_in,
    read_id,
    size_in,
)
from fullduplex.judging.providers.failures import not_readable, tried
from fullduplex.judging.providers.settings import Settings
from fullduplex.judging.question import Refused, Reply, Unreachable

#: A batch takes longer than a reply: so many times the timeout, so many bytes.
PATIENCE, LARGEST = 10.0, 512 << 20
MOST, _LARGEST_BODY = 100_000, 256 * 10**6
#: The statuses behind the names of errors, which is all that a result tells.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def submit(known: Settings, client: Any, sdk: Any, bodies: Sequence[dict[str, Any]]) -> str:
    """Return our id of a new batch of ``bodies``."""
    requests = [{"custom_id": str(number), "params": body} for number, body in enumerate(bodies)]
    size_in(known.judge, requests, _LARGEST_BODY)
    batches = client.messages.batches.with_raw_response
    told = tried(known, lambda: batches.create(requests=requests).http_response.text, sdk.AnthropicError)
    made = object_in(known, told).get("id")
    if not isinstance(made, str) or not made:
        raise not_readable(known, told, "batch")
    return batch_id(made, len(bodies))


def collect(known: Settings, client: Any, sdk: Any, batch: str, reply: Callable[..., Reply]) -> Outcomes | None:
    """Return what became of a batch's requests, None while it is being answered; ``reply`` reads one message."""
    own, count, _ = read_id(known.judge, batch)
    batches = client.messages.batches
    state = tried(known, lambda: batches.with_raw_response.retrieve(own).http_response.text, sdk.AnthropicError)
    status = str(object_in(known, state).get("processing_status"))
    if status in ("in_progress", "canceling"):
        return None
    text = tried(known, lambda: batches.with_raw_response.results(own).http_response.text, sdk.AnthropicError)
    found: dict[str, Reply | Refused | Unreachable] = {}
    for line in filter(str.strip, text.split("\n")):
        record = object_in(known, line)
        result = record.get("result")
        result = result if isinstance(result, dict) else {}
        outcome = _outcome(known, result, reply)
        if outcome is not None:
            found[str(record.get("custom_id"))] = outcome
    return in_order(known, found, count, "it expired or was cancelled")


def _outcome(
    known: Settings, result: dict[str, Any], reply: Callable[..., Reply]
) -> Reply | Refused | Unreachable | None:
    if result.get("type") == "succeeded":
        try:
            return reply(known, result.get("message"), in_batch=True)
        except (Refused, Unreachable) as failure:
            return failure
    if result.get("type") == "errored":
        outer = result.get("error")
        error = outer.get("error") if isinstance(outer, dict) else None
        error = error if isinstance(error, dict) else {}
        return failed_line(known, _STATUS.get(str(error.get("type")), 500), error)
    return None
