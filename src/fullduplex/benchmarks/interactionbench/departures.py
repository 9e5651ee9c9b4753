"""Where each variant of InteractionBench knowingly differs from the published page, and where the page is silent."""

from __future__ import annotations

from fullduplex.benchmarks.declare import Departure

PAGE = (
    Departure(
        "items",
        "scripts and recordings of its own, under a business licence",
        "scripts of ours, as many for each scenario, synthesised; or the reader's own download",
        "its material is not ours to give; numbers on other items do not compare with the page's",
    ),
    Departure(
        "speech",
        "WebRTC voice activity detection, segments joined over silences of 0.6 s",
        "Silero without padding, joined likewise",
        "one detector for all benchmarks; it takes noise for speech less often",
    ),
    Departure(
        "words",
        "Parakeet on both tracks, with its word times",
        "the run's recogniser, named in the report: by default Whisper with forced alignment; parakeet is a choice",
        "one recogniser for all benchmarks, small enough for any machine",
    ),
    Departure(
        "backchannel, interruption, tasks and probes",
        "judged by one hosted model",
        "the run's judge, by rubrics of ours; without one Absent: not judged",
        "its prompts are not published",
    ),
    Departure(
        "user backchannel",
        "a judge reads what the system did",
        "a system that speaks on right through passes by rule; the judge reads the others",
        "nothing is left to judge there",
    ),
    Departure(
        "interruption",
        "'stopped', and not by when",
        "silent from 1 s after the interruption's end up to the reply; going on before a reply may begin is no stop",
        "a system that never stops has gaps between its sentences",
    ),
    Departure(
        "turn-taking",
        "a reply's start is not defined; its counts agree with the first recognised word",
        "the first recognised word",
        "where a sound began and no word with it, its counts do not fit",
    ),
    Departure(
        "stay quiet",
        "a window of 200-600 ms is stated, and systems far outside it pass",
        "silence and the right answer pass; the window is reported",
        "so its own results read",
    ),
    Departure(
        "volume",
        "adaptation has no number",
        "the reply is at least 6 dB below the system's own usual level",
        "half the sound pressure, heard as clearly lower",
    ),
    Departure(
        "groundedness",
        "probes that rest on what the assistant was to say are asked whatever it said",
        "a judge says whether the premise holds; a probe is left out where a person confirms that it does not",
        "a system must not fail for what it was never brought to say",
    ),
    Departure(
        "windows",
        "'no answer' has no end",
        "an answer that a recording ends too soon (2 s) to hold is Absent: censored",
        "what could not be heard is not silence",
    ),
    Departure(
        "graded runs",
        "not all systems have as many, and the table does not say so",
        "n of each system and number stands in its cell",
        "comparing unequal samples",
    ),
    Departure(
        "backchannel",
        "its code, without a judge, takes all that is short (1.5 s, three words) for a backchannel",
        "without one, only such as have no word but of acknowledgement (English); other short ones: not judged",
        "'One moment' is as short, and acknowledges nothing",
    ),
)
LENIENT = (
    Departure(
        "pause",
        "strict: any word in a pause fails; its lenient reading is told beside",
        "up to four words that end before the user resumes are allowed",
        "to see what the rule does to the order of systems",
    ),
)
EARLY = (
    Departure(
        "turn-taking",
        "an answer may begin 50 ms before the turn's end; 150 and 300 ms are compared",
        "this many",
        "to see what the tolerance does to the order of systems",
    ),
)
ANCHORED = (
    *PAGE[:5],
    Departure(
        "interruption",
        "only replies from 0.2 s before its end, longer than three words or 1 s, are judged",
        "replies from 1 s before its end are judged, of any length",
        "systems answer while the user's last word sounds, and a short answer is an answer",
    ),
    Departure(
        "speech",
        "joined over silences of 0.6 s",
        "joined over silences of 0.5 s",
        "as in every other benchmark here",
    ),
    Departure(
        "backchannel",
        "a response to the monologue begins more than 0.4 s after its end",
        "it may begin 50 ms before the end",
        "a prompt answer is no floor-take",
    ),
    Departure(
        "pause",
        "speech after the pause shows that the system lives",
        "speech after the whole turn does",
        "what comes while the user speaks again is no answer",
    ),
    Departure(
        "turn-taking",
        "a reply starts with its first word",
        "a reply starts with its sound, where there is a word in it",
        "recognisers place the first word of a reply late",
    ),
    *PAGE[7:],
)
