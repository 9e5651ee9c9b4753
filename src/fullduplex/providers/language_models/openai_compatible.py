"""Language models behind the chat completions of OpenAI's protocol: Ollama, vLLM, llama.cpp's server, OpenAI itself."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fullduplex.errors import InputError, PluginError, printable
from fullduplex.model.spec import Spec
from fullduplex.providers.language_models import Message

#: What one event of a stream may hold, in characters; a server that sends more is broken.
_LONGEST = 1 << 20


class OpenAICompatible:
    """The model that a server at ``url`` (up to and with ``/v1``) calls ``model``.

    ``temperature`` and ``seed`` are asked for; whether they make it repeat is up to the server. ``key_file`` is a
    file that holds the key, in one line; neither it nor the key is part of the spec. ``timeout`` is how many seconds
    it may stay silent. ``proxy`` is the address of one, if it takes one to get there. ``extra`` is a JSON object
    of further members of the request, such as ``{"think":false}``.

    Tested against a server of its own that speaks the protocol; *not verified live* against hosted ones.
    Raises :class:`PluginError` where httpx is not installed, :class:`InputError` on options that cannot be meant.
    """

    def __init__(
        self,
        url: str = "http://localhost:11434/v1",
        model: str = "",
        temperature: float = 0.0,
        seed: int = 0,
        timeout: float = 60.0,
        key_file: str = "",
        proxy: str = "",
        extra: Mapping[str, Any] | str = "",
    ) -> None:
        url = str(url)
        if not url.startswith(("http://", "https://")):
            raise InputError("openai-compatible", "url", found=url, expected="http://HOST:PORT/v1 or https://…")
        if "@" in url or "?" in url or "#" in url:
            # What identifies a user must not stand in the record of a run.
            raise InputError(
                "openai-compatible", "url", found="more than an address", expected="no name or key in it; use key_file"
            )
        if not model:
            raise InputError("openai-compatible", "model", expected="the name that the server has for the model")
        if not (timeout > 0 and temperature >= 0):
            raise InputError("openai-compatible", "timeout", found=timeout, expected="seconds, above 0")
        self.url, self.model = url.rstrip("/"), str(model)
        self.temperature, self.seed, self.timeout, self.proxy = temperature, seed, timeout, proxy
        self.extra = _object(extra)
        self._key = _key(key_file)
        self._client: Any = None
        _library()

    @property
    def spec(self) -> Spec:
        """Return the server's address, the model's name there, and what is asked."""
        options = {
            "url": self.url,
            "model": self.model,
            "temperature": self.temperature,
            "seed": self.seed,
            "extra": dict(self.extra),
        }
        return Spec("openai-compatible", options)

    def reply(self, messages: Sequence[Message], *, limit: int = 60) -> Generator[str, None, None]:
        """Yield the reply as the server streams it; closing the iterator ends the request.

        At most ``limit`` tokens are asked for, and a server that sends more than twice as many pieces is not
        read further. Raises :class:`PluginError` in one sentence where it cannot be reached, refuses, falls
        silent, breaks off, or sends what is no such stream.
        """
        asked = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.text} for message in messages],
            "max_tokens": limit,
            "temperature": self.temperature,
            "seed": self.seed,
            "stream": True,
            **self.extra,
        }
        httpx = _library()
        headers = {"Accept": "text/event-stream"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        where = f"the language model at {printable(self.url, 120)}"
        try:
            with self._connected().stream(
                "POST", f"{self.url}/chat/completions", json=asked, headers=headers
            ) as answer:
                if answer.status_code != 200:
                    answer.read()
                    raise PluginError(f"{where} answered {answer.status_code}: {self._told(answer.text)}")
                yield from self._texts(answer, where, 2 * limit)
        except httpx.TimeoutException as error:
            raise PluginError(f"{where} was silent for {self.timeout:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise PluginError(f"{where} could not be talked with: {self._told(str(error))}") from error

    def close(self) -> None:
        """Close the connections that are kept open for the next reply."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _texts(self, answer: Any, where: str, at_most: int) -> Iterator[str]:
        count = 0
        for line in _lines(answer, where):
            if not line.startswith("data:"):
                continue
            data = line[5:].strip()
            if data == "[DONE]":
                return
            try:
                told = json.loads(data)
            except ValueError as error:
                raise PluginError(f"{where} sent what is no JSON: {self._told(data)}") from error
            if not isinstance(told, dict) or told.get("error"):
                raise PluginError(f"{where} failed: {self._told(_message(told))}")
            text, finished = _piece(told, where)
            if text:
                yield text
                count += 1
            if finished or count >= at_most:
                return
        raise PluginError(f"{where} broke off in the middle of its reply")

    def _told(self, text: str) -> str:
        """Return what a server said, on one line, without the key that it may have repeated."""
        return printable((text.replace(self._key, "…") if self._key else text).strip() or "nothing", 200)

    def _connected(self) -> Any:
        if self._client is None:
            httpx = _library()
            # Proxies and keys come from options alone: what a run did must stand in its record.
            self._client = httpx.Client(timeout=self.timeout, trust_env=False, proxy=self.proxy or None)
        return self._client


def _lines(answer: Any, where: str) -> Iterator[str]:
    rest = ""
    for text in answer.iter_text():
        rest += text
        *lines, rest = rest.split("\n")
        if len(rest) > _LONGEST:
            raise PluginError(f"{where} sent a line of more than {_LONGEST} characters")
        yield from lines
    if rest:
        yield rest


def _piece(told: Any, where: str) -> tuple[str, bool]:
    """Return the text of one event, empty where it has none, and whether it was the last."""
    try:
        choice = (told.get("choices") or [{}])[0]
        text, finished = (choice.get("delta") or {}).get("content") or "", bool(choice.get("finish_reason"))
    except (AttributeError, KeyError, TypeError):
        text, finished = None, False
    if not isinstance(text, str):
        raise PluginError(f"{where} sent what is no chat completion")
    return text, finished


def _message(told: Any) -> str:
    error = told.get("error") if isinstance(told, dict) else told
    return str(error.get("message", error)) if isinstance(error, dict) else str(error)


def _object(extra: Mapping[str, Any] | str) -> Mapping[str, Any]:
    if not extra:
        return {}
    try:
        found = json.loads(extra) if isinstance(extra, str) else extra
    except ValueError:
        found = None
    if not isinstance(found, Mapping):
        raise InputError("openai-compatible", "extra", found=extra, expected="a JSON object")
    return dict(found)


def _key(file: str) -> str:
    if not file:
        return ""
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(file, "key_file", found=str(error), expected="a file that holds the key") from error
    if not text or not text.isprintable() or not text.isascii():
        raise InputError(file, "key_file", found="no key", expected="the key, in one line")
    return text


def _library() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise PluginError(
            "language model 'openai-compatible' needs httpx, which is not installed; install fullduplex[cascade]"
        ) from error
    return httpx
