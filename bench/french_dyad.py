"""Two people who speak French, synthesised here and scored as people; a French and an English cascade beside them.

``python bench/french_dyad.py DIR``: writes DIR/corpus (two-channel recordings with known turns, pauses, backchannels
and interruptions), then DIR/baseline (what `fullduplex baseline --as fdb-french` makes of it), a run of each offline
cascade on the same items, and DIR/mismatch.md. Voices: Kokoro's French one and Pico's. Minutes on one core.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

RATE = 16_000
#: (speaker, what is said, when it begins: seconds after the end of what was said before; below 0 it overlaps).
TALKS: tuple[tuple[tuple[str, str, float], ...], ...] = (
    (
        ("a", "Bonjour, je voudrais réserver une chambre pour deux personnes à Montréal la semaine prochaine.", 0.5),
        ("b", "Très bien, pour quelles dates exactement voulez-vous cette chambre ?", 0.4),
        ("a", "Alors, nous arrivons le mardi soir,", 0.5),
        ("a", "et nous repartons le vendredi matin, très tôt.", 0.95),
        ("b", "D'accord.", -1.6),
        ("a", "Nous voulons une chambre calme, avec une vue sur le fleuve, si c'est possible.", 1.0),
        (
            "b",
            "Il me reste une chambre au quatrième étage, elle coûte cent vingt dollars la nuit avec déjeuner.",
            0.5,
        ),
        ("a", "Attendez, est-ce que le stationnement est compris dans ce prix ?", -1.5),
        ("b", "Oui, le stationnement est compris, et il se trouve juste derrière l'hôtel.", 0.6),
        ("a", "C'est parfait, je vais donc prendre cette chambre pour trois nuits.", 0.5),
    ),
    (
        ("b", "Allô, comment s'est passé ton voyage en train jusqu'à Québec hier soir ?", 0.5),
        ("a", "Oh, c'était long, le train est resté arrêté une heure dans la campagne à cause de la neige.", 0.4),
        ("b", "Ah oui.", -1.8),
        ("a", "Et puis nous sommes arrivés après minuit,", 0.6),
        ("a", "mais ma sœur nous attendait à la gare avec du café chaud.", 1.0),
        ("b", "Elle est vraiment gentille, ta sœur, et est-ce que tu vas rester longtemps chez elle cette fois ?", 0.5),
        ("a", "Je pense rester une semaine, parce que les enfants sont en vacances et qu'ils veulent skier.", 0.4),
        ("b", "Mais dis-moi, est-ce qu'il y a assez de neige en ce moment ?", -1.4),
        ("a", "Oui, il y en a beaucoup, il a neigé pendant trois jours sans arrêt.", 0.5),
        ("b", "Alors je viendrai peut-être vous voir samedi avec les petits.", 0.6),
    ),
)


def recorded(talk: tuple[tuple[str, str, float], ...], voices: Any) -> dict[str, NDArray[np.float32]]:
    """Return each side of a talk as samples at 16 kHz."""
    from fullduplex.data.audio import resample

    placed, end = list[tuple[str, int, NDArray[np.float32]]](), 0
    for speaker, text, after in talk:
        spoken = voices[speaker].speak(text)
        samples = spoken.samples if spoken.rate == RATE else resample(spoken.samples, spoken.rate, RATE)
        loud = np.flatnonzero(np.abs(samples) > 0.01 * np.abs(samples).max())
        samples = samples[loud[0] : loud[-1] + 1]
        start = max(0, end + round(after * RATE))
        placed.append((speaker, start, samples))
        end = max(end, start + len(samples))
    sides = {name: np.zeros(end + RATE, np.float32) for name in "ab"}
    for speaker, start, samples in placed:
        sides[speaker][start : start + len(samples)] += samples
    return sides


def corpus(folder: Path) -> None:
    """Write the talks as pairs of files, one a side."""
    from fullduplex.data import audio
    from fullduplex.providers.voices.kokoro import Kokoro
    from fullduplex.providers.voices.pico import Pico

    voices = {"a": Kokoro("ff_siwis"), "b": Pico("fr-FR")}
    folder.mkdir(parents=True, exist_ok=True)
    for n, talk in enumerate(TALKS, 1):
        for side, samples in recorded(talk, voices).items():
            audio.write(folder / f"talk{n}_{side}.wav", samples, RATE, "PCM_16")


def chain(root: Path) -> None:
    """Score people, drive both cascades over their items, and write the table of language match."""
    commands = (
        ["baseline", str(root / "corpus"), "--as", "fdb-french@all", "--rules", "french-callfc", "--language", "fr",
         "--out", str(root / "baseline"), "--no-page"],
        *(
            ["run", "fdb-french@all", "--data", str(root / "baseline" / "callfc"), "--clock", "step-algorithmic",
             "--system", f"cascade:preset=offline-{language}", "--name", f"cascade {language}", "--language", language,
             "--out", str(root / f"{language}.run"), "--no-page"]
            for language in ("fr", "en")
        ),
        ["mismatch", *(str(root / name) for name in ("fr.run", "en.run", "baseline/people.run")), "--out", str(root)],
    )  # fmt: skip
    import subprocess

    for command in commands:
        print("$ fullduplex", *command, flush=True)
        subprocess.run([sys.executable, "-m", "fullduplex", *command], check=False)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    if not (place / "corpus").is_dir():
        corpus(place / "corpus")
    chain(place)
