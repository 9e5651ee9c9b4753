"""Where each variant of Full-Duplex-Bench v1.0 knowingly differs from what it is named after."""

from __future__ import annotations

from fullduplex.benchmarks.declare import Departure

RELEASED = (
    Departure(
        "backchannel",
        "without output.json the verdict of the sample before is used again, or the script crashes",
        "Absent: no output",
        "state leaked between samples",
    ),
    Departure("backchannel", "a recording with two channels crashes the script", "Absent: failed", "a crash"),
    Departure(
        "backchannel JSD",
        "a reference of one bin gives NaN, and so does the mean",
        "Absent: undefined",
        "a value that is no number",
    ),
    Departure("pause handling", "output.json without `chunks` crashes the script", "Absent: failed", "a crash"),
    Departure("turn-taking", "an open end of the last word crashes the script", "Absent: failed", "a crash"),
    Departure(
        "turn-taking",
        "files are paired by their place in two lists: one missing turn_taking.json pairs every "
        "later sample with another's event, in an order that the file system decides",
        "Absent: no annotation, for that sample alone",
        "state leaked between samples",
    ),
    Departure("interruption", "without interrupt.json the script crashes", "Absent: no annotation", "a crash"),
    Departure(
        "interruption",
        "a judge's reply that cannot be read is asked for again without end, and each time "
        "counts the takeover once more",
        "asked again five times at most, then Absent: unparsable; every sample counts once",
        "an endless loop; state leaked",
    ),
    Departure("every mean", "over no value the script divides by zero", "no value, n = 0", "a crash"),
)
OLDER = (
    Departure(
        "backchannel",
        "audio of another rate is listened to as if it were 16 kHz",
        "the same",
        "none: repeated on purpose, shown here since it moves every time in such files",
    ),
)
NOT_CHECKED = (
    Departure(
        "pause handling, turn-taking, interruption",
        "the scripts of 4efb765 were not run on test cases",
        "not checked: the rules of d7336bd",
        "no oracle; backchannel is checked",
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
        "latency",
        "the paper does not say what a start before the event's end counts as",
        "it stays negative",
        "an open definition",
    ),
    Departure(
        "JSD",
        "Moshi's published row (TOR 1.000 with JSD 0.957) breaks the rule that JSD is computed only without a takeover",
        "Absent: takeover",
        "the paper's rule, not its row",
    ),
    Departure(
        "rating",
        "judged by GPT-4o",
        "by the judge and the rubric that the run names, or as rating.json has it",
        "a judge is the user's choice; `--rubric` takes the authors' prompt from your copy",
    ),
)
ANCHORED = (
    Departure(
        "takeover",
        "speech anywhere in the file counts",
        "speech that begins in the pause, or that answers the turn's end or the interruption",
        "a greeting is no interruption, a monologue no answer",
    ),
    Departure(
        "latency",
        "negative latencies become 0",
        "signed; an answer may begin up to 1 s early",
        "talking over the user must not look like a perfect answer",
    ),
    Departure(
        "recording's end",
        "a reply that could not be heard is a missing takeover",
        "Absent: censored, where the recording ends within 2 s of the event",
        "pause and ICC files stop with the user",
    ),
    Departure(
        "backchannel",
        "every short segment counts, takeover or not",
        "utterances under 1 s and at most three words, joined over silences of up to 0.5 s",
        "a takeover is no backchannel",
    ),
    Departure(
        "JSD",
        "distance in nats over whole durations; 1 for a silent system",
        "divergence in bits over onsets; Absent without a backchannel or with a takeover",
        "a silent system has no timing to compare",
    ),
)
