"""The self-test: what this package's own ears are worth, measured on answers that were planted.

Sounds whose first and last samples are known are said at known times by scripted systems, which are driven and played
out like any other; noise and a telephone line are put over the recordings; every detector and recogniser
listens, and its error is shown as a distribution, with what it does to a benchmark's verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fullduplex.data.files import replacing, write_json
from fullduplex.errors import InputError, PluginError
from fullduplex.model.spec import Spec
from fullduplex.providers.voices import Voice
from fullduplex.runs.listen import detector, recogniser
from fullduplex.testing.selftest.clips import (
    Clip,
    RealTask,
    VoiceTask,
    cut_clips,
    read_clips,
    speak_clips,
    texts_for,
    write_clips,
)
from fullduplex.testing.selftest.hold import TalkTask, label, listen_to_talks, talks_of
from fullduplex.testing.selftest.recognise import RecogniserTask, recognise_talks, suited
from fullduplex.testing.selftest.result import SelfTest, concluded

RunTasks = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
Progress = Callable[[str, int, int], None]
#: Talks in all, those that recognisers hear, and the share of the texts: of the whole self-test and of a quick one.
_TALKS, _RECOGNISED = (142, 10), (6, 2)
_QUICK_NODS, _QUICK_SENTENCES = 4, 8
#: Kokoro says only so many of the texts: it is slow.
_KOKORO = "am_michael"
_KOKORO_TEXTS = 16
_TALKS_A_TASK = 5
#: Real speech that comes inside an installed package; it is cut where it is used, and no part of this one.
_PACKAGED = ("moonshine_voice", ("assets/beckett.wav", "assets/endgame_nagg_nell.wav"))

__all__ = ["SelfTest", "selftest", "voices_here"]


def selftest(
    out: Path,
    *,
    seed: int = 0,
    cache: Path,
    detectors: Sequence[str] = ("silero", "webrtc", "energy"),
    recognisers: Sequence[str] = (),
    clips: Path | None = None,
    voices: Mapping[str, Voice] | None = None,
    quick: bool = False,
    progress: Progress | None = None,
    run_tasks: RunTasks = map,
) -> SelfTest:
    """Return what our own errors are, and write it to ``out``.

    Written: the clips, what was heard of each talk (``talks.json``), ``selftest.json``, ``.md`` and ``.html``.

    ``detectors`` and ``recognisers`` are specs as text, such as ``silero:threshold=0.6``; the first detector is the
    one that the promises are about. ``clips``: a folder of recordings of real speech, cut into utterances and planted
    too; without it, what an installed package carries. ``voices``: what speaks, by name; those of :func:`voices_here`
    without it. ``cache`` is the folder of weights. ``run_tasks(function, tasks)`` yields the
    results in any order; functions and tasks can travel to other processes, which see the same ``out``. The same seed,
    packages and weights give the same numbers.

    Raises :class:`InputError` on a spec, a folder or recordings that cannot be used, and :class:`PluginError`
    where a detector, a recogniser or every voice is missing.
    """
    told = progress or (lambda stage, done, total: None)
    specs = [(family, _spec(family, text)) for family, texts in _families(detectors, recognisers) for text in texts]
    for family, spec in specs:
        (detector if family == "detectors" else recogniser)(spec, str(cache))
    folder = out / "clips"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(out, found=error.strerror or str(error), expected="a folder to write to") from error
    speaking, remarks = voices_here(cache, quick=quick) if voices is None else (dict(voices), [])
    made, more = _clips(folder, speaking, clips, quick, told, run_tasks)
    write_clips(folder, made)
    ears = tuple(spec for family, spec in specs if family == "detectors")
    count = _TALKS[quick]
    tasks = [
        TalkTask(folder, count, seed, tuple(range(count))[k : k + _TALKS_A_TASK], ears, str(cache))
        for k in range(0, count, _TALKS_A_TASK)
    ]
    talks = _gathered("talks", told, run_tasks, listen_to_talks, tasks)
    talks.sort(key=lambda talk: str(talk["talk"]))
    which = suited(talks_of(folder, count, seed), _RECOGNISED[quick])
    jobs = [
        RecogniserTask(folder, count, seed, (i,), spec, str(cache))
        for family, spec in specs
        if family == "recognisers"
        for i in which
    ]
    words = _gathered("words", told, run_tasks, recognise_talks, jobs)
    words.sort(key=lambda row: (str(row["recogniser"]), str(row["talk"]), str(row["condition"])))
    result = concluded(
        talks,
        words,
        made,
        seed=seed,
        quick=quick,
        specs=[str(detector(spec, str(cache)).spec) for spec in ears],
        lead=label(ears[0]),
        remarks=(*remarks, *more),
    )
    _write(out, result, talks, words)
    return result


def voices_here(cache: Path, *, quick: bool = False) -> tuple[dict[str, Voice], list[str]]:
    """Return the voices that can speak here, by name, and a sentence for each that cannot.

    Raises :class:`PluginError` where none can.
    """
    from fullduplex.providers.voices.hibari import Hibari
    from fullduplex.providers.voices.kokoro import Kokoro
    from fullduplex.providers.voices.pico import Pico

    wanted: dict[str, Callable[[], Voice]] = {
        "hibari": lambda: Hibari(),
        "hibari-low": lambda: Hibari(pitch=0.84),
        "pico-us": lambda: Pico("en-US"),
        "pico-gb": lambda: Pico("en-GB"),
    }
    if not quick:
        wanted |= {
            "hibari-high": lambda: Hibari(pitch=1.12),
            "kokoro": lambda: Kokoro(_KOKORO, cache=cache),
        }
    voices: dict[str, Voice] = {}
    remarks: list[str] = []
    for name, make in wanted.items():
        try:
            voice = make()
            _ = voice.spec
        except PluginError as error:
            remarks.append(f"The voice {name} does not speak here: {error}.")
        else:
            voices[name] = voice
    if not voices:
        raise PluginError("the self-test needs a voice; install fullduplex[voices]")
    return voices, remarks


def _families(detectors: Sequence[str], recognisers: Sequence[str]) -> Iterable[tuple[str, Sequence[str]]]:
    if not detectors:
        raise InputError("selftest", "detectors", found="none", expected="at least one, such as silero")
    return (("detectors", detectors), ("recognisers", recognisers))


def _spec(family: str, text: str) -> Spec:
    try:
        return Spec.parse(text)
    except ValueError as error:
        raise InputError("selftest", family, found=text, expected="NAME or NAME:key=value,key=value") from error


def _clips(
    folder: Path, voices: dict[str, Voice], real: Path | None, quick: bool, told: Progress, run_tasks: RunTasks
) -> tuple[list[Clip], list[str]]:
    """Return the clips that were made, in order of voice, and remarks on the real ones."""
    tasks = []
    for i, (name, voice) in enumerate(voices.items()):
        texts = texts_for(i, len(voices))
        if quick:
            texts = _some(texts, _QUICK_NODS, _QUICK_SENTENCES)
        elif name == "kokoro":
            texts = _some(texts, _KOKORO_TEXTS // 4, _KOKORO_TEXTS - _KOKORO_TEXTS // 4)
        tasks.append(VoiceTask(name, voice, texts, folder))
    # The slowest first, so that no other waits for it at the end.
    tasks.sort(key=lambda task: task.name != "kokoro")
    made = [Clip.from_json(clip) for clip in _gathered("voices", told, run_tasks, speak_clips, tasks)]
    sources = (real,) if real is not None else () if quick else _packaged()
    cut = [Clip.from_json(clip) for clip in cut_clips(RealTask(sources, "real", folder))] if sources else []
    if real is not None and not cut:
        raise InputError(
            real,
            found="no recording that falls 46 dB below its peak between utterances",
            expected="speech with pauses, recorded without loud background",
        )
    made += cut
    where = "the folder given" if real is not None else f"recordings inside the installed {_PACKAGED[0]}"
    remark = f"{len(cut)} real utterances were cut from {where}, at silences 46 dB below the peak."
    remarks = [remark if cut else "No real speech was planted: no folder of recordings was given."]
    return sorted(made, key=lambda clip: clip.file), remarks


def _some(texts: Sequence[tuple[str, str]], nods: int, sentences: int) -> tuple[tuple[str, str], ...]:
    by_role = {role: [text for text in texts if text[0] == role] for role in ("nod", "sentence", "user")}
    return tuple(by_role["nod"][:nods] + by_role["sentence"][:sentences] + by_role["user"])


def _packaged() -> tuple[Path, ...]:
    """Return the recordings of real speech that are installed here."""
    from importlib.util import find_spec

    package, names = _PACKAGED
    found = find_spec(package)
    if found is None or found.origin is None:
        return ()
    paths = (Path(found.origin).parent / name for name in names)
    return tuple(path for path in paths if path.is_file())


def _gathered(stage: str, told: Progress, run_tasks: RunTasks, function: Any, tasks: Sequence[Any]) -> list[Any]:
    """Return every row of every task, and say how far it is."""
    rows: list[Any] = []
    told(stage, 0, len(tasks))
    for done, result in enumerate(run_tasks(function, tasks), 1):
        rows += result
        told(stage, done, len(tasks))
    return rows


def _write(out: Path, result: SelfTest, talks: Sequence[Any], words: Sequence[Any]) -> None:
    write_json(out / "talks.json", {"schema": 1, "talks": talks, "words": words})
    write_json(out / "selftest.json", result.to_json())
    for name, text in (("selftest.md", result.to_markdown()), ("selftest.html", result.to_html())):
        with replacing(out / name) as part:
            part.write_text(text, encoding="utf-8")


def clips_of(out: Path) -> tuple[Clip, ...]:
    """Return the clips of a self-test on disk; raises :class:`InputError` where there is none."""
    return read_clips(out / "clips")
