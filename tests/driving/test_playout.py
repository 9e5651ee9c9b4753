from itertools import pairwise
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullduplex.driving.playout import Chunk, Flush, Player, Samples, playout, sample_at
from fullduplex.model.spans import SECOND, ms, seconds

RATE = 16_000
Log = list[Chunk | Flush]


def chunk(at: int, length: int, value: float = 1.0, **more: object) -> Chunk:
    return Chunk(np.full(length * RATE // SECOND, value, np.float32), arrived=at, **more)  # type: ignore[arg-type]


def spans(samples: Samples) -> list[tuple[float, float]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], samples != 0, [0]]).astype(int)))
    return [(a / RATE, b / RATE) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def test_a_burst_sounds_in_real_time_and_a_flush_cuts_it_where_it_comes() -> None:
    # 10 s of speech arrive in 1.5 s from t = 5 s on; the flush comes at 8.2 s.
    received: Log = [chunk(seconds(5) + i * ms(150), seconds(1)) for i in range(10)] + [Flush(arrived=seconds(8.2))]
    played = playout(received, RATE, RATE * 20)
    assert spans(played.samples) == [(5.0, 8.2)]
    assert sum(p.size - p.played for p in played.placed) == round(6.8 * RATE)


def test_priming_moves_the_onset_and_not_the_flush() -> None:
    received: Log = [chunk(seconds(5) + i * ms(150), seconds(1)) for i in range(10)] + [Flush(arrived=seconds(8.2))]
    assert spans(playout(received, RATE, RATE * 20, priming=ms(100)).samples) == [(5.1, 8.2)]


def test_priming_comes_back_when_the_queue_has_run_empty() -> None:
    received: Log = [chunk(0, ms(100)), chunk(seconds(1), ms(100))]
    assert spans(playout(received, RATE, RATE * 2, priming=ms(50)).samples) == [(0.05, 0.15), (1.05, 1.15)]


def test_a_chunk_that_comes_as_the_queue_ends_follows_at_once() -> None:
    received: Log = [chunk(0, ms(100), 1), chunk(ms(100), ms(100), 2)]
    assert spans(playout(received, RATE, RATE, priming=0).samples) == [(0.0, 0.2)]


def test_a_flush_cuts_at_the_very_sample() -> None:
    received: Log = [chunk(0, seconds(1)), Flush(arrived=ms(500))]
    played = playout(received, RATE, RATE * 2)
    assert played.placed[0].played == RATE // 2
    assert not played.samples[RATE // 2 :].any() and played.samples[: RATE // 2].all()


def test_a_flush_between_two_samples_lets_the_sample_before_it_sound() -> None:
    received: Log = [chunk(0, seconds(1)), Flush(arrived=ms(500) + 1)]
    assert playout(received, RATE, RATE).placed[0].played == RATE // 2 + 1


@pytest.mark.parametrize("priming", [0, ms(100)])
def test_a_flush_of_nothing_changes_nothing(priming: int) -> None:
    first, second = chunk(seconds(1), ms(300)), chunk(seconds(2), ms(300))
    received: Log = [Flush(), first, Flush(arrived=seconds(1.4)), Flush(arrived=seconds(2)), second]
    plain = playout([first, second], RATE, RATE * 4, priming=priming).samples
    assert np.array_equal(playout(received, RATE, RATE * 4, priming=priming).samples, plain)


def test_audio_after_a_flush_of_everything_sounds() -> None:
    received: Log = [chunk(0, seconds(2), 1), Flush(arrived=seconds(1)), chunk(seconds(1), ms(500), 2)]
    heard = playout(received, RATE, RATE * 3).samples
    assert heard[RATE - 1] == 1 and heard[RATE] == 2
    assert spans(heard) == [(0.0, 1.5)]


def test_audio_after_a_flush_of_a_long_queue_does_not_wait_for_what_was_taken_back() -> None:
    received: Log = [chunk(0, seconds(1)) for _ in range(5)]
    received += [Flush(arrived=seconds(0.5)), chunk(seconds(2), seconds(1))]
    assert spans(playout(received, RATE, RATE * 6).samples) == [(0.0, 0.5), (2.0, 3.0)]


def test_late_audio_of_a_flushed_id_is_dropped_and_said_so() -> None:
    received: Log = [
        chunk(0, seconds(1), id="a"),
        Flush("a", arrived=ms(500)),
        chunk(ms(600), seconds(1), id="a"),
        chunk(ms(700), ms(100), id="b"),
    ]
    played = playout(received, RATE, RATE * 3)
    assert spans(played.samples) == [(0.0, 0.5), (0.7, 0.8)]
    assert [(p.played > 0, p.late) for p in played.placed] == [(True, False), (False, True), (True, False)]


def test_a_flush_of_an_epoch_takes_earlier_ones_too_and_leaves_later_ones() -> None:
    received: Log = [
        chunk(0, seconds(1), 1, epoch=1),
        chunk(0, seconds(1), 2, epoch=2),
        chunk(0, seconds(1), 3, epoch=3),
        Flush(2, arrived=ms(500)),
    ]
    heard = playout(received, RATE, RATE * 4).samples
    assert spans(heard) == [(0.0, 1.5)]
    assert set(heard[RATE // 2 : RATE * 3 // 2]) == {3.0}


def test_what_waited_behind_flushed_audio_sounds_sooner() -> None:
    received: Log = [
        chunk(0, seconds(1), 1, id="a"),
        chunk(0, seconds(1), 2, id="b"),
        Flush("a", arrived=ms(250)),
    ]
    heard = playout(received, RATE, RATE * 3).samples
    assert spans(heard) == [(0.0, 1.25)] and heard[RATE // 4] == 2


def test_events_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="out of order"):
        playout([chunk(ms(20), ms(20)), chunk(ms(10), ms(20))], RATE, RATE)


def test_the_sample_of_a_time_is_never_before_it() -> None:
    assert sample_at(1, 48_000) == 1
    assert sample_at(0, 48_000) == 0
    assert sample_at(seconds(1), 44_100) == 44_100


parts = st.lists(st.tuples(st.integers(0, seconds(3)), st.integers(0, 4000)), max_size=12).map(sorted)
flushes = st.lists(st.tuples(st.integers(0, seconds(4)), st.sampled_from([None, "0", "1", 0, 1])), max_size=4)


Chunks = list[tuple[int, int]]
Cuts = list[tuple[int, str | int | None]]


def log(chunks: Chunks, cuts: Cuts = []) -> Log:  # noqa: B006
    made: Log = [
        Chunk(np.full(n, i + 1, np.float32), id=str(i % 3), epoch=i, arrived=at) for i, (at, n) in enumerate(chunks)
    ]
    made += [Flush(scope, arrived=at) for at, scope in cuts]
    return sorted(made, key=lambda event: event.arrived)


@given(parts)
def test_without_flushes_every_sample_sounds_once_in_order_and_not_before_it_came(chunks: Chunks) -> None:
    played = playout(log(chunks), RATE, RATE * 20)
    marks = played.samples[played.samples > 0]
    assert len(marks) == sum(n for _, n in chunks)
    assert (np.diff(marks) >= 0).all()
    assert all(p.start * SECOND >= p.chunk.arrived * RATE for p in played.placed)


@given(parts, flushes, st.sampled_from([0, ms(100)]))
def test_heard_and_taken_back_make_what_came(chunks: Chunks, cuts: Cuts, priming: int) -> None:
    played = playout(log(chunks, cuts), RATE, RATE * 20, priming=priming)
    assert np.count_nonzero(played.samples) == sum(p.played for p in played.placed)
    for p in played.placed:
        assert 0 <= p.played <= p.size
        if p.played:
            assert p.start * SECOND >= p.chunk.arrived * RATE


@given(parts, flushes)
def test_a_chunk_sounds_when_it_comes_or_right_behind_another(chunks: Chunks, cuts: Cuts) -> None:
    everything: Cuts = [(at, None) for at, _ in cuts]
    end = 0
    for p in playout(log(chunks, everything), RATE, RATE).placed:
        if p.played:
            assert p.start in (sample_at(p.chunk.arrived, RATE), end)
            end = p.end


@given(parts, flushes)
def test_placements_never_overlap(chunks: Chunks, cuts: Cuts) -> None:
    sounding = [p for p in playout(log(chunks, cuts), RATE, RATE).placed if p.played]
    assert all(a.end <= b.start for a, b in pairwise(sounding))


@given(parts, flushes, st.integers(50, 900))
def test_hearing_window_by_window_is_hearing_it_all(chunks: Chunks, cuts: Cuts, size: int) -> None:
    events = log(chunks, cuts)
    player, windows, at = Player(RATE), list[Samples](), 0
    for start in range(0, RATE * 8, size):
        # What arrives before a window ends is known when it is heard.
        while at < len(events) and events[at].arrived * RATE < (start + size) * SECOND:
            player.take(events[at])
            at += 1
        windows.append(player.sound(start, start + size))
    whole = playout(events, RATE, len(windows) * size).samples
    assert np.array_equal(np.concatenate(windows), whole)


def test_a_server_that_takes_back_at_every_frame_costs_no_more_for_what_is_gone() -> None:
    player = Player(RATE)
    began = process_time()
    for n in range(20_000):
        player.take(chunk(0, ms(1), id="a"))
        player.take(Flush(f"nobody {n}"))
    for _ in range(20_000):
        player.take(Flush())
        player.take(Flush("a"))
    player.take(chunk(0, ms(1), id="b"))
    player.take(chunk(0, ms(1), id="nobody 7"))
    # Each looked at with all others, they are 400 million.
    assert process_time() - began < 10
    assert [(part.played, part.late) for part in player.placed[-2:]] == [(16, False), (0, True)]
