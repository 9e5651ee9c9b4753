"""Google's batches: requests go up in one body, and the answers come back in the job's own record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fullduplex.judging.providers.batch import Outcomes, batch_id, failed_line, in_order, read_id, size_in
from fullduplex.judging.providers.failures import not_readable, tried
from fullduplex.judging.providers.settings import Settings
from fullduplex.judging.question import Refused, Reply, Unreachable

#: A batch takes longer than a reply: so many times the timeout, so many bytes.
PATIENCE, LARGEST = 10.0, 512 << 20
MOST, _LARGEST_BODY = 10_000, 20 * 10**6
_DONE = ("JOB_STATE_SUCCEEDED", "JOB_STATE_PARTIALLY_SUCCEEDED", "JOB_STATE_CANCELLED", "JOB_STATE_EXPIRED")
#: The HTTP statuses behind the numbers that a request's error carries (google.rpc.Code).
_STATUS = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 13: 500, 14: 503, 16: 401}

#: What the SDK's own reading of an answer raises where it has another shape.
_ODD = (AttributeError, TypeError, KeyError)


def submit(
    known: Settings,
    client: Any,
    errors: type[Exception],
    asked: Sequence[tuple[list[dict[str, Any]], dict[str, Any]]],
    *,
    heard: bool,
) -> str:
    """Return our id of a new batch of ``asked``: contents and configuration of each request; ``heard``: some sound."""
    requests = [
        {"contents": contents, "config": config, "metadata": {"number": str(number)}}
        for number, (contents, config) in enumerate(asked)
    ]
    size_in(known.judge, [_as_sent(request) for request in requests], _LARGEST_BODY)
    made = tried(known, lambda: client.batches.create(model=known.model, src=requests).name, errors, *_ODD)
    if not made:
        raise not_readable(known, "a batch without a name", "batch")
    return batch_id(made, len(asked), heard=heard)


def collect(
    known: Settings, client: Any, errors: type[Exception], batch: str, reply: Callable[..., Reply]
) -> Outcomes | None:
    """Return what became of a batch's requests, None while it is being answered; ``reply`` reads one answer."""
    own, count, heard = read_id(known.judge, batch)

    def told() -> Any:
        return client.batches.get(name=own).model_dump(mode="json", by_alias=True, exclude_none=True)

    job = tried(known, told, errors, *_ODD)
    state = str(job.get("state"))
    if state == "JOB_STATE_FAILED":
        error = job.get("error")
        message = error.get("message") if isinstance(error, dict) else None
        why = f"{known.where} took no request of the batch: {known.told(message or 'it did not say why')}"
        return [Refused(why) for _ in range(count)]
    if state not in _DONE:
        return None
    records = (job.get("dest") or {}).get("inlinedResponses") or ()
    # They come in the order of the requests, and carry their number where the service kept it. With neither all of
    # the numbers nor all of the replies, nobody could tell which reply is whose.
    numbers = [(record.get("metadata") or {}).get("number") for record in records]
    if None in numbers:
        numbers = [str(position) for position in range(len(records))] if len(records) == count else []
    found = {
        number: _outcome(known, record, reply, heard) for number, record in zip(numbers, records) if number is not None
    }
    return in_order(known, found, count, f"the batch is {known.told(state, 40)}")


def _outcome(known: Settings, record: Any, reply: Callable[..., Reply], heard: bool) -> Reply | Refused | Unreachable:
    error = record.get("error")
    if error:
        code = error.get("code")
        return failed_line(known, _STATUS.get(code, code), error)
    try:
        return reply(known, record.get("response"), heard=heard, in_batch=True)
    except (Refused, Unreachable) as failure:
        return failure


def _as_sent(value: Any) -> Any:
    """Return ``value`` with sound as long as it is on the wire, where four characters stand for three bytes."""
    if isinstance(value, bytes):
        return "x" * (len(value) * 4 // 3)
    if isinstance(value, dict):
        return {key: _as_sent(part) for key, part in value.items()}
    return [_as_sent(part) for part in value] if isinstance(value, list) else value
