"""Language models in this process, by llama.cpp: SmolLM2 by default, any GGUF file by its path."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fullduplex.errors import InputError, PluginError, printable
from fullduplex.model.spec import Spec
from fullduplex.once import once_per_process
from fullduplex.providers import models, weights
from fullduplex.providers.language_models import Message

SMOLLM2 = "smollm2-135m"


class LlamaCpp:
    """A GGUF model through xllamacpp, on the processor.

    ``path`` is the file; empty for SmolLM2 135M, which is English, small, and fluent rather than right.
    ``temperature`` 0 takes the likeliest token each time; above it, ``seed`` draws. ``repeat`` above 1 makes tokens
    that were used less likely; without it so small a model echoes its user. ``context`` is how many tokens it can see.
    ``threads`` 1 repeats exactly; several may not. ``keep_prompt`` spares reading the earlier turns again, and
    may change a reply, because sums are then made in another order: one that depends on what was asked before, also
    in another talk.

    The model is loaded at the first reply and once in a process. The library opens a port on 127.0.0.1 for it.
    Raises :class:`PluginError` where xllamacpp is not installed or the weights are not at hand.
    """

    def __init__(
        self,
        path: str = "",
        temperature: float = 0.0,
        repeat: float = 1.1,
        seed: int = 0,
        context: int = 2048,
        threads: int = 1,
        keep_prompt: bool = False,
        *,
        cache: Path | None = None,
    ) -> None:
        if not (temperature >= 0 and repeat > 0 and context >= 128 and threads >= 1):
            raise InputError(
                "llamacpp",
                found=f"temperature {temperature}, repeat {repeat}, context {context}, threads {threads}",
                expected="temperature from 0, repeat above 0, a context of 128 tokens or more, 1 thread or more",
            )
        self.temperature, self.repeat, self.seed, self.context = temperature, repeat, seed, context
        self.threads, self.keep_prompt = threads, keep_prompt
        _library()
        if path:
            self._file = Path(path)
            if not self._file.is_file():
                raise PluginError(f"language model 'llamacpp': there is no file {printable(path)}")
            self._digest = weights.sha256(self._file)
        else:
            (file,) = models.model(SMOLLM2).files
            self._file = weights.path(SMOLLM2, cache or weights.default_cache({})) / file.name
            self._digest = file.sha256

    @property
    def spec(self) -> Spec:
        """Return the file's name and digest, the options, and the library's version."""
        options = {
            "file": self._file.name,
            "temperature": self.temperature,
            "repeat": self.repeat,
            "seed": self.seed,
            "context": self.context,
            "threads": self.threads,
            "keep_prompt": self.keep_prompt,
        }
        return Spec("llamacpp", options, f"xllamacpp {version('xllamacpp')}, {self._digest[:12]}")

    def reply(self, messages: Sequence[Message], *, limit: int = 60) -> Generator[str, None, None]:
        """Yield the reply, a token or a few characters at a time, at most ``limit`` tokens.

        It is made as fast as it can be, whether or not it is asked for the next piece; closing the
        iterator stops it. Where the conversation is longer than the context, its earliest turns are left out.
        Raises :class:`PluginError` where even the last one is too long.
        """
        waiting = list(messages)
        while True:
            asked = {
                "messages": [{"role": message.role, "content": message.text} for message in waiting],
                "max_tokens": limit,
                "temperature": self.temperature,
                "repeat_penalty": self.repeat,
                "seed": self.seed,
                "stream": True,
                "cache_prompt": self.keep_prompt,
            }
            try:
                yield from _pieces(_server(str(self._file), self.context, self.threads), asked)
                return
            except _TooLong:
                first = next((i for i, message in enumerate(waiting[:-1]) if message.role != "system"), None)
                if first is None:
                    name, most = printable(self._file.name, 80), self.context
                    raise PluginError(
                        f"language model {name}: the turn is longer than its context of {most} tokens"
                    ) from None
                del waiting[first]


def smollm2(
    temperature: float = 0.0,
    repeat: float = 1.1,
    seed: int = 0,
    context: int = 2048,
    threads: int = 1,
    keep_prompt: bool = False,
    *,
    cache: Path | None = None,
) -> LlamaCpp:
    """SmolLM2 135M through llama.cpp on the processor, with the options of ``llamacpp``."""
    return LlamaCpp("", temperature, repeat, seed, context, threads, keep_prompt, cache=cache)


class _TooLong(Exception):
    """The conversation does not fit into the context."""


def _library() -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise PluginError(
            "language model 'llamacpp' needs xllamacpp, which is not installed; install fullduplex[cascade]"
        ) from error
    return xllamacpp


@once_per_process
def _server(path: str, context: int, threads: int) -> Any:
    """Return the library's engine with the model loaded, one conversation at a time."""
    library = _library()
    asked = library.CommonParams()
    asked.model.path = path
    asked.n_ctx, asked.n_parallel, asked.n_gpu_layers = context, 1, 0
    asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = threads
    asked.n_threads_http, asked.endpoint_slots, asked.ui = 1, False, False
    asked.verbosity, asked.warmup = -1, False
    # What it remembers between conversations would change the order of sums.
    asked.cache_ram_mib, asked.ctx_shift = 0, False
    try:
        return library.Server(asked)
    except Exception as error:
        raise PluginError(f"language model {printable(path)} cannot be loaded: {printable(str(error), 120)}") from error


def _pieces(server: Any, asked: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of a reply while another thread takes them from the engine."""
    come: queue.Queue[str | Exception | None] = queue.Queue()
    stopped = threading.Event()

    def take(told: Any) -> bool:
        if error := told.get("error"):
            long = error.get("type") == "exceed_context_size_error"
            said = printable(str(error.get("message", error)), 200)
            come.put(_TooLong() if long else PluginError(f"the language model failed: {said}"))
        for choice in told.get("choices") or ():
            if text := choice.get("delta", {}).get("content"):
                come.put(text)
        return stopped.is_set()

    def run() -> None:
        try:
            server.handle_chat_completions(asked, take)
        except Exception as error:  # noqa: BLE001  as above; it must reach the one who waits
            come.put(PluginError(f"the language model failed: {printable(str(error), 200)}"))
        come.put(None)

    # A daemon, so that a program that ends does not wait for a reply that nobody reads.
    thread = threading.Thread(target=run, name="llamacpp-reply", daemon=True)
    thread.start()
    try:
        while (piece := come.get()) is not None:
            if isinstance(piece, Exception):
                raise piece
            yield piece
    finally:
        stopped.set()
        thread.join()
