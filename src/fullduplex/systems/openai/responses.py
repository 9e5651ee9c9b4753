"""What came of each response, how much of it was heard, and what is taken back of it.

What has to be taken back at the user's speech is every response that has not been heard to its end. How much of it had
been heard is known at the next frame, when the player's position is exact: never more than came, since it is counted
from what came.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fullduplex.driving.link import Position
from fullduplex.model.spans import SECOND

#: An item of the conversation and the number of a content in it.
Place = tuple[str, int]


@dataclass(slots=True)
class Response:
    """A response: the samples that came of each item, in order; how many of all were heard; whether it is over."""

    id: str
    items: dict[Place, int] = field(default_factory=dict)
    heard: int = 0
    done: bool = False
    dropped: bool = False

    @property
    def came(self) -> int:
        """Return how many samples came."""
        return sum(self.items.values())


class Responses:
    """The responses of one talk, whose sound is kept at ``rate``."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._known: dict[str, Response] = {}
        self._speaking = ""
        self._cut: list[Response] = []

    def of(self, id: str) -> Response:
        """Return the response called ``id``, a new one where none is."""
        return self._known.setdefault(id, Response(id))

    def heard(self, position: Position) -> list[tuple[Place, int]]:
        """Take note of what has sounded; return how many samples were heard of each item that was cut off since."""
        response = self._known.get(position.id)
        if response is not None:
            self._speaking = position.id
            # The position was cut to a whole microsecond: the sample that it lies in was heard.
            response.heard = min(response.came, -(-position.played * self._rate // SECOND))
        cut, self._cut = self._cut, []
        return [shorter for one in cut for shorter in _shorter(one)]

    def take_back(self, id: str | None = None) -> list[str | None]:
        """Take back one response, else all that were not heard to their end; return what each flush of it names.

        A flush of nothing in particular stands for none; an ``id`` that is not known is none.
        """
        found = [one] if (one := self._known.get(id) if id is not None else None) else self._unheard()
        for response in found:
            response.dropped = True
            # Where nothing of it was heard, the position will name another.
            self._cut.append(response)
            if not response.id:
                # Without ids the next one is another, and cannot be told from this one.
                del self._known[""]
        return [response.id or None for response in found] or [None]

    def _unheard(self) -> list[Response]:
        known = list(self._known.values())
        now = next((n for n, response in enumerate(known) if response.id == self._speaking), 0)
        return [r for r in known[now:] if not r.dropped and (not r.done or r.heard < r.came)]


def _shorter(response: Response) -> Iterator[tuple[Place, int]]:
    """Yield each item that was not heard to its end, and how many samples of it were."""
    left = response.heard
    for place, came in response.items.items():
        of_it = min(left, came)
        left -= of_it
        if place[0] and of_it < came:
            yield place, of_it


__all__ = ["Place", "Response", "Responses"]
