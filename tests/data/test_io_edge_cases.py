"""Every file of the collected edge cases has a verdict here, and a file without one fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullduplex.data import audio
from fullduplex.errors import InputError

#: (rate, channels, samples a channel), or words of the sentence that refuses it.
VERDICTS: dict[str, tuple[int, int, int] | str] = {
    "azure_missing_wav_header.wav": "format not recognised",
    "azure_mulaw.wav": (16_000, 1, 32_480),
    "lhotse_ES2011a.Headset-0-40s-46s.wav": (16_000, 1, 96_000),
    "lhotse_common_voice_en_651325.mp3": (48_000, 1, 114_048),
    "lhotse_stereo.mp3": (8_000, 2, 8_000),
    "lhotse_stereo.opus": (8_000, 2, 8_043),
    "lhotse_stereo.wav": (8_000, 2, 8_000),
    "pragsim_2s_excerpt.au": (8_000, 2, 16_000),
    "speechbrain_example3.sph": (16_000, 1, 46_242),
    "test-1234Hz-le-1ch-10S-20bit-extra.wav": (1_234, 1, 10),
    "test-44100Hz-2ch-32bit-float-be.wav": (44_100, 2, 441),
    "test-44100Hz-2ch-32bit-float-le.wav": (44_100, 2, 441),
    "test-44100Hz-be-1ch-4bytes.wav": (44_100, 1, 4_410),
    "test-44100Hz-le-1ch-4bytes-early-eof-no-data.wav": "without a data chunk",
    "test-44100Hz-le-1ch-4bytes-early-eof.wav": "truncated audio: 944 bytes of 17,640",
    "test-44100Hz-le-1ch-4bytes-incomplete-chunk.wav": "without a data chunk",
    "test-44100Hz-le-1ch-4bytes-rf64.wav": (44_100, 1, 4_410),
    "test-44100Hz-le-1ch-4bytes.wav": (44_100, 1, 4_410),
    "test-48000Hz-2ch-64bit-float-le-wavex.wav": (48_000, 2, 480),
    "test-8000Hz-be-3ch-5S-24bit.wav": (8_000, 3, 5),
    "test-8000Hz-le-1ch-1byte-ulaw.wav": (8_000, 1, 9),
    "test-8000Hz-le-2ch-1byteu.wav": (8_000, 2, 800),
    "test-8000Hz-le-3ch-5S-24bit-inconsistent.wav": (8_000, 3, 5),
    "test-8000Hz-le-3ch-5S-24bit-rf64.wav": (8_000, 3, 5),
    "test-8000Hz-le-3ch-5S-24bit.wav": (8_000, 3, 5),
    "test-8000Hz-le-3ch-5S-36bit.wav": "unimplemented format",
    "test-8000Hz-le-3ch-5S-45bit.wav": "unimplemented format",
    "test-8000Hz-le-3ch-5S-53bit.wav": "unimplemented format",
    "test-8000Hz-le-3ch-5S-64bit.wav": (8_000, 3, 5),
    "test-8000Hz-le-4ch-9S-12bit.wav": (8_000, 4, 9),
    "test-8000Hz-le-5ch-9S-5bit.wav": (8_000, 5, 9),
}


def test_every_edge_case_has_a_verdict_and_keeps_it(shared: Path) -> None:
    files = {path.name: path for path in (shared / "data/io_edge_cases").rglob("*") if path.is_file()}
    if not files:
        pytest.skip("the edge cases are not here")
    assert set(files) == set(VERDICTS)
    for name, path in sorted(files.items()):
        verdict = VERDICTS[name]
        if isinstance(verdict, str):
            with pytest.raises(InputError) as raised:
                audio.read_all(path)
            assert verdict in str(raised.value)
        else:
            samples, rate = audio.read_all(path)
            assert (name, rate, samples.shape[1], len(samples)) == (name, *verdict)
            about = audio.probe(path)
            assert (about.rate, about.channels) == (rate, samples.shape[1])
            # An MP3's header also counts what its encoder padded.
            assert abs(about.frames - len(samples)) <= (1152 if name.endswith(".mp3") else 0)
