"""A folder of transcripts, with or without their recordings, read one conversation at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fullduplex.data.audio import probe
from fullduplex.data.corpora import candor
from fullduplex.data.corpora.conversation import Conversation, Recording
from fullduplex.data.corpora.formats import FORMATS, Format, Part
from fullduplex.data.corpora.gathered import Gathered, Speaker, side_of
from fullduplex.data.corpora.recordings import files_below, is_audio, licence_in
from fullduplex.data.corpora.sounds import Heard, Sounds, plain, without_suffix
from fullduplex.data.corpora.speakers import ASKED, FILE, NAMES, by_sound, refuse_channels, two_of, within_recording
from fullduplex.data.corpora.two_channel import LAST, ROLES
from fullduplex.errors import InputError, printable
from fullduplex.model.spans import Timeline


@dataclass(frozen=True, slots=True)
class Transcribed:
    """Transcripts of one format; ``parts`` by conversation: one, or the two sides' own."""

    root: Path
    form: Format
    parts: dict[str, tuple[Part, ...]]
    sounds: Sounds
    licence: str
    remarks: tuple[str, ...]
    language: str = "en"
    speakers: tuple[str, ...] = ()
    origin: str = ""
    setting: str = ""

    @property
    def format(self) -> str:
        """Return the format's name."""
        return self.form.name

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the conversations."""
        return tuple(sorted(self.parts))

    def recordings(self, name: str) -> tuple[Recording | None, Recording | None]:
        """Return where the two sides are heard: whose channel is which, the transcript and the sound tell."""
        if name not in self.parts:
            return None, None
        first, second = self.read(name).sides
        return first.recording, second.recording

    def read(self, name: str) -> Conversation:
        """Return one conversation.

        Raises :class:`InputError` where its file cannot be read, where there are not two speakers and nobody chose
        two, and where nothing tells whose the channels of its recording are.
        """
        parts = self.parts[name]
        if len(parts) == 2:
            transcripts = [self.form.read(part) for part in parts]
            pair = [_only(transcript) for transcript in transcripts]
            first, second, how = pair[0], pair[1], NAMES
        else:
            transcripts = [self.form.read(parts[0])] * 2
            first, second, how = two_of(transcripts[0], self.speakers)
        heard = self._heard(parts, transcripts[0], (first, second))
        others = _others(transcripts[0], first, second) if len(parts) == 1 else Timeline()
        remarks = [*transcripts[0].remarks, *(transcripts[1].remarks if len(parts) == 2 else [])]
        if heard.remark:
            remarks.append(heard.remark)
        recordings: tuple[Recording | None, Recording | None] = heard.recordings or (None, None)
        if heard.recordings is not None and not heard.whose and len(parts) == 1:
            recordings, remark = _placed(transcripts[0], first, second, heard.recordings, others, how)
            remarks += [remark] if remark else []
        if others:
            remarks.append("a third person speaks; where, is marked as sound on both sides")
        until = _until(transcripts, recordings)
        (one, other) = (
            side_of(transcript, speaker, side, recording, until, others)
            for transcript, speaker, side, recording in zip(transcripts, (first, second), "AB", recordings, strict=True)
        )
        if not (one.words or one.utterances or one.loose) and not (other.words or other.utterances or other.loose):
            raise InputError(
                parts[0].path, parts[0].inner, found="no word and no turn", expected="what two people said"
            )
        language = transcripts[0].language or self.language
        return Conversation(name, (one, other), language, tuple(remarks))

    def _heard(self, parts: Sequence[Part], transcript: Gathered, speakers: tuple[Speaker, Speaker]) -> Heard:
        if self.form.name == "candor":
            found = candor.recordings_in(parts[0].path.parent.parent, (speakers[0].name, speakers[1].name))
            return Heard(found, found is not None and found[0].file != found[1].file)
        if len(parts) == 2:
            stems = [part.path.stem for part in parts]
            found_each = [self.sounds.named(stem, part.path) for stem, part in zip(stems, parts, strict=True)]
            first, second = found_each
            if first and second and probe(first).channels == probe(second).channels == 1:
                return Heard((Recording(first), Recording(second)), True)
            names = [LAST.fullmatch(stems[0])["stem"]] if LAST.fullmatch(stems[0]) else []  # type: ignore[index]
        else:
            names = [without_suffix(parts[0].inner) if parts[0].inner else parts[0].path.stem]
            names += [without_suffix(media) for media in transcript.media]
            if parts[0].inner:
                names.append(parts[0].path.stem)
        names = [name for n, name in enumerate(names) if name and name not in names[:n]]
        return self.sounds.of(names, (speakers[0].name, speakers[1].name), parts[0].path)


def _only(transcript: Gathered) -> Speaker:
    talking = transcript.talking
    if len(talking) > 1:
        listed = ", ".join(printable(one.name, 40) for one in talking[:8])
        raise InputError(
            transcript.path, "speakers", found=listed, expected="one, since the other side has its own file"
        )
    return talking[0] if talking else Speaker("")


def _others(transcript: Gathered, first: Speaker, second: Speaker) -> Timeline:
    found = Timeline()
    for speaker in transcript.talking:
        if speaker is not first and speaker is not second:
            found |= speaker.heard
    return found


def _placed(
    transcript: Gathered, first: Speaker, second: Speaker, recordings: tuple[Recording, Recording], others: Timeline,
    how: str,
) -> tuple[tuple[Recording, Recording], str]:  # fmt: skip
    """Return which recording is the first side's and which the second's, and a remark where the sound said so."""
    told = by_sound(first, second, recordings, others)
    if told > 0 and how not in (FILE, NAMES):
        said = "--speakers says" if how == ASKED else "the transcript says"
        raise InputError(
            transcript.path, "speakers", found=f"{said} that {printable(first.name, 40)} is on the first channel, and "
            f"the sound of {printable(recordings[0].file.name, 60)} that it is {printable(second.name, 40)}",
            expected="one of them", do="say it with --speakers, the first channel's first, or look at the recording",
        )  # fmt: skip
    if told == 0 and how == FILE:
        raise refuse_channels(transcript, first, second, recordings[0].file)
    if told > 0:
        against = " against their names" if how == NAMES else ""
        return recordings[::-1], f"which channel is whose, the sound tells{against}"
    return recordings, "which channel is whose, the sound tells" if how == FILE else ""


def _until(transcripts: Sequence[Gathered], recordings: Sequence[Recording | None]) -> int:
    """Return how long a conversation lasts, µs; raises where its transcript goes on after the recording's end."""
    ends = [0]
    for transcript in transcripts:
        for speaker in transcript.talking:
            ends += [one.span.end for one in speaker.utterances] + [word.span.end for word, _ in speaker.words]
    lengths = [probe(one.file).duration for one in recordings if one is not None]
    if lengths:
        assert recordings[0] is not None
        within_recording(transcripts[0].path, max(ends), max(lengths), recordings[0].file)
    return max(ends + lengths)


def open_transcribed(
    root: Path, form: Format, *, asked: bool = False, recordings: Path | None = None, language: str = "en",
    speakers: Sequence[str] = (),
) -> Transcribed | None:  # fmt: skip
    """Return the transcripts of one format in a folder, or in a file; None where there are none.

    ``asked``: the format was chosen by name. ``recordings``: where audio lies that is not beside them; ``language``: of
    transcripts that do not tell it; ``speakers``: the two to be taken, the first channel's first.
    """
    base = root if root.is_dir() else root.parent
    every = list(files_below(root)) if root.is_dir() else [root]
    fitting = [path for path in every if path.suffix.lower() in form.suffixes]
    found = [path for path in fitting if (asked and not form.strict) or form.accepts(path)]
    if not found:
        return None
    sounds = Sounds.below([base, *([recordings] if recordings else [])])
    if form.name == "json" and not asked and any(is_audio(path) for path in every):
        # Beside recordings, what is no recording's transcript is something else.
        found = [path for path in found if sounds.named(path.stem, path) is not None]
    remarks, parts = list[str](), dict[str, tuple[Part, ...]]()
    if form.name == "candor":
        folders = {path.parent.parent: Part(path) for path in reversed(found)}
        for folder, part in folders.items():
            _add(parts, _dashed(folder, base) or folder.name, part, remarks)
    elif form.conversations is not None:
        for path in found:
            _listed(path, form, base, parts, remarks)
    else:
        for path in found:
            _add(parts, _dashed(path.with_suffix(""), base), Part(path), remarks)
    if form.by_side:
        _join_sides(parts, form, sounds)
    if not parts and not remarks:
        return None
    return Transcribed(
        base, form, parts, sounds, licence_in(base), (*remarks, *_not_read(every, form)), language, tuple(speakers)
    )


def _listed(path: Path, form: Format, base: Path, parts: dict[str, tuple[Part, ...]], remarks: list[str]) -> None:
    assert form.conversations is not None
    try:
        inside = form.conversations(path)
    except InputError as error:
        remarks.append(f"left out: {error}")
        return
    for inner, ranges in inside.items():
        name = without_suffix(inner.replace("/", "-").replace("\\", "-").strip("-")) or path.stem
        # A file of one conversation is called like it, or is its side's own.
        if len(inside) == 1 and (form.by_side or plain(name) == plain(path.stem)):
            name = path.stem
        _add(parts, _dashed(path.parent / (name or path.stem), base), Part(path, inner, tuple(ranges)), remarks)


def _add(parts: dict[str, tuple[Part, ...]], name: str, part: Part, remarks: list[str]) -> None:
    if name in parts:
        there = printable(parts[name][0].path.name, 60)
        remarks.append(f"{printable(name, 60)} is in {there} and in {printable(part.path.name, 60)}; the first is read")
    else:
        parts[name] = (part,)


def _dashed(path: Path, base: Path) -> str:
    return "-".join(path.relative_to(base).parts)


def _join_sides(parts: dict[str, tuple[Part, ...]], form: Format, sounds: Sounds) -> None:
    """Make one conversation of two files that are its two sides."""
    by_stem: dict[tuple[Path, str], dict[str, str]] = defaultdict(dict)
    for name, (part, *_) in parts.items():
        if found := LAST.fullmatch(part.path.stem):
            by_stem[part.path.parent, found["stem"]][found["role"].lower()] = name
    for (folder, stem), roles in by_stem.items():
        pair = next((pair for pair in ROLES if set(pair) == set(roles)), None)
        if pair is None:
            continue
        names = [roles[role] for role in pair]
        both = (parts[names[0]][0], parts[names[1]][0])
        if _are_sides(both, form, sounds):
            joined = names[0].removesuffix(both[0].path.stem) + (stem or folder.name)
            for name in names:
                del parts[name]
            parts[joined if joined not in parts else names[0]] = both


def _are_sides(both: tuple[Part, Part], form: Format, sounds: Sounds) -> bool:
    """Tell whether two files are two sides: by recordings of one channel each, else by one speaker in each."""
    found = [sounds.named(part.path.stem, part.path) for part in both]
    if all(found):
        return all(probe(path).channels == 1 for path in found if path)
    try:
        return all(len(form.read(part).talking) <= 1 for part in both)
    except InputError:
        return False


def _not_read(every: Sequence[Path], form: Format) -> Iterator[str]:
    suffixes = {suffix: other.name for other in FORMATS for suffix in other.suffixes if suffix not in (".txt", ".xml")}
    there = Counter(path.suffix.lower() for path in every)
    for suffix, n in sorted(there.items()):
        if suffix in suffixes and suffix not in form.suffixes and suffix not in (".csv", ".json", ".tsv", ".jsonl"):
            files = "file is" if n == 1 else "files are"
            yield f"{n} {suffix} {files} there too and not read: --format {suffixes[suffix]} reads them"
