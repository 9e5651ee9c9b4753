"""Where the French Full-Duplex-Bench here knowingly differs from its publication."""

from __future__ import annotations

from fullduplex.benchmarks.declare import Departure

_ALL = (
    Departure(
        "items",
        "annotations and scripts of CALLFC-FDB and MEDIA-FDB, by arrangement",
        "items harvested anew by the published criteria, from your copy of the corpora",
        "the annotations are not at hand; other items, so published numbers are no target",
    ),
    Departure(
        "ranking",
        'candidates ranked for "clarity and task representation", by a formula that is not published',
        "a score of our own, told in each item's script.json; the best 150 of a task",
        "an open definition",
    ),
    Departure(
        "backchannel JSD",
        "compared with the ground truth of the corpus; how it was made is not published",
        "Q is where the partner's own backchannels sound, in windows of 200 ms",
        "no panel of listeners exists in French",
    ),
    Departure(
        "words",
        "Parakeet TDT 0.6B v3, through NeMo",
        "the recogniser that the run names: Whisper base unless told, `parakeet:version=v3` with 8-bit weights",
        "its weights are not embedded; words and latencies of recognisers differ",
    ),
    Departure(
        "rating",
        "llama3.3:70b, with the official prompt, rubric and generation settings",
        "the judge that the run names; `--rubric` reads the official prompt from your copy",
        "the prompt is its authors'; no French rubric is made up",
    ),
)
_RELEASED = (
    Departure(
        "scripts",
        "the official scripts; of which commit is not said",
        "of the commit that the variant names",
        "the rule for backchannels and the reading of other sampling rates differ between commits",
    ),
)


def departures_of(variant: str) -> tuple[Departure, ...]:
    """Return the departures that the French configuration adds to those of v1.0's variant."""
    return _ALL + (_RELEASED if variant.startswith("released") else ())
