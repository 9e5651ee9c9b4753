"""For models that come without a server: what a file of a few lines needs to be a system of the kind ``python``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError
from fullduplex.model.spans import SECOND, seconds

#: A model's units of sound, as numbers.
Units = Sequence[int]


def laid_at(parts: Iterable[tuple[float, Samples]], rate: int) -> Samples:
    """Return one voice at ``rate`` in which each part begins at its time (seconds).

    Where a part begins before the one that began earlier has ended, it takes its place from there on. Raises
    ValueError for a time before 0.
    """
    ordered = sorted(((seconds(time), np.asarray(part, np.float32)) for time, part in parts), key=lambda part: part[0])
    if ordered and ordered[0][0] < 0:
        raise ValueError(f"a part begins at {ordered[0][0] / SECOND} s, expected 0 or later")
    placed = [(time * rate // SECOND, part) for time, part in ordered]
    made = np.zeros(max((at + len(part) for at, part in placed), default=0), np.float32)
    for n, (at, part) in enumerate(placed):
        ends = min([at + len(part), *(later for later, _ in placed[n + 1 : n + 2])])
        made[at:ends] = part[: ends - at]
    return made[: max((at + len(part) for at, part in placed[-1:]), default=0)]


class TwoChannels:
    """A model that continues two channels of units, made to listen: a chunk at a time.

    ``encode`` makes units of the user's samples. ``go_on`` takes the units of both channels so far (the user's, the
    system's, as long as each other) and a number, and returns as many further units of both. ``decode`` makes
    samples of the system's units. What the model takes the user to say next is thrown away: the chunk that follows is
    what was really said. ``silence`` is the unit of the system before it says anything, ``context`` how many units the
    model remembers, ``overlap`` how many units before a chunk are decoded with it, so that chunks join.

    At the end of a chunk the system's next one is made: it sounds while the user's next one is heard. A latency is
    quantised to the chunk, and holds one chunk at the least.
    """

    def __init__(
        self,
        encode: Callable[[Samples], Units],
        go_on: Callable[[Units, Units, int], tuple[Units, Units]],
        decode: Callable[[Units], Samples],
        *,
        silence: int,
        context: int = 3_000,
        overlap: int = 25,
    ) -> None:
        self._encode, self._go_on, self._decode = encode, go_on, decode
        self._silence, self._context, self._overlap = silence, context, overlap
        self._user: list[int] = []
        self._system: list[int] = []

    def step(self, frame: Samples) -> Samples:
        """Return what the system says next; raises :class:`ConversationError` where the model gives no such units."""
        heard = [int(unit) for unit in self._encode(frame)]
        count = len(heard)
        if not count:
            raise ConversationError("the model made no units of a chunk: take longer chunks (frame=)")
        if not self._system:
            self._system = [self._silence] * count
        self._user += heard
        # Chunks may differ by a unit: the system's side is kept as long as what was heard.
        self._system = (self._system + [self._silence] * count)[: len(self._user)]
        self._user, self._system = self._user[-self._context :], self._system[-self._context :]
        _, said = self._go_on(tuple(self._user), tuple(self._system), count)
        said = [int(unit) for unit in said]
        if len(said) != count:
            raise ConversationError(f"the model went on for {len(said)} units, not for {count}")
        before = self._system[-self._overlap :] if self._overlap else []
        self._system += said
        sound = np.asarray(self._decode((*before, *said)), np.float32).reshape(-1)
        return sound[len(sound) * len(before) // (len(before) + count) :]
