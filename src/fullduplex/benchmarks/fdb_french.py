"""The French Full-Duplex-Bench: the four tasks of v1.0 on CALLFRIEND (Canadian French) and MEDIA (European French).

The publication (arXiv 2609.10765) keeps v1.0's tasks, metrics and scripts and changes what they are used on: items
harvested from two French corpora, a recogniser that knows French, another judge. So every variant here is v1.0's of the
same name. Items come from ``fullduplex harvest`` by the rules ``french-callfc`` and ``french-media``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fullduplex.benchmarks import fdb1
from fullduplex.benchmarks.declare import Benchmark, Scenario
from fullduplex.benchmarks.fdb_french_departures import departures_of

NAME, VERSION = "fdb-french", "1"
CITATION = (
    "From Metrics to Natural Dialogue: French Full-Duplex Benchmark for Spoken Dialogue Models (Soltani and Boulianne, "
    "arXiv 2609.10765)"
)
#: The language of the items; a system may answer in another one, and then is told with it.
LANGUAGE = "fr"
#: The recogniser of the source, and the one here that knows French and needs no download of its own kind.
RECOGNISER, EMBEDDED = "parakeet:version=v3", "whisper:size=base"
#: The judge of the source, where Ollama serves it; seed, temperature and the prompt come with the released script.
JUDGE = "openai-compatible:url=http://localhost:11434/v1,model=llama3.3:70b"
#: At most so many items of a task, "where sufficient candidates existed"; the items of each are in a table not at hand.
CAP = 150


@dataclass(frozen=True, slots=True)
class Corpus:
    """One of the two configurations.

    ``rules``: what ``harvest`` calls its criteria; ``retained``: the share of candidates that the source kept, over all
    tasks; ``systems``: whom a system replaces.
    """

    name: str
    title: str
    rules: str
    tasks: tuple[str, ...]
    retained: float
    systems: str


CORPORA = (
    Corpus("callfc", "CALLFC", "french-callfc", tuple(fdb1.TITLES), 0.263, "each speaker in turn"),
    Corpus(
        "media", "MEDIA", "french-media", tuple(task for task in fdb1.TITLES if task != "backchannel"), 0.414,
        "the wizard alone",
    ),
)  # fmt: skip


def dataset_of(corpus: str, task: str) -> str:
    """Return what the folder of a corpus' items of a task is called: ``callfc_pause_handling``."""
    return f"{corpus}_{task}"


#: Every set with its task, in the order of the tables.
SETS: Mapping[str, str] = {dataset_of(c.name, task): task for task in fdb1.TITLES for c in CORPORA if task in c.tasks}


def variants() -> Mapping[str, Benchmark]:
    """Return v1.0's variants on French items by name, the default first."""
    return {name: _french(benchmark) for name, benchmark in fdb1.variants().items()}


def _french(benchmark: Benchmark) -> Benchmark:
    plain = {scenario.task: scenario for scenario in benchmark.scenarios if not scenario.dataset}
    of_corpora = tuple(_of_corpus(plain[task], corpus) for task in plain for corpus in CORPORA if task in corpus.tasks)
    inherited = tuple(one for one in benchmark.departures if one.where != "rating")  # v1.0's own judge
    made = replace(
        benchmark,
        name=NAME,
        version=VERSION,
        paper=CITATION,
        language=LANGUAGE,
        scenarios=(*of_corpora, *plain.values()),
        departures=(*departures_of(benchmark.variant), *inherited),
    )
    return made if benchmark.rebuilt is None else replace(made, rebuilt=partial(_rebuilt, benchmark.rebuilt))


def _rebuilt(again: Callable[[Any], Benchmark], limits: Any) -> Benchmark:
    return _french(again(limits))


def _of_corpus(plain: Scenario, corpus: Corpus) -> Scenario:
    name = dataset_of(corpus.name, plain.task)
    return replace(plain, name=name, dataset=name, title=f"{fdb1.TITLES[plain.task]}, {corpus.title}")
