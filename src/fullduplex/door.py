"""The Python door: ``score(folder, "fdb-1.0").to_pandas()``, ``run("fdb-1.0", "cascade", items)``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex.conversations import Driving, converse
from fullduplex.driving.prices import Prices
from fullduplex.errors import PluginError
from fullduplex.judged import Judging, judge_run
from fullduplex.model.spec import Spec
from fullduplex.providers.weights import default_cache
from fullduplex.publish import Rows, as_json, publish
from fullduplex.stages import Asked, Scored, failures, measure_again
from fullduplex.stages import score as _score
from fullduplex.systems.build import named


@dataclass(frozen=True, slots=True)
class Scores:
    """Scored runs, one for each system that the folder's layout names."""

    out: Path
    scored: tuple[Scored, ...]
    tables: tuple[Rows, ...]

    def __repr__(self) -> str:
        systems = ", ".join(one.run.system for one in self.scored)
        return f"Scores({str(self.out)!r}, systems: {systems}, failed items: {len(self.failed)})"

    def to_json(self) -> dict[str, Any] | list[dict[str, Any]]:
        """Return what ``fullduplex score --json`` prints: one object, or a list of them for several systems."""
        made = as_json(self.scored, self.tables)
        return made[0] if len(made) == 1 else made

    def to_pandas(self) -> Any:
        """Return the estimates of the leading variant as a pandas table, a row for each metric of a scenario.

        Raises :class:`PluginError` where pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise PluginError("to_pandas needs pandas, which is not installed; install fullduplex[pandas]") from error
        rows = []
        for table in as_json(self.scored, self.tables):
            lead = {"benchmark": table["benchmark"], "variant": table["variant"], "system": table["system"]}
            rows += [lead | row for row in table["estimates"]]
        frame = pd.DataFrame(rows)
        return frame.astype({name: "float64" for name in ("value", "low", "high") if name in frame})

    def judge(
        self, judge: str, *, cache: str | os.PathLike[str] | None = None, page: bool = False, **how: Any
    ) -> Scores:
        """Have ``judge`` (a spec) say what the benchmark has judged, and return the runs measured again.

        ``how``: see :class:`fullduplex.judged.Judging`; a hosted judge takes its key as ``keys={"openai": key}``, or
        from the option ``key_file`` of its spec. Raises :class:`fullduplex.errors.FullDuplexError` in one sentence.
        """
        where = Path(cache) if cache is not None else default_cache({"HOME": str(Path.home())})
        for one in self.scored:
            with one.run.alone():
                judge_run(one.run, Judging(Spec.parse(judge), **how), cache=where)
        scored = measure_again(self.out)
        return Scores(self.out, tuple(scored), tuple(publish(scored, self.out, page=page).tables))

    @property
    def failed(self) -> dict[str, str]:
        """Return the items that failed, with a sentence each."""
        return failures(self.scored)


def score(
    folder: str | os.PathLike[str],
    benchmark: str = "fdb-1.0",
    *,
    out: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    engine: str = "here",
    page: bool = False,
    **asked: Any,
) -> Scores:
    """Score recordings that exist, as ``fullduplex score`` does; see :class:`fullduplex.stages.Asked` for options.

    ``out`` defaults to ``./NAME.run``. ``engine`` is ``here`` unless told: workers import the main
    module again, so ``processes:N`` needs a script whose work stands under
    ``if __name__ == "__main__"``. Raises :class:`fullduplex.errors.FullDuplexError` in one sentence.
    """
    source = Path(folder)
    place = Path(out) if out is not None else Path(f"{source.resolve().name}.run")
    where = Path(cache) if cache is not None else default_cache({"HOME": str(Path.home())})
    scored = _score(source, place, Asked(benchmark=benchmark, **asked), cache=where, engine=engine)
    published = publish(scored, place, page=page, engine=engine)
    return Scores(place, tuple(scored), tuple(published.tables))


def run(
    benchmark: str,
    system: str,
    data: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    engine: str = "here",
    page: bool = False,
    clock: str = "",
    repeats: int = 1,
    retries: int = 2,
    sessions: int = 1,
    keys: Mapping[str, str] | None = None,
    price: str = "",
    max_cost: float | None = None,
    **asked: Any,
) -> Scores:
    """Drive the items in ``data`` through ``system`` (a spec), hear and measure them, as ``fullduplex run`` does.

    ``out`` defaults to ``./BENCHMARK-SYSTEM.run``; what it holds is not done again. A hosted system takes its key as
    ``keys={"OPENAI_API_KEY": key}``; ``price`` and ``max_cost`` are those of the command. See
    :class:`fullduplex.conversations.Driving` for how talks are held, :class:`fullduplex.stages.Asked` for the other
    options, and :func:`score` for ``engine``. Raises :class:`fullduplex.errors.FullDuplexError` in one sentence.
    """
    spec = named(system)
    place = Path(out) if out is not None else Path(f"{benchmark.partition('@')[0]}-{spec.name}.run")
    where = Path(cache) if cache is not None else default_cache({"HOME": str(Path.home())})
    prices = Prices.parse(price) if price else None
    driving = Driving(spec, clock, repeats, retries, sessions, prices=prices, max_cost=max_cost, keys=keys or {})
    scored = converse(Path(data), place, Asked(benchmark=benchmark, **asked), driving, cache=where, engine=engine)
    published = publish([scored], place, page=page, engine=engine)
    return Scores(place, (scored,), tuple(published.tables))
