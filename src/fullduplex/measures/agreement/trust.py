"""What is known of a judge's worth, as plain data and in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fullduplex.errors import printable
from fullduplex.measures.agreement.chance import Groups, cohens_kappa, krippendorffs_alpha
from fullduplex.measures.agreement.judged import accuracy, agreement_with_each, macro_f1, matched
from fullduplex.measures.agreement.ratings import Level, Ratings, Value, said
from fullduplex.measures.agreement.votes import Stability, stability
from fullduplex.measures.intervals import RESAMPLES
from fullduplex.measures.metric import Estimate
from fullduplex.model.trials import Verdict

_PEOPLE, _JUDGE = "people", "judge"


@dataclass(frozen=True, slots=True)
class Trust:
    """How far a judge is to be believed.

    ``judge``: who judged; ``level`` of the scale; ``n``: items with its verdict and a majority of people;
    ``raters``: how many people rated one of them (fewest, most).
    ``percent``: it against each person; ``accuracy``, ``macro_f1``, ``kappa`` (Cohen's, unweighted) and ``alpha``
    (Krippendorff's, at ``level``): it against the majority. ``among_people``: people's own alpha at
    ``level``, over all items they rated, which no judge can be asked to exceed. ``votes``: how stable it is.
    """

    judge: str
    level: Level
    n: int
    raters: tuple[int, int]
    percent: Estimate
    accuracy: Estimate
    macro_f1: Estimate
    kappa: Estimate
    alpha: Estimate
    among_people: Estimate
    votes: Stability

    @property
    def validated(self) -> bool:
        """Return whether a single verdict could be held against people's."""
        return self.n > 0

    def told(self) -> str:
        """Return what is known, in a sentence that can stand under a table."""
        name = printable(self.judge)
        left = "".join(f"; {count} without: {reason}" for reason, count in self.accuracy.absent.items())
        if not self.validated:
            return f"{name} is not validated: no item has both its verdict and people's{left}{self._stable()}."
        parts = [
            f"{name} says what people say on {_share(self.accuracy)} of {self.n} item{'s' * (self.n != 1)}",
            f"Cohen's kappa {_coefficient(self.kappa)}",
            f"Krippendorff's alpha ({self.level}) {_coefficient(self.alpha)}",
            f"macro-F1 {_coefficient(self.macro_f1)}",
        ]
        if self.raters[1] > 1:
            parts.append(f"people among themselves: alpha {_coefficient(self.among_people)}")
        return "; ".join(parts) + f"{left}{self._stable()}."

    def _stable(self) -> str:
        if not self.votes.agreeing.n:
            return "; asked once an item: stability unknown"
        votes = _between(self.votes.fewest, self.votes.most)
        return (
            f"; of its {votes} votes an item {_share(self.votes.agreeing)} fall on the commonest, "
            f"all agree on {_share(self.votes.unanimous)} of {self.votes.unanimous.n} items"
        )


def trust(
    judge: str,
    verdicts: Mapping[str, Verdict],
    people: Ratings,
    level: Level = "nominal",
    labels: Sequence[Value] | None = None,
    groups: Groups = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Trust:
    """Return what people's labels and its own repeated votes say of a judge.

    ``judge`` is what the reader knows it by; ``labels`` the scale in order, which names need unless nominal.
    Without one item in common nothing is estimated and :meth:`Trust.told` says that it is not validated.
    """
    values: dict[str, Value | None] = {item: verdict.value for item, verdict in verdicts.items()}
    both = matched(values, people)
    table = {
        item: {_PEOPLE: person, _JUDGE: verdict}
        for item, person, verdict in zip(both.items, both.people, both.judge, strict=True)
    }
    rows = said(people)
    sizes = [len(rows[item]) for item in both.items]
    return Trust(
        judge=judge,
        level=level,
        n=len(both.items),
        raters=(min(sizes, default=0), max(sizes, default=0)),
        percent=agreement_with_each(values, people, groups, seed, resamples),
        accuracy=accuracy(values, people, groups, seed, resamples),
        macro_f1=macro_f1(values, people, groups, seed, resamples),
        kappa=cohens_kappa(table, (_PEOPLE, _JUDGE), None, labels, groups, seed, resamples),
        alpha=krippendorffs_alpha(table, level, labels, groups, seed, resamples),
        among_people=krippendorffs_alpha(people, level, labels, groups, seed, resamples),
        votes=stability({item: verdict.votes for item, verdict in verdicts.items()}, groups, seed, resamples),
    )


def _between(fewest: int, most: int) -> str:
    return str(most) if fewest == most else f"{fewest} to {most}"


def _share(found: Estimate) -> str:
    if found.value is None:
        return f"an unknown share ({found.method})"
    if found.low is None or found.high is None:
        return f"{100 * found.value:.1f} %"
    return f"{100 * found.value:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f} %)"


def _coefficient(found: Estimate) -> str:
    if found.value is None:
        return f"has no value ({found.method})"
    if found.low is None or found.high is None:
        return f"{found.value:.2f}"
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"
