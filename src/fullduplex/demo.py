"""The demo: items made, talks held, heard, scored, compared and reported, without a network.

Three systems follow a script, so that what they do is known; the fourth is the built-in cascade, which
really hears, writes and speaks. It runs on the step-algorithmic clock, where its stages take declared
times, so that the demo repeats exactly.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from fullduplex.conversations import Driving, converse
from fullduplex.engines import each, open_engine, usable_cores
from fullduplex.errors import PluginError, RunError
from fullduplex.model.spec import Spec
from fullduplex.publish import Published, publish
from fullduplex.stages import Asked, Progress, Scored, score
from fullduplex.systems.build import build

_MARK = "made-by-fullduplex-demo"


def run_demo(
    out: Path, *, seed: int, cache: Path, engine: str = "", progress: Progress | None = None
) -> tuple[list[Scored], Published]:
    """Make the demo in ``out`` anew and return what was scored and what was written.

    ``out`` gets ``items``, ``talks/SYSTEM`` and ``runs/SYSTEM``. Where the cascade's parts are not at hand
    it is left out, and a remark says so. Raises :class:`RunError` where ``out`` holds anything that a
    demo did not write.
    """
    from fullduplex.making.demo_items import REFERENCE, make_demo_items
    from fullduplex.making.demo_talks import demo_systems, hold_one, talk_tasks

    _clear(out)
    say = progress or (lambda stage, done, of: None)
    say("items", 0, 1)
    items, talks = out / "items", out / "talks"
    make_demo_items(items, seed=seed)
    tasks = [task for system in demo_systems() for task in talk_tasks(items, system, talks / system, seed)]
    with open_engine(engine or f"processes:{usable_cores()}") as opened:
        for done, outcome in enumerate(each(opened, hold_one, tasks), 1):
            if outcome.error is not None:
                raise RunError(f"the demo's talk {outcome.task.out} could not be held: {outcome.error}")
            say("talks", done, len(tasks))
    scored: list[Scored] = []
    for system in demo_systems():
        asked = Asked(benchmark="fdb-1.0@all", reference=items / REFERENCE, system=system, seed=seed)
        found = score(talks / system, out / "runs" / system, asked, cache=cache, engine=engine, progress=progress)
        # What the demo's talks keep beside the official files is no news to anyone who reads its report.
        scored += [replace(one, remarks=()) for one in found]
    scored.append(_cascade(items, out, items / REFERENCE, seed, cache, engine, say) or _left_out(scored.pop()))
    return scored, publish(scored, out / "runs", engine=engine, progress=progress)


#: What the cascade is asked to do, in place of a benchmark's own prompt.
_CASCADE = Spec("cascade")


def _cascade(
    items: Path, out: Path, reference: Path, seed: int, cache: Path, engine: str, progress: Progress
) -> Scored | None:
    """Drive the cascade with the demo's items; None where its parts are not at hand."""
    try:
        build(_CASCADE, cache).spec  # noqa: B018  making it is what tells
    except PluginError:
        return None
    asked = Asked("fdb-1.0@all", recogniser="reported", reference=reference, system="cascade", seed=seed)
    driving = Driving(_CASCADE, "step-algorithmic")
    found = converse(
        items,
        out / "runs" / "cascade",
        asked,
        driving,
        cache=cache,
        engine=engine,
        progress=progress,
        every_clock=False,
    )
    return replace(found, remarks=())


def _left_out(last: Scored) -> Scored:
    way = "`pip install fullduplex[cascade]`, then `fullduplex models fetch --for demo`"
    return replace(
        last, remarks=(*last.remarks, f"the built-in cascade was left out, since its parts are not here: {way}")
    )


def _clear(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise RunError(f"{out}: is a file, not a folder for the demo; give another --out")
    if out.is_dir() and any(out.iterdir()) and not (out / _MARK).is_file():
        raise RunError(f"{out}: holds files that are not a demo's; give another --out")
    for name in ("items", "talks", "runs"):
        shutil.rmtree(out / name, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / _MARK).write_text("Everything in this folder is made anew by `fullduplex demo`.\n", encoding="utf-8")
