"""A corpus opened by what its folder holds, or by the name of its format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fullduplex.data.corpora.conversation import Corpus
from fullduplex.data.corpora.formats import BY_NAME
from fullduplex.data.corpora.switchboard import FORMAT as SWITCHBOARD
from fullduplex.data.corpora.switchboard import open_switchboard
from fullduplex.data.corpora.transcribed import open_transcribed
from fullduplex.data.corpora.two_channel import FORMAT as TWO_CHANNEL
from fullduplex.data.corpora.two_channel import open_two_channel
from fullduplex.errors import InputError

#: Asked in this order: transcripts tell more than the recordings beside them.
FORMATS = (SWITCHBOARD, *BY_NAME, TWO_CHANNEL)
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
    raise InputError(root, found="no conversation that can be read", expected=expected)


def open_recordings(root: Path, form: str, *, recordings: Path | None = None, speakers: Sequence[str] = ()) -> Corpus:
    """Return the corpus of that format in ``root`` for its recordings alone: what was said need not be there.

    Raises :class:`InputError` as :func:`open_corpus` does.
    """
    if form == SWITCHBOARD and root.is_dir():
        found = open_switchboard(root, recordings, without_words=True)
        if found is not None:
            return found
    return open_corpus(root, form, recordings=recordings, speakers=speakers)
