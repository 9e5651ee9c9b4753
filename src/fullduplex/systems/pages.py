"""Where a reader finds how a system is started: the page of each, and the sentence that leads there."""

from __future__ import annotations

from inspect import signature

from fullduplex import plugins
from fullduplex.driving.link import System
from fullduplex.errors import PluginError
from fullduplex.model.spec import Spec
from fullduplex.systems.refusals import refusal_of

#: The folder of the pages.
FOLDER = "docs/systems"
#: The page of each that does not have one of its own name.
_SHARED = {"personaplex": "moshi", "flm-audio": "moshi", "raon": "moshi", "pipecat-webrtc": "pipecat"}
#: Those that have none in the folder.
_ELSEWHERE = {
    "loopback": "docs/how-to/conform.md", "cascade": "docs/how-to/cascade.md",
    "scripted": "docs/how-to/scripted-systems.md", "recorded": "docs/systems/all.md",
    "command": "docs/how-to/drive-your-system.md", "python": "docs/how-to/drive-your-system.md",
}  # fmt: skip
#: The systems of this package that have a page of their own name.
_OWN = frozenset(
    {"bayling-duplex", "dgslm", "freeze-omni", "gemini-live", "gpt-live", "livekit", "mini-omni2", "minicpm-o", "moshi",
     "nova-sonic", "openai-realtime", "pipecat", "twilio", "vita", "voila", "websocket"}
)  # fmt: skip


def page_of(name: str) -> str:
    """Return the page on the system called ``name``; empty for one of another package."""
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    its = _SHARED.get(name, name if name in _OWN else "")
    return f"{FOLDER}/{its}.md" if its else ""


def way_to_a_server(spec: Spec) -> str:
    """Return what to do where nobody answers for the system that ``spec`` names."""
    page = page_of(spec.name)
    told = f" ({page} says how)" if page else ""
    if spec.options.get("url"):
        return f"start its server there{told}, or give the url where it runs"
    return f"start its server{told}, or say where it runs with url=: {spec.name}:url=…"


def no_server(error: BaseException, system: System) -> str:
    """Return what to do, as the end of the sentence ``error``, where it says that nobody is there; else nothing."""
    refusal = refusal_of(error)
    return f"; {way_for(system)}" if refusal is not None and refusal.absent else ""


def way_for(system: System) -> str:
    """Return what to do where nobody answers for ``system``, whose own ``url`` may be the usual one (empty)."""
    url = getattr(system, "url", "")
    return way_to_a_server(Spec(system.spec.name, {"url": url} if url else {}))


def is_served(spec: Spec) -> bool:
    """Return whether the system is one that is talked with at an address: its class has an option for that."""
    try:
        options = signature(plugins.find("systems", spec.name)).parameters
    except (PluginError, ValueError, TypeError):
        return False
    return bool({"url", "base_url"} & set(options))


__all__ = ["FOLDER", "is_served", "no_server", "page_of", "way_for", "way_to_a_server"]
