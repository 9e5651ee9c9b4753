"""How the rule for backchannels fares against a corpus' own dialogue acts, which people gave.

A rule is right about an utterance of which a word belongs to an act ``b`` (SWBD-DAMSL: a continuer, an
acknowledgement); it has found an act of which a word belongs to an utterance that it took.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fullduplex.making.harvest.candidates import Candidate
from fullduplex.making.harvest.sentences import base_tag
from fullduplex.making.harvest.turns import Talk

TAG = "b"
#: The tags of other brief reactions of a listener: what a rule takes for ``b`` is often one of these.
KIN = frozenset({"b", "bk", "bh", "ba", "bf", "aa", "br"})
_RULES = ("structure", "structure and words")


@dataclass(slots=True)
class AgainstActs:
    """Counts over conversations that have acts. ``missed`` says at which step the rule lost an act."""

    acts: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    kin: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)

    def count(self, talk: Talk, utterances: Mapping[tuple[str, int], tuple[Candidate, str, bool]]) -> None:
        """Count one conversation.

        ``utterances``: each candidate by its listener and first word, with the structural step that dropped it ("" for
        none), and whether its words are a backchannel's.
        """
        if not all(voice.side.acts for voice in talk.voices):
            return
        tags = {
            voice.side.name: {n: base_tag(act.tag) for act in voice.side.acts for n in range(act.first, act.last)}
            for voice in talk.voices
        }
        covered: dict[tuple[str, int], tuple[str, bool]] = {}
        for (side, _), (candidate, dropped, worded) in utterances.items():
            said = range(candidate.reply_first, candidate.reply_last)
            covered |= {(side, n): (dropped, worded) for n in said}
            told = {tags[side].get(n, "") for n in said}
            for rule in _RULES[: 0 if dropped else 2 if worded else 1]:
                self.taken[rule] += 1
                self.right[rule] += TAG in told
                self.kin[rule] += bool(told & KIN)
        for voice in talk.voices:
            for act in voice.side.acts:
                if base_tag(act.tag) == TAG:
                    self._act([covered.get((voice.side.name, n)) for n in range(act.first, act.last)])

    def _act(self, covered: list[tuple[str, bool] | None]) -> None:
        self.acts += 1
        known = [one for one in covered if one is not None]
        taken = [one for one in known if not one[0]]
        if taken:
            self.found[_RULES[0]] += 1
            self.found[_RULES[1]] += any(worded for _, worded in taken)
            if not any(worded for _, worded in taken):
                self.missed["words"] += 1
        else:
            self.missed[known[0][0] if known else "begins outside of the other's turn"] += 1

    def to_json(self) -> dict[str, Any] | None:
        """Return the figures, None where no conversation had acts; shares are absent where nothing is counted."""
        if not self.acts:
            return None
        return {
            "tag": TAG,
            "acts": self.acts,
            "rules": {
                rule: {
                    "taken": self.taken[rule],
                    "right": self.right[rule],
                    "precision": _share(self.right[rule], self.taken[rule]),
                    "precision_with_kin": _share(self.kin[rule], self.taken[rule]),
                    "found": self.found[rule],
                    "recall": _share(self.found[rule], self.acts),
                }
                for rule in _RULES
            },
            "missed": dict(self.missed.most_common()),
        }

    def text(self) -> str:
        """Return the figures as text, "" where there are none."""
        told = self.to_json()
        if told is None:
            return ""
        lines = [f"backchannels against {self.acts:,} acts `{TAG}` of the corpus (in brackets: of so many)"]
        for rule, figures in told["rules"].items():
            shares = (("precision", "right", "taken"), ("precision_with_kin", "", "taken"), ("recall", "found", ""))
            told_so = ", ".join(
                f"{name.replace('_', ' ')} {'absent' if figures[name] is None else format(figures[name], '.3f')}"
                f" ({figures[of] if of else self.acts:,})"
                for name, _, of in shares
            )
            lines.append(f"  {rule}: {told_so}")
        kin = ", ".join(sorted(KIN - {TAG}))
        lines.append(
            f"  precision is of what the rule took, with kin counts acts {kin} as right too; recall is of all acts"
        )
        lines.append("  missed: " + ", ".join(f"{n:,} {why}" for why, n in told["missed"].items()))
        return "\n".join(lines)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
