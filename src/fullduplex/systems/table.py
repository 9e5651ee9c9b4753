"""The systems that can be driven, as a table of what each declares of itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fullduplex import plugins
from fullduplex.model.spans import SECOND
from fullduplex.model.spec import Spec
from fullduplex.systems.build import access_of, build, key_names
from fullduplex.systems.pages import FOLDER, page_of

#: Those that follow a script, repeat a recording, run what is given in this process or a project's own script, or are
#: made of parts.
_NOT_SERVERS = (
    "bayling-duplex", "cascade", "command", "dgslm", "livekit", "loopback", "python", "recorded", "scripted", "voila",
)  # fmt: skip
_SOUND = {
    "sync": "a frame for a frame", "burst": "ahead of real time", "paced": "at real time", "unit": "in fixed units",
    "track": "a media track", "aligned": "a file as long as the input", "reply": "after the whole input",
}  # fmt: skip
_FLUSH = {"none": "never", "all": "all", "id": "an utterance", "epoch": "an epoch"}
_HEAD = ("system", "its sound comes", "takes back queued sound", "talks at once", "longest talk", "access", "keys")


def servers() -> list[str]:
    """Return the names of the systems that are talked with over a protocol, in order."""
    return sorted(each.name for each in plugins.members("systems") if each.name not in _NOT_SERVERS)


def systems_table(pages: str = FOLDER) -> str:
    """Return a Markdown table of :func:`servers`, each leading to its page in ``pages``.

    Everything but the link is what the system's class and traits declare. How its sound comes, what it takes back and
    whether it holds several talks ``conform`` checks by measurement, the longest talk with ``--limit``; how it can be
    had, and which keys it takes, nobody can measure.
    """
    rows = [_HEAD, ("---",) * len(_HEAD), *(tuple(_row(name, pages)) for name in servers())]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(name: str, pages: str) -> Iterator[str]:
    spec = Spec(name)
    traits = build(spec, Path()).traits
    yield f"[`{name}`]({pages}/{Path(page_of(name)).name or f'{name}.md'})"
    yield _SOUND[traits.timing]
    yield _FLUSH[traits.flush]
    yield "one" if traits.exclusive else "several"
    yield f"{traits.longest // SECOND} s" if traits.longest else ""
    yield access_of(spec)
    optional = getattr(plugins.find("systems", name), "optional_keys", ())
    yield ", ".join(
        f"`{variable}`" + " where there is one" * (option in optional) for option, variable in key_names(spec).items()
    )
