"""A corpus opened by what its folder holds, or by the name of its format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fullduplex.data.audio import probe
from fullduplex.data.corpora.conversation import Corpus
from fullduplex.data.corpora.formats import BY_NAME
from fullduplex.data.corpora.recordings import files_below, is_audio
from fullduplex.data.corpora.switchboard import FORMAT as SWITCHBOARD
from fullduplex.data.corpora.switchboard import open_switchboard
from fullduplex.data.corpora.transcribed import open_transcribed
from fullduplex.data.corpora.two_channel import FORMAT as TWO_CHANNEL
from fullduplex.data.corpora.two_channel import open_two_channel
from fullduplex.errors import InputError, printable

#: Asked in this order: transcripts tell more than the recordings beside them.
FORMATS = (SWITCHBOARD, *BY_NAME, TWO_CHANNEL)
#: Files that hold others, or one other.
PACKED = (".gz", ".zip", ".tar", ".tgz", ".bz2", ".xz", ".7z", ".zst", ".rar")
_HOLDS = {
    SWITCHBOARD: "ms98 transcripts (swNNNNA-ms98-a-word.text)",
    **{name: form.holds for name, form in BY_NAME.items()},
    TWO_CHANNEL: "audio files of two channels, or pairs of one (call_agent.wav, call_caller.wav)",
}


def open_corpus(
    root: Path,
    form: str = "",
    *,
    recordings: Path | None = None,
    language: str = "en",
    speakers: Sequence[str] = (),
) -> Corpus:
    """Return the corpus in ``root``, read by the first format that finds a conversation in it, or by ``form``.

    ``recordings``: where audio lies that is not in the corpus; ``language``: of a corpus that does not tell it;
    ``speakers``: of transcripts with more than two, or none that tells whose the channels are, the two to be taken,
    the first channel's first. Raises :class:`InputError` where the folder is none, holds nothing that can be read, or
    no whole conversation.
    """
    if form and form not in FORMATS:
        raise InputError("--format", found=form, expected=" or ".join(FORMATS))
    if speakers and (len(speakers) != 2 or speakers[0] == speakers[1]):
        raise InputError("--speakers", found=", ".join(speakers), expected="two different names, as A,B")
    if not root.exists():
        raise InputError(root, found="no such folder", expected="a corpus' folder")
    if not (root.is_dir() or root.is_file()):
        raise InputError(root, found="neither a file nor a folder", expected="a corpus' folder")
    for name in [form] if form else FORMATS:
        found: Corpus | None
        if name == SWITCHBOARD:
            found = open_switchboard(root, recordings) if root.is_dir() else None
        elif name == TWO_CHANNEL:
            found = open_two_channel(root, language)
        else:
            found = open_transcribed(
                root,
                BY_NAME[name],
                asked=bool(form),
                recordings=recordings,
                language=language,
                speakers=speakers,
            )
        if found is None:
            continue
        if not found.names:
            said = found.remarks[0] if found.remarks else "none"
            raise InputError(root, found=f"no whole conversation ({said})", expected=_HOLDS[name])
        return found
    expected = _HOLDS[form] if form else "one of the formats that --format names, or audio of two channels"
    raise _nothing_in(root, expected)


def _nothing_in(root: Path, expected: str) -> InputError:
    """Return the error of a folder without a conversation, which says what is there instead."""
    files = [root] if root.is_file() else list(files_below(root))
    sounds = [path for path in files if is_audio(path)]
    packed = [path for path in files if path.name.lower().endswith(PACKED)]
    if sounds:
        why = _not_two_channels(sounds[0])
        more = f", and {len(sounds) - 1} more" if len(sounds) > 1 else ""
        found = f"audio in which two sides are not told apart ({printable(sounds[0].name, 60)}: {why}{more})"
        return InputError(root, found=found, expected=f"{_HOLDS[TWO_CHANNEL]}, or a transcript in the format that "
                          "--format names")  # fmt: skip
    if packed:
        return InputError(
            root, found=f"what is packed ({printable(packed[0].name, 60)})", expected=expected, do="unpack it"
        )
    suffixes = ", ".join(sorted({printable(path.suffix.lower() or path.name, 20) for path in files})[:8])
    held = f" ({len(files):,} of {suffixes})" if files else " (no file)"
    return InputError(root, found=f"no conversation that can be read{held}", expected=expected)


def _not_two_channels(path: Path) -> str:
    """Return why a file of audio is no conversation: how many channels it has, or that nothing is in it."""
    try:
        told = probe(path)
    except InputError as error:
        return str(error.found)
    if not told.duration:
        return "no samples"
    return "both voices in 1 channel, or one without its partner" if told.channels == 1 else f"{told.channels} channels"


def open_recordings(root: Path, form: str, *, recordings: Path | None = None, speakers: Sequence[str] = ()) -> Corpus:
    """Return the corpus of that format in ``root`` for its recordings alone: what was said need not be there.

    Raises :class:`InputError` as :func:`open_corpus` does.
    """
    if form == SWITCHBOARD and root.is_dir():
        found = open_switchboard(root, recordings, without_words=True)
        if found is not None:
            return found
    return open_corpus(root, form, recordings=recordings, speakers=speakers)
