"""LiveKit: what the loudspeaker tells a session, and what befalls one that cannot be had.

The session itself is driven in ``test_livekit_real.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.link import Position
from fullduplex.driving.playout import Chunk, Flush, playout
from fullduplex.errors import InputError, PluginError
from fullduplex.model.spans import SECOND, ms, seconds
from fullduplex.systems import livekit
from fullduplex.systems.livekit import LiveKit
from fullduplex.systems.livekit.playback import Playback, Report

RATE = 24_000
PIECE = np.ones(RATE // 10, np.float32)


class Room:
    """A loudspeaker in a talk: what the driver does once a frame is done here by hand."""

    def __init__(self) -> None:
        self.playback, self.log, self.now = Playback(RATE), [], 0  # type: Playback, list[Chunk | Flush], int
        self.reports: list[Report] = []

    def does(self, doings: Iterable[Any]) -> None:
        for doing in doings:
            if isinstance(doing, Report):
                self.reports.append(doing)
            elif isinstance(doing, Chunk):
                self.log.append(Chunk(doing.samples, doing.id, arrived=self.now))
            else:
                self.log.append(Flush(doing.scope, self.now))

    def passes(self, time: int) -> None:
        """Let time pass, a frame of 20 ms after another."""
        from fullduplex.driving.playout import Player, sample_at

        until = self.now + time
        while self.now < until:
            self.now += ms(20)
            player = Player(RATE)
            for event in self.log:
                player.take(event)
            id, played = player.latest(sample_at(self.now, RATE))
            self.does(self.playback.heard(Position(self.now, id, played * SECOND // RATE)))

    def heard(self) -> float:
        """Return how many seconds of sound were heard."""
        return float(np.count_nonzero(playout(self.log, RATE, 10 * RATE).samples)) / RATE


def told(reports: Iterable[Report]) -> list[tuple[str, float, bool]]:
    return [(report.kind, round(report.played, 2), report.interrupted) for report in reports]


def test_a_segment_that_sounded_whole_is_told_when_it_has() -> None:
    room = Room()
    for _ in range(3):
        room.does(room.playback.capture(PIECE))
    room.does(room.playback.flush())
    assert room.reports == []
    room.passes(ms(280))
    assert told(room.reports) == [("started", 0.02, False)]
    room.passes(ms(20))
    assert told(room.reports)[1:] == [("finished", 0.3, False)]


def test_a_segment_that_is_cleared_is_told_with_what_had_sounded() -> None:
    room = Room()
    for _ in range(3):
        room.does(room.playback.capture(PIECE))
    room.does(room.playback.flush())
    room.passes(ms(100))
    room.does(room.playback.clear())
    assert told(room.reports)[1:] == [("finished", 0.1, True)]
    room.passes(ms(400))
    assert room.heard() == pytest.approx(0.1, abs=0.001)


def test_a_segment_that_is_cleared_while_it_comes_is_over_when_it_is_flushed() -> None:
    room = Room()
    room.does(room.playback.capture(PIECE))
    room.passes(ms(40))
    room.does(room.playback.clear())
    assert told(room.reports)[1:] == []
    room.does(room.playback.flush())
    assert told(room.reports)[1:] == [("finished", 0.04, True)]


def test_a_pause_holds_the_rest_and_loses_no_sample() -> None:
    room = Room()
    for _ in range(3):
        room.does(room.playback.capture(PIECE))
    room.does(room.playback.flush())
    room.passes(ms(100))
    room.does(room.playback.pause())
    room.passes(seconds(1))
    assert room.heard() == pytest.approx(0.1, abs=0.001)
    room.does(room.playback.resume())
    room.passes(ms(300))
    assert room.heard() == 0.3
    assert told(room.reports)[1:] == [("finished", 0.3, False)]


def test_a_pause_that_is_over_within_a_frame_loses_no_sample_either() -> None:
    room = Room()
    for _ in range(3):
        room.does(room.playback.capture(PIECE))
    room.does(room.playback.flush())
    room.passes(ms(100))
    room.now += ms(7)
    room.does(room.playback.pause())
    room.does(room.playback.resume())
    room.passes(ms(400))
    assert room.heard() == 0.3


def test_what_comes_in_a_pause_waits() -> None:
    room = Room()
    room.does(room.playback.capture(PIECE))
    room.does(room.playback.pause())
    room.does(room.playback.capture(PIECE))
    room.passes(ms(400))
    assert room.heard() == 0
    room.does(room.playback.resume())
    room.does(room.playback.flush())
    room.passes(ms(400))
    assert room.heard() == 0.2


def test_a_pause_that_ends_in_a_clear_is_not_gone_on_with() -> None:
    room = Room()
    room.does(room.playback.capture(PIECE))
    room.does(room.playback.flush())
    room.passes(ms(40))
    room.does(room.playback.pause())
    room.passes(ms(100))
    room.does(room.playback.clear())
    room.does(room.playback.resume())
    room.passes(ms(300))
    assert room.heard() == pytest.approx(0.04, abs=0.001)
    assert told(room.reports)[1:] == [("finished", 0.04, True)]
    room.does(room.playback.capture(PIECE))
    room.passes(ms(200))
    assert room.heard() == pytest.approx(0.14, abs=0.001)


def test_segments_are_told_in_their_order() -> None:
    room = Room()
    for _ in range(2):
        room.does(room.playback.capture(PIECE))
        room.does(room.playback.flush())
    room.passes(ms(260))
    assert [kind for kind, *_ in told(room.reports)] == ["started", "finished", "started", "finished"]


def test_a_library_that_is_missing_is_a_sentence_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(livekit, "_version", lambda: "")
    with pytest.raises(PluginError, match=r"install fullduplex\[livekit\]"):
        LiveKit("agent.py:agent")


def test_an_agent_that_cannot_be_had_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(livekit, "_version", lambda: "1.8.9")
    with pytest.raises(PluginError, match=r"nowhere\.py:agent cannot be had"):
        LiveKit("nowhere.py:agent")
    with pytest.raises(InputError, match=r"package\.module:name"):
        LiveKit("agent")


def test_a_rate_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="rate_in"):
        LiveKit("agent.py:agent", rate_in=11_025)
