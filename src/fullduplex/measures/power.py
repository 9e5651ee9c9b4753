"""How many items tell two systems apart.

Closed forms from the normal approximation, two-sided. The paired form carries the
continuity correction that the sign-flip test of :mod:`fullduplex.measures.permutation`
needs: without it the exact test falls about 3 points short of its power, with it the
power is that asked for or a few points more. The unpaired form is the plain z test of two proportions.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal

from fullduplex.errors import InputError

_NORMAL = NormalDist()


def items_needed(
    p1: float,
    p2: float,
    power: float = 0.8,
    alpha: float = 0.05,
    paired: bool = False,
    correlation: float | None = None,
    discordance: float | None = None,
) -> int:
    """Return how many items tell a rate of ``p1`` from one of ``p2``.

    Unpaired: items for *each* system, two-sided z test with the pooled variance under the
    null: n = (z_α √(2 p̄ q̄) + z_β √(p1 q1 + p2 q2))² / δ².

    Paired: items that *both* systems answer, two-sided McNemar test with continuity
    correction: A = z_α √ψ + z_β √(ψ - δ²), n₀ = A² / δ²,
    n = n₀ / 4 · (1 + √(1 + 4 / (n₀ |δ|)))². ψ, the share of items on which exactly one
    system succeeds, is ``discordance``, or follows from the ``correlation`` φ of the two outcomes
    (0 when neither is given, which is the careful choice: alike systems need fewer).

    Errors: InputError for rates outside 0..1, equal rates, or a ψ that the rates rule out.
    Sources: Fleiss 1981 (unpaired, correction); Connor 1987 (paired).
    """
    _check(p1=p1, p2=p2, power=power, alpha=alpha)
    if not paired and (correlation is not None or discordance is not None):
        raise InputError("plan", "paired", expected="paired items where a correlation or a discordance is given")
    if p1 == p2:
        raise InputError(
            "plan", "p2", found=p2, expected="a rate that differs from p1; no number of items tells equals apart"
        )
    psi = _discordance(p1, p2, correlation, discordance) if paired else None
    return math.ceil(_needed(p1, p2, power, alpha, psi) - 1e-9)


def items_needed_for_mean(
    difference: float, sd: float, power: float = 0.8, alpha: float = 0.05, paired: bool = True
) -> int:
    """Return how many items show a mean ``difference`` (of latencies, in the unit of ``sd``).

    Paired: items that both systems answer; ``sd`` is that of the differences per item;
    n = ((z_α + z_β) sd / δ)² + z_α² / 2. Unpaired: items for each system; ``sd`` is that of
    one system's values; n = 2 ((z_α + z_β) sd / δ)² + z_α² / 4. The last terms stand for the
    t test's heavier tails. Source: Guenther 1981.
    """
    _check(power=power, alpha=alpha)
    if not difference or not math.isfinite(difference):
        raise InputError("plan", "difference", found=difference, expected="a number other than 0")
    if not (sd > 0 and math.isfinite(sd)):
        raise InputError("plan", "sd", found=sd, expected="a positive number")
    z_alpha, z_beta = _deviates(power, alpha)
    ratio = abs((z_alpha + z_beta) * sd / difference)
    if ratio > 1e9:
        raise InputError("plan", "sd", found=sd, expected="less than a thousand million differences")
    base = ratio**2
    return math.ceil(base + z_alpha**2 / 2 if paired else 2 * base + z_alpha**2 / 4)


def detectable(
    p1: float,
    n: int,
    power: float = 0.8,
    alpha: float = 0.05,
    paired: bool = False,
    correlation: float | None = None,
    discordance: float | None = None,
    towards: Literal["higher", "lower"] = "higher",
) -> float | None:
    """Return the rate nearest to ``p1`` that ``n`` items tell from it, above it or below it.

    The inverse of :func:`items_needed`, to 1e-9; a correlation or discordance that the
    two rates rule out is replaced by the nearest that they allow. None when n items
    cannot tell ``p1`` even from 1 (or 0).
    """
    _check(p1=p1, power=power, alpha=alpha)
    if n < 1:
        raise InputError("plan", "n", found=n, expected="at least one item")
    if not paired and (correlation is not None or discordance is not None):
        raise InputError("plan", "paired", expected="paired items where a correlation or a discordance is given")
    sign, room = (1, 1 - p1) if towards == "higher" else (-1, p1)

    def enough(gap: float) -> bool:
        other = p1 + sign * gap
        psi = None
        if paired:
            # Which gaps can be had with the given disagreement is part of the answer, so it bends here.
            least, most = _bounds(p1, other)
            psi = min(max(_disagreement(p1, other, correlation, discordance), least), most)
        return _needed(p1, other, power, alpha, psi) <= n

    far = room
    if far <= 1e-9 or not enough(far):
        return None
    near = 0.0
    while far - near > 1e-9:
        middle = (near + far) / 2
        near, far = (near, middle) if enough(middle) else (middle, far)
    return p1 + sign * far


def _needed(p1: float, p2: float, power: float, alpha: float, psi: float | None) -> float:
    z_alpha, z_beta = _deviates(power, alpha)
    gap = abs(p1 - p2)
    if psi is None:
        mean = (p1 + p2) / 2
        spread = z_alpha * math.sqrt(2 * mean * (1 - mean)) + z_beta * math.sqrt(p1 * (1 - p1) + p2 * (1 - p2))
        return (spread / gap) ** 2
    spread = z_alpha * math.sqrt(psi) + z_beta * math.sqrt(max(0.0, psi - gap * gap))
    plain = (spread / gap) ** 2
    return plain / 4 * (1 + math.sqrt(1 + 4 / (plain * gap))) ** 2


def _bounds(p1: float, p2: float) -> tuple[float, float]:
    """Return the least and the greatest discordance that two rates allow."""
    return abs(p1 - p2), min(p1 + p2, 2 - p1 - p2)


def _disagreement(p1: float, p2: float, correlation: float | None, discordance: float | None) -> float:
    """Return ψ as it is given, or as the correlation implies it."""
    if correlation is not None and discordance is not None:
        raise InputError("plan", "correlation", expected="a correlation or a discordance, not both")
    if discordance is not None:
        if not 0 <= discordance <= 1:
            raise InputError("plan", "discordance", found=discordance, expected="a share from 0 to 1")
        return discordance
    phi = 0.0 if correlation is None else correlation
    if not 0 <= phi < 1:
        raise InputError("plan", "correlation", found=phi, expected="a correlation from 0 to below 1")
    both = p1 * p2 + phi * math.sqrt(p1 * (1 - p1) * p2 * (1 - p2))
    return p1 + p2 - 2 * both


def _discordance(p1: float, p2: float, correlation: float | None, discordance: float | None) -> float:
    """Return ψ, refused where the two rates rule it out."""
    psi = _disagreement(p1, p2, correlation, discordance)
    least, most = _bounds(p1, p2)
    if not least - 1e-9 <= psi <= most + 1e-9:
        raise InputError(
            "plan",
            "correlation" if discordance is None else "discordance",
            found=f"disagreement on {psi:.3f} of the items",
            expected=f"{least:.3f} to {most:.3f}, which is what rates of {p1:g} and {p2:g} allow",
        )
    return min(max(psi, least), most)


def _deviates(power: float, alpha: float) -> tuple[float, float]:
    return _NORMAL.inv_cdf(1 - alpha / 2), _NORMAL.inv_cdf(power)


def _check(*, power: float, alpha: float, **rates: float) -> None:
    for name, rate in rates.items():
        if not 0 <= rate <= 1:
            raise InputError("plan", name, found=rate, expected="a rate from 0 to 1")
    if not 0 < alpha < 1:
        raise InputError("plan", "alpha", found=alpha, expected="a share between 0 and 1")
    if not alpha < power < 1:
        raise InputError("plan", "power", found=power, expected=f"a share above alpha ({alpha:g}) and below 1")
