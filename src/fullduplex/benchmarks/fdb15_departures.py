"""Where each variant of Full-Duplex-Bench v1.5 knowingly differs from what it is named after."""

from __future__ import annotations

from fullduplex.benchmarks.declare import Departure

RELEASED = (
    Departure(
        "stop and response latency",
        "each file's intervals are written, and nothing ever aggregates them",
        "the mean of a file's intervals, then the mean over files",
        "there is no number to repeat",
    ),
    Departure(
        "behaviour",
        "the ratio pools labels over items: an item with two labels counts twice",
        "each item counts once, by halves where it has two labels",
        "the same where a judge gives one label",
    ),
    Departure(
        "behaviour",
        "a reply that cannot be read is asked for again without end, with the next seed",
        "asked again with the next seed, five times at most; then Absent: unparsable",
        "an endless loop",
    ),
    Departure(
        "behaviour",
        "a label without the prefix C_ crashes the script at its end",
        "counted as other",
        "a crash",
    ),
    Departure("timing", "a file of more than one channel crashes the script", "Absent: no speech track", "a crash"),
    Departure(
        "speech features",
        "general_split.json is used again where it is there, whatever made it",
        "measured anew from this sound, kept with a digest of it",
        "stale numbers",
    ),
    Departure(
        "speech features",
        "without Praat's library the pitch is librosa's, and the intensity in dB of full scale",
        "Praat's definitions always",
        "two scales under one name",
    ),
    Departure(
        "perceived quality", "UTMOSv2 on the concatenated speech", "on demand: DNSMOS, or UTMOS as an extra", "size"
    ),
    Departure(
        "paired tests",
        "the Holm-adjusted p is computed and never printed",
        "printed",
        "ten tests are read together",
    ),
)
PAPER = (
    Departure(
        "segments",
        "the paper does not say how speech is cut into segments",
        "words joined over silences of up to 0.5 s",
        "an open definition",
    ),
    Departure(
        "stop latency",
        "the paper does not say what it is when the system was silent, or speaks to the end",
        "Absent: no overlap, Absent: censored",
        "an open definition",
    ),
    Departure(
        "behaviour",
        "judged by GPT-4o under the authors' rubric",
        "the judge and the rubric that the run names; `--rubric` takes the authors' from your copy",
        "their text is not ours to ship",
    ),
    Departure("perceived quality", "UTMOSv2", "on demand: DNSMOS, or UTMOS as an extra", "size"),
)
ANCHORED = (
    Departure(
        "stop latency",
        "every overlap in the file, ended by whoever stops first",
        "from the annotated event's onset to the system's silence; talking through is a state, not a latency",
        "talking on must not look like a stop as short as the user's own speech",
    ),
    Departure(
        "response latency",
        "from any end of user speech to the next start of the system's strictly after it",
        "from the event's end, signed; an answer may begin up to 1 s early and backchannels are none",
        "a reply that begins inside the overlap is an answer too",
    ),
    Departure(
        "behaviour",
        "a judge labels every item; without a new segment after the overlap it must be unknown",
        "where speech alone decides no judge is asked: going on without a break is resume",
        "the rubric contradicts itself: a seamless continuation could not be a resumption",
    ),
    Departure(
        "behaviour",
        "a system that had finished before the event is judged all the same",
        "Absent: not exercised, where nothing was asked of it",
        "there was nothing to resume",
    ),
    Departure(
        "speech before and after",
        "split at a word near the event's end, so that speech over the event is before it",
        "before the event's onset, and after its end",
        "what is said over the event is neither",
    ),
    Departure(
        "words per minute",
        "over the time from the first word to the last",
        "over the time in which speech is heard",
        "pauses are not speech",
    ),
)
