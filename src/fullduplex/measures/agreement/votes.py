"""Whether a judge that is asked again says the same again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fullduplex.measures.agreement.chance import Groups
from fullduplex.measures.agreement.ratings import Value, scale_of
from fullduplex.measures.intervals import RESAMPLES, estimate
from fullduplex.measures.metric import Estimate
from fullduplex.measures.resampling import members


@dataclass(frozen=True, slots=True)
class Stability:
    """How far a judge's repeated votes on one item agree.

    ``agreeing``: mean over items of the share of votes that fall on the item's commonest value. It cannot fall
    below 1 / (votes an item), so read it beside ``fewest``.
    ``unanimous``: the share of items all of whose votes are equal.
    ``tied``: how many of these items have no majority (two values got equally many votes, and none more).
    ``fewest`` and ``most``: votes an item, of the items counted; 0 when there are none.
    """

    agreeing: Estimate
    unanimous: Estimate
    tied: int
    fewest: int
    most: int


def stability(
    votes: Mapping[str, Sequence[Value]],
    groups: Groups = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Stability:
    """Return how stable a judge's votes are, over the items on which it voted at least twice.

    Absent: ``fewer than two votes``. Stable is not right: a judge can be stable and wrong.
    """
    scale_of(vote for cast in votes.values() for vote in cast)
    counts = {item: sorted(Counter(cast).values()) for item, cast in sorted(votes.items()) if len(cast) >= 2}
    absent = {"fewer than two votes": len(votes) - len(counts)}
    owners = members(list(counts), groups)
    shares = [tallies[-1] / sum(tallies) for tallies in counts.values()]
    alike = [float(len(tallies) == 1) for tallies in counts.values()]
    sizes = [sum(tallies) for tallies in counts.values()]
    return Stability(
        # Where nothing differs it is a rate of ones, and a rate's interval does not claim certainty.
        estimate(shares, owners, absent, "rate" if set(shares) == {1.0} else "mean", seed, resamples),
        estimate(alike, owners, absent, "rate", seed, resamples),
        sum(len(tallies) > 1 and tallies[-1] == tallies[-2] for tallies in counts.values()),
        min(sizes, default=0),
        max(sizes, default=0),
    )
