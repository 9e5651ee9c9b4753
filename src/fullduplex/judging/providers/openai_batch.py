"""OpenAI's batches: a file of requests goes up, a file of answers comes down."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from fullduplex.judging.providers import chat
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

#: A file takes longer than a reply: so many times the timeout, so many bytes.
PATIENCE, LARGEST = 10.0, 512 << 20
MOST, _LARGEST_FILE = 50_000, 200 * 10**6
_WORKING = ("validating", "in_progress", "finalizing", "cancelling")


def submit(known: Settings, client: Any, sdk: Any, bodies: Sequence[dict[str, Any]], *, heard: bool) -> str:
    """Return our id of a new batch of ``bodies``; ``heard``: some hold sound."""
    lines = [
        {"custom_id": str(number), "method": "POST", "url": "/v1/chat/completions", "body": body}
        for number, body in enumerate(bodies)
    ]
    size_in(known.judge, lines, _LARGEST_FILE)
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()

    files, batches = client.files.with_raw_response, client.batches.with_raw_response
    upload = {"file": ("requests.jsonl", content), "purpose": "batch"}
    file = _id(known, lambda: files.create(**upload).http_response.text, sdk)
    wanted = {"input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    return batch_id(_id(known, lambda: batches.create(**wanted).http_response.text, sdk), len(bodies), heard=heard)


def collect(known: Settings, client: Any, sdk: Any, batch: str) -> Outcomes | None:
    """Return what became of a batch's requests, None while it is being answered."""
    own, count, heard = read_id(known.judge, batch)

    def ask(call: Callable[[], Any]) -> Any:
        return tried(known, call, sdk.OpenAIError)

    state = ask(lambda: client.batches.with_raw_response.retrieve(own).http_response.text)
    told = object_in(known, state)
    status = str(told.get("status"))
    if status in _WORKING:
        return None
    if status == "failed":
        errors = told.get("errors")
        data = errors.get("data") if isinstance(errors, dict) else None
        first = data[0] if isinstance(data, list) and data and isinstance(data[0], dict) else {}
        why = f"{known.where} took no request of the batch: {known.told(first.get('message', 'it did not say why'))}"
        return [Refused(why) for _ in range(count)]
    found: dict[str, Reply | Refused | Unreachable] = {}
    for file in (told.get("output_file_id"), told.get("error_file_id")):
        if file:
            text = ask(partial(_content, client, str(file)))
            for line in filter(str.strip, text.split("\n")):
                record = object_in(known, line)
                found[str(record.get("custom_id"))] = _outcome(known, record, heard)
    return in_order(known, found, count, f"the batch is {known.told(status, 40)}")


def _content(client: Any, file: str) -> str:
    return str(client.files.content(file).text)


def _id(known: Settings, call: Callable[[], str], sdk: Any) -> str:
    told = tried(known, call, sdk.OpenAIError)
    found = object_in(known, told).get("id")
    if not isinstance(found, str) or not found:
        raise not_readable(known, told, "file or batch")
    return found


def _outcome(known: Settings, record: dict[str, Any], heard: bool) -> Reply | Refused | Unreachable:
    answer = record.get("response")
    status = answer.get("status_code") if isinstance(answer, dict) else None
    body = answer.get("body") if isinstance(answer, dict) else None
    if status != 200:
        error = body.get("error") if isinstance(body, dict) else None
        return failed_line(known, status, error or record.get("error"))
    try:
        return chat.reply(known, body, heard=heard, in_batch=True)
    except (Refused, Unreachable) as failure:
        return failure
