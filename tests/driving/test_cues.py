import numpy as np
import pytest

from fullduplex.driving.cues import AUDIBLE, Ear, after_reply, after_word, at, into_reply
from fullduplex.model.spans import ms, seconds

RATE = 1000  # one sample a millisecond


def ear(now: int, spoke_until: int, *heard: tuple[int, int]) -> Ear:
    """An ear that heard the system from the first to the second of each pair of milliseconds."""
    made = Ear(now=now)
    made.begin(0, spoke_until)
    for start, end in heard:
        made.hear(np.full(end - start, 0.5, np.float32), start, RATE)
    return made


def test_at_is_always_known() -> None:
    assert at(seconds(3))(Ear()) == seconds(3)


def test_no_reply_no_cue_into_it() -> None:
    assert into_reply(ms(100))(ear(seconds(5), seconds(1))) is None


def test_into_the_reply_counts_from_its_onset() -> None:
    assert into_reply(ms(100))(ear(seconds(5), seconds(1), (1500, 3000))) == ms(1600)


def test_what_sounded_before_the_user_ended_is_no_reply() -> None:
    assert into_reply(0)(ear(seconds(2), seconds(1), (500, 900))) is None
    assert into_reply(0)(ear(seconds(2), seconds(1), (500, 1200))) == seconds(1)


@pytest.mark.parametrize(("now", "due"), [(ms(3699), None), (ms(3700), ms(3700)), (ms(3900), ms(3700))])
def test_after_the_reply_needs_the_whole_quiet(now: int, due: int | None) -> None:
    assert after_reply(ms(700), seconds(9))(ear(now, seconds(1), (1500, 3000))) == due


def test_a_reply_that_goes_on_puts_the_cue_off() -> None:
    assert after_reply(ms(700), seconds(9))(ear(ms(4000), seconds(1), (1500, 3000), (3600, 3700))) is None


def test_the_timeout_counts_from_the_user_s_last_words() -> None:
    due = after_reply(ms(700), seconds(2))
    assert due(ear(ms(2999), seconds(1))) is None
    assert due(ear(ms(3000), seconds(1))) == seconds(3)


def test_the_timeout_does_not_wait_for_a_reply_without_end() -> None:
    assert after_reply(ms(700), seconds(2))(ear(ms(3000), seconds(1), (1100, 3000))) == seconds(3)


def test_a_sound_at_the_threshold_is_not_heard() -> None:
    made = Ear()
    made.hear(np.full(10, AUDIBLE, np.float32), 0, RATE)
    assert made.reply_began is None


def test_a_word_is_found_whatever_its_case() -> None:
    made = Ear(words=[("well", ms(100)), ("sure", ms(900)), ("sure", ms(1900))])
    assert after_word("Sure", ms(50))(made) == ms(950)
    assert after_word("no")(made) is None
