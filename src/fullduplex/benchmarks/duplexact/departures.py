"""Where our DuplexAct differs from the publication, and what of it is inferred or ours because the page is silent."""

from __future__ import annotations

from fullduplex.benchmarks.declare import Departure

PAGE = (
    Departure(
        "items",
        "4,691 of its own, from recordings and from a hosted voice; not public where we looked",
        "scripts of ours spoken by open voices, or what is harvested from the reader's own corpus",
        "numbers on other items do not compare with the page's",
    ),
    Departure(
        "thresholds",
        "a wait interval and a response interval are named, no number is",
        "all in measures/actions/limits.py, each with its edge; sensitivity moves each of them",
        "the page prints none",
    ),
    Departure(
        "criteria of Backchannel, Stop, Hold floor, Interrupt and Recover",
        "not on the page, which has those of Wait, Ignore and Take turn",
        "ours, in conditions.toml",
        "the page prints none",
    ),
    Departure(
        "conditions of Recover",
        "21 conditions are named of 24; its table of validation has six conditions' worth of Recover and names three",
        "resume, correct and rephrase",
        "the three that lack a name are inferred to be Recover's; what they are is ours",
    ),
    Departure(
        "definitions of conditions",
        "the page defines seven in full",
        "the others follow from their names and what stands beside them, or are ours: conditions.toml says which",
        "the rest of the table is not on the page",
    ),
    Departure(
        "simulator",
        "Simulator Replay is named, and which actions use it is inferred",
        "the user's second line comes a fixed time after the system began to reply",
        "the simulator is not described",
    ),
    Departure(
        "where the system was not speaking",
        "not told",
        "Stop, Hold floor and Recover count an item only where the event met the system speaking: not exercised",
        "what was not interrupted cannot stop",
    ),
    Departure(
        "substantive response",
        "named, not defined",
        "1.0 s of sound or more than three words; where meaning decides, a judge, or a stated rule without one",
        "the page defines none",
    ),
    Departure(
        "follow-through",
        "judged, it is not told by whom and how",
        "the run's judge, by rubrics of ours; without one Absent: not judged",
        "its prompts are not published",
    ),
    Departure(
        "backchannel's tone",
        "classified from audio and transcript where items are made",
        "a judge who hears gets the token's sound; one who only reads is told apart as weaker",
        "the same words affirm or doubt by their melody",
    ),
    Departure(
        "timing",
        "median, interquartile range and n of each condition; over which instances is not told",
        "the median over instances that succeeded at once",
        "the printed n differ by system, so that it is not over all of them",
    ),
    Departure(
        "silence that cannot be heard",
        "not told",
        "where the recording ends too soon the instance is Absent: censored",
        "what could not be heard is not silence",
    ),
    Departure(
        "speech and words",
        "not told",
        "Silero without padding; the run's recogniser, named in the report",
        "one detector and one recogniser for all benchmarks",
    ),
)
LENIENT = (
    Departure(
        "Wait and Ignore",
        "silent",
        "brief tokens, under 1.0 s and of at most three words, are allowed",
        "to see how much of failing to wait is listening aloud",
    ),
)
