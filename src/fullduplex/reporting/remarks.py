"""Remarks on several systems: what is said of more than one alike is said once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def folded(remarks: Iterable[str], systems: Sequence[str]) -> list[str]:
    """Return ``remarks``, each once; those that say the same of several ``systems`` as one, ``a, b: sentence``.

    It stands where the first of them stood. What begins with no system's name stays as it is.
    """
    found: dict[tuple[str, bool], list[str]] = {}
    # The longest name first: one may begin as another one with its colon.
    names = sorted(systems, key=len, reverse=True)
    for remark in remarks:
        whose = next((name for name in names if remark.startswith(f"{name}: ")), None)
        said = remark if whose is None else remark[len(whose) + 2 :]
        its = found.setdefault((said, whose is not None), [])
        if whose is not None and whose not in its:
            its.append(whose)
    return [f"{', '.join(whose)}: {said}" if whose else said for (said, _), whose in found.items()]
