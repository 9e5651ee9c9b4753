"""How often the 95 % intervals of agreement hold the truth, by simulation.

Run: ``python bench/agreement_coverage.py [--rounds 400] [--resamples 1000]``. Each line draws many studies from a
population whose coefficient is known (computed once from a very large sample) and counts the intervals that
hold it; a figure has a standard error of about one point at 400 rounds. Studies without an interval are counted apart.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from fullduplex.measures.agreement import Ratings, Value, cohens_kappa, fleiss_kappa, krippendorffs_alpha, macro_f1
from fullduplex.measures.metric import Estimate
from fullduplex.measures.ranks import kendalls_tau, spearmans_rho

Rated = np.ndarray[tuple[int, int], np.dtype[np.int64]]
Coefficient = Callable[[Rated, list[str], int, int], Estimate]


def table(rated: Rated) -> Ratings:
    return {f"{k:05}": {f"r{r}": int(value) for r, value in enumerate(row)} for k, row in enumerate(rated)}


def owners(groups: list[str]) -> dict[str, str]:
    return {f"{k:05}": group for k, group in enumerate(groups)}


def kappa(rated: Rated, groups: list[str], seed: int, resamples: int) -> Estimate:
    return cohens_kappa(table(rated), groups=owners(groups), seed=seed, resamples=resamples)


def weighted(rated: Rated, groups: list[str], seed: int, resamples: int) -> Estimate:
    return cohens_kappa(table(rated), weights="quadratic", groups=owners(groups), seed=seed, resamples=resamples)


def fleiss(rated: Rated, groups: list[str], seed: int, resamples: int) -> Estimate:
    return fleiss_kappa(table(rated), groups=owners(groups), seed=seed, resamples=resamples)


def ordinal(rated: Rated, groups: list[str], seed: int, resamples: int) -> Estimate:
    return krippendorffs_alpha(table(rated), "ordinal", groups=owners(groups), seed=seed, resamples=resamples)


def f1(rated: Rated, groups: list[str], seed: int, resamples: int) -> Estimate:
    judge: dict[str, Value | None] = {f"{k:05}": int(row[0]) for k, row in enumerate(rated)}
    people: Ratings = {f"{k:05}": {"ann": int(row[1])} for k, row in enumerate(rated)}
    return macro_f1(judge, people, owners(groups), seed, resamples)


def tau(rated: Rated, groups: list[str], seed: int, resamples: int) -> Estimate:
    first, second = ({f"{k:05}": float(v) for k, v in enumerate(rated[:, column])} for column in (0, 1))
    return kendalls_tau(first, second, owners(groups), seed, resamples)


def rho(rated: Rated, groups: list[str], seed: int, resamples: int) -> Estimate:
    first, second = ({f"{k:05}": float(v) for k, v in enumerate(rated[:, column])} for column in (0, 1))
    return spearmans_rho(first, second, owners(groups), seed, resamples)


def draw(random: np.random.Generator, k: int, each: int, raters: int, shares: tuple[float, ...]) -> Rated:
    """Return ratings of ``k`` conversations of ``each`` items: the true value is seen, or one is drawn from ``shares``.

    How often it is seen differs by conversation, from 0.5 to 0.9.
    """
    sees = np.repeat(random.uniform(0.5, 0.9, k), each)[:, None]
    truth = random.choice(len(shares), (k * each, 1), p=shares)
    other = random.choice(len(shares), (k * each, raters), p=shares)
    rated: Rated = np.where(random.random((k * each, raters)) < sees, truth, other)
    return rated


def main() -> None:
    """Print a table of coverages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=1000)
    asked = parser.parse_args()
    even, rare, scale = (0.5, 0.5), (0.9, 0.1), (0.1, 0.2, 0.4, 0.2, 0.1)
    kinds: list[tuple[str, Coefficient, int, tuple[float, ...]]] = [
        ("Cohen's kappa, halves", kappa, 2, even),
        ("Cohen's kappa, 9 to 1", kappa, 2, rare),
        ("quadratic kappa, 1 to 5", weighted, 2, scale),
        ("Fleiss' kappa, 5 raters", fleiss, 5, scale),
        ("ordinal alpha, 3 raters", ordinal, 3, scale),
        ("macro-F1, 9 to 1", f1, 2, rare),
        ("tau-b, 1 to 5", tau, 2, scale),
        ("rho, 1 to 5", rho, 2, scale),
    ]
    for name, coefficient, raters, shares in kinds:
        # tau-b keeps all pairs, so its truth is the mean of many middling samples.
        size, parts = (1500, 20) if coefficient is tau else (40_000, 1)
        whole = [draw(np.random.default_rng([1, part]), size, 1, raters, shares) for part in range(parts)]
        values = [coefficient(rated, ["one"] * size, 0, 1).value for rated in whole]
        truth = float(np.mean([value for value in values if value is not None]))
        for k, each in ((20, 1), (50, 1), (150, 1), (20, 5), (50, 5)):
            held = without = 0
            for round_ in range(asked.rounds):
                rated = draw(np.random.default_rng([7, round_]), k, each, raters, shares)
                groups = [f"talk {i // each}" for i in range(k * each)]
                found = coefficient(rated, groups, round_, asked.resamples)
                if found.low is None or found.high is None:
                    without += 1
                else:
                    held += found.low <= truth <= found.high
            there = asked.rounds - without
            share = f"{100 * held / there:5.1f} %" if there else "     -"
            print(f"{name:26} {truth:6.3f}  {k:4} x {each}  {share}  {without} without")


if __name__ == "__main__":
    main()
