"""Looking over a dataset before it is measured: what is wrong, what is odd, what can be scored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fullduplex.data.audio import Probe, Samples, probe, read_all, resample
from fullduplex.data.entries import Dataset, Entry, Voice
from fullduplex.data.fdb_folder import load_trial, missing_of, twin_of
from fullduplex.data.fdb_json import remarks_on
from fullduplex.data.files import read_json
from fullduplex.data.official import SETS, expected_files, is_v15
from fullduplex.data.readiness import Scorable, lacks, scorable
from fullduplex.data.soundness import all_zero, clipped, likeness, offset_from_zero, swapped
from fullduplex.errors import InputError, printable
from fullduplex.model.spans import Span, Timeline, in_seconds, ms, seconds
from fullduplex.model.trials import Trial, Verdict

Level = Literal["error", "odd", "note"]
_LEVELS: tuple[Level, ...] = ("error", "odd", "note")

#: Two channels more alike than this are one speaker; separate speakers were seen up to 0.35.
ONE_SPEAKER_ABOVE = 0.6
#: The rate at which channels are compared, in Hz.
_COMPARED_AT = 8_000
_SHORTER_BY = ms(100)
_PAST_BY = ms(100)
_OFFSET = 0.01
#: Where every item lacks these, it is a folder of items that wait for a system, and lacks nothing.
_ANSWERS = frozenset({"output.wav", "output.json"})
_ALL_ANSWERS = _ANSWERS | {"clean_output.wav", "clean_output.json"}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about an entry (its key, after the system's name if it has one) or, without one, about the dataset.

    ``error``: it cannot be scored as it is. ``odd``: it can, but a person should look. ``note``: worth knowing.
    ``kind`` is the same for findings of one sort.
    """

    level: Level
    entry: str
    file: str
    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """How many items of a task and dataset are there, and how many the publication has (0: not known)."""

    task: str
    dataset: str
    found: int
    official: int = 0


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a check found, in the dataset's order."""

    root: str
    layout: str
    items: int
    counts: tuple[Count, ...] = ()
    scorable: tuple[Scorable, ...] = ()
    found: tuple[Finding, ...] = field(default_factory=tuple)

    def of(self, level: Level) -> tuple[Finding, ...]:
        """Return the findings of one level."""
        return tuple(each for each in self.found if each.level == level)

    def to_json(self) -> dict[str, Any]:
        """Return everything as a JSON object."""
        return {
            "root": self.root,
            "layout": self.layout,
            "items": self.items,
            "counts": [
                {"task": c.task, "dataset": c.dataset, "found": c.found, "official": c.official or None}
                for c in self.counts
            ],
            "scorable": [each.to_json() for each in self.scorable],
            "findings": [
                {"level": f.level, "entry": f.entry, "file": f.file, "kind": f.kind, "text": f.text} for f in self.found
            ],
        }


def check(dataset: Dataset, *, reference: frozenset[str] = frozenset(), more: Sequence[Finding] = ()) -> Findings:
    """Return what is wrong, odd or worth knowing about ``dataset``, and what can be scored.

    Reads every file, one item at a time. ``reference`` holds the ids that a reference distribution of backchannels
    covers (needed for ``jsd``). ``more`` is what others found, told with the rest.
    """
    found: list[Finding] = [*more, *(Finding("note", "", "", remark, "passed over") for remark in dataset.remarks)]
    counts: Counter[tuple[str, str]] = Counter()
    rates: dict[tuple[str, str, str], Counter[int]] = defaultdict(Counter)
    ready: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    released = [entry for entry in dataset.entries if _is_without_its_sound(entry)]
    if released:
        of = f"{len(released):,} of {len(dataset.entries):,} items"
        text = (
            f"{of} are a release without sound: whoever has the corpus makes it again with "
            f"`fullduplex harvest --rebuild {printable(str(dataset.root))} --corpus CORPUS`"
        )
        found.append(Finding("note", "", "", text, "no sound"))
    unheard = {entry.key for entry in released}
    to_run = (
        bool(dataset.entries)
        and not released
        and all(
            set(missing_of(entry)) >= _ANSWERS & set(expected_files(entry.task, frozenset(entry.files)))
            for entry in dataset.entries
        )
    )
    if to_run:
        text = "no item has an answer: they can be run, and cannot be scored"
        found.append(Finding("note", "", "", text, "no answers"))
    for entry in dataset.entries:
        trial = load_trial(entry)
        missing = [name for name in missing_of(entry) if not to_run or name not in _ALL_ANSWERS]
        if entry.key in unheard:
            missing = [name for name in missing if not name.endswith(".wav") and name not in _ALL_ANSWERS]
        found += _about_files(entry, trial, missing)
        found += _about_sound(entry, trial, rates)
        counts[entry.task, entry.dataset] += 1
        ready[entry.task, entry.dataset].append(lacks(entry, trial, reference))
    counted = tuple(Count(t, d, n, SETS[d][1] if d else 0) for (t, d), n in counts.items())
    found += _about_counts(counted, dataset)
    found += _about_rates(rates)
    return Findings(
        str(dataset.root),
        dataset.layout,
        len(dataset.entries),
        counted,
        tuple(each for (task, name), items in ready.items() for each in scorable(task, name, items)),
        tuple(sorted(found, key=lambda each: _LEVELS.index(each.level))),
    )


def _is_without_its_sound(entry: Entry) -> bool:
    """Tell whether an item was harvested from a recording, of which no sound was written beside it."""
    if entry.user_voice is not None or entry.system_voice is not None or not entry.files:
        return False
    script = next(iter(entry.files.values())).parent / "script.json"
    try:
        told = read_json(script) if script.is_file() else None
    except InputError:
        return False
    return isinstance(told, dict) and told.get("made_for") == "harvest" and isinstance(told.get("recording"), dict)


def _label(entry: Entry) -> str:
    return f"{entry.system}/{entry.key}" if entry.system else entry.key


def _about_files(entry: Entry, trial: Trial, missing: Sequence[str]) -> Iterator[Finding]:
    key = _label(entry)
    if trial.failed:
        yield Finding("error", key, "", trial.failed, "cannot be read")
    twin = twin_of(entry)
    if twin is not None and (unread := load_trial(twin).failed):
        yield Finding("error", key, "", unread, "cannot be read")
    if "output.wav" in missing and "output.json" in missing:
        yield Finding("error", key, "output.wav", "neither output.wav nor output.json is there", "no answer")
    for name in missing:
        made_by_listening = name.removesuffix(".json") in ("input", "output", "clean_input", "clean_output")
        level: Level = "note" if made_by_listening and entry.system_voice else "odd"
        yield Finding(level, key, name, f"{name} is missing", f"{name} is missing")
    for name, tokens in (("output.json", trial.system.tokens), ("input.json", trial.user.tokens)):
        for remark in remarks_on(tokens or ()):
            yield Finding("odd", key, name, remark, "words that need mending")
    for name, track in (("output.json", trial.system), ("input.json", trial.user)):
        last = max((word.span.end for word in track.words or ()), default=0)
        if track.duration is not None and track.tokens is not None and last - track.duration >= _PAST_BY:
            end, length = in_seconds(last), in_seconds(track.duration)
            yield Finding(
                "odd", key, name, f"a word ends at {end:.2f} s, the audio at {length:.2f} s", "words past the end"
            )
    if not is_v15(entry.task, entry.files) and not trial.event("overlap"):
        for name in entry.files:
            if name.endswith("output.json") and name != "output.json":
                text = f"released scripts score {printable(name)} as one more sample"
                yield Finding("note", key, name, text, "further transcripts")
    if "transcription_unread" in trial.item.reference:
        yield Finding(
            "note", key, "transcription.json", trial.item.reference["transcription_unread"], "unread reference"
        )
    rating = trial.verdicts.get("rating")
    if isinstance(rating, Verdict) and not 0 <= float(rating.value) <= 5:
        yield Finding("odd", key, "rating.json", f"a rating of {rating.value:g}, expected 0 to 5", "odd rating")


def _about_sound(entry: Entry, trial: Trial, rates: dict[tuple[str, str, str], Counter[int]]) -> Iterator[Finding]:
    heard: dict[str, tuple[Samples, int]] = {}
    for side, voice in (("user", entry.user_voice), ("system", entry.system_voice)):
        if voice is None:
            continue
        try:
            about, samples = _voice(voice)
        except InputError as error:
            if str(error) not in trial.failed:
                yield Finding("error", _label(entry), voice.path.name, str(error), "cannot be read")
            continue
        heard[side] = samples, about.rate
        rates[entry.task, entry.dataset, side][about.rate] += 1
        yield from _about_voice(entry, side, voice, about, samples)
    if len(heard) == 2:
        yield from _about_pair(entry, trial, heard)


def _voice(voice: Voice) -> tuple[Probe, Samples]:
    samples, _ = read_all(voice.path)
    about = probe(voice.path)
    if voice.channel is None:
        return about, samples.mean(axis=1)
    if voice.channel >= about.channels:
        raise InputError(
            voice.path, f"channel {voice.channel + 1}", found=f"{about.channels} channels", expected="that channel"
        )
    return about, samples[:, voice.channel].copy()


def _about_voice(entry: Entry, side: str, voice: Voice, about: Probe, samples: Samples) -> Iterator[Finding]:
    key, file = _label(entry), voice.path.name
    if all_zero(samples):
        text = f"the {side}'s channel is all zeros: silence, or a recording that failed"
        yield Finding("odd", key, file, text, f"{side} all zeros")
        return
    if voice.channel is None and about.channels > 1:
        text = f"{about.channels} channels where one is expected; they are averaged"
        yield Finding("odd", key, file, text, "more than one channel")
    if n := clipped(samples):
        yield Finding("odd", key, file, f"{n:,} samples of the {side} are clipped", "clipped")
    if abs(dc := offset_from_zero(samples)) >= _OFFSET:
        yield Finding("odd", key, file, f"the {side}'s channel is off zero by {dc:+.3f} of full scale", "off zero")


def _about_pair(entry: Entry, trial: Trial, heard: Mapping[str, tuple[Samples, int]]) -> Iterator[Finding]:
    key = _label(entry)
    (user, user_rate), (system, system_rate) = heard["user"], heard["system"]
    if user_rate != system_rate:
        text = f"the user is at {user_rate / 1000:g} kHz, the system at {system_rate / 1000:g} kHz"
        yield Finding("odd", key, "", text, "two rates in one item")
    length, answer = trial.user.duration, trial.system.duration
    if length is not None and answer is not None and length - answer >= _SHORTER_BY:
        text = f"output lasts {in_seconds(answer):.2f} s, input {in_seconds(length):.2f} s"
        yield Finding("odd", key, "", text, "output shorter than input")
    a, b = resample(user, user_rate, _COMPARED_AT), resample(system, system_rate, _COMPARED_AT)
    alike = likeness(a, b, _COMPARED_AT)
    if alike > ONE_SPEAKER_ABOVE:
        text = f"both channels hold one speaker (cross-correlation {alike:.2f})"
        yield Finding("odd", key, "", text, "one speaker twice")
    spoken, quiet = user_activity(trial)
    if entry.offset == 0 and swapped(a, b, _COMPARED_AT, spoken, quiet):
        text = "the user's annotated speech is in the system's channel: they seem swapped"
        yield Finding("odd", key, "", text, "channels seem swapped")


def user_activity(trial: Trial) -> tuple[Timeline, Timeline]:
    """Return when the annotation says that the user speaks, and when not; both empty where it does not say.

    Words say it best. Else the event: speech borders a pause and fills an interruption; a turn's last second is
    speech, and what follows the turn or the interruption is not.
    """
    whole = Timeline([Span(0, trial.user.duration)]) if trial.user.duration else Timeline()
    if trial.user.words:
        spoken = Timeline(word.span for word in trial.user.words)
        wide = Timeline(Span(s.start - ms(200), s.end + ms(200)) for s in spoken)
        return spoken & whole, whole - wide
    spoken_spans, quiet_spans = list[Span](), list[Span]()
    half, second, end = ms(500), seconds(1), trial.user.duration or 0
    for event in trial.events:
        start, stop = event.span.start, event.span.end
        if event.kind == "pause":
            spoken_spans += Span(start - half, start), Span(stop, stop + half)
            quiet_spans.append(event.span)
        elif event.kind == "turn_end":
            spoken_spans.append(Span(start - second, start))
            quiet_spans += [Span(start, end)] if end > start else []
        elif event.kind == "interruption":
            spoken_spans.append(event.span)
            quiet_spans += [Span(stop, end)] if end > stop else []
    quiet = Timeline(quiet_spans) & whole
    return (Timeline(spoken_spans) & whole) - quiet, quiet


def _about_counts(counts: tuple[Count, ...], dataset: Dataset) -> Iterator[Finding]:
    systems = len({entry.system for entry in dataset.entries})
    for each in counts:
        if each.official and each.found != each.official and systems <= 1:
            text = f"{each.dataset} has {each.found} items, the publication {each.official}"
            yield Finding("note", "", "", text, "counts")


def _about_rates(rates: Mapping[tuple[str, str, str], Counter[int]]) -> Iterator[Finding]:
    for (task, name, side), found in rates.items():
        if len(found) > 1:
            listed = ", ".join(f"{n} at {rate / 1000:g} kHz" for rate, n in found.most_common())
            yield Finding("odd", "", "", f"{name or task}: the {side}'s files differ in rate: {listed}", "mixed rates")


def as_text(findings: Findings, *, examples: int = 3) -> str:
    """Return the findings for a terminal: counts, what can be scored, then findings by kind with some examples."""
    lines = [f"{findings.items:,} items in {printable(findings.root)} ({findings.layout})", ""]
    for count in findings.counts:
        of = f" of {count.official}" if count.official else ""
        lines.append(f"  {count.dataset or count.task}: {count.found}{of}")
    lines += ["", "Can be scored:"]
    for each in findings.scorable:
        lacking = "; ".join(f"{n} with {why}" for why, n in each.lacking.items())
        name = each.dataset or each.task
        lines.append(f"  {name} {each.metric}: {each.possible} of {each.of}" + (f" ({lacking})" if lacking else ""))
    for level, title in zip(_LEVELS, ("Errors", "Odd", "Notes"), strict=True):
        by_kind: dict[str, list[Finding]] = defaultdict(list)
        for finding in findings.of(level):
            by_kind[finding.kind].append(finding)
        if by_kind:
            lines += ["", f"{title}: {len(findings.of(level))}"]
        for kind, members in by_kind.items():
            lines.append(f"  {kind} ({len(members)})")
            lines += [
                f"    {printable(f.entry)}{': ' if f.entry else ''}{printable(f.text)}" for f in members[:examples]
            ]
            if len(members) > examples:
                lines.append(f"    and {len(members) - examples} more")
    return "\n".join(lines)
