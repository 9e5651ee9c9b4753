"""List the floor-transfer offsets of IFADV that the row before does not give, and the rule that gives each.

``python bench/ifadv_offsets.py ifadv_all20.csv.gz``: a line for each, in milliseconds, then a count of each rule.
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections import Counter, defaultdict

from fullduplex.measures.conversation import Row, from_earlier_row, from_previous_row
from fullduplex.model.spans import ms

EARLIER = "the other's last row that began at least 200 ms before"
OWN = "the row three before, the speaker's own"
#: A row before that is the speaker's own: the plain rule has no offset there, the source has.
BEHIND_OWN = "the row before is the speaker's own: "


def main() -> None:
    """Print the list."""
    talks: dict[str, list[dict[str, str]]] = defaultdict(list)
    with gzip.open(sys.argv[1], "rt", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            talks[line["source"]].append(line)
    rules = Counter[str]()
    print("conversation\trow\tpublished\tprevious row\tearlier row\trule")
    for name, lines in talks.items():
        sides = {line["participant"]: 0 for line in lines}
        sides = {participant: side for side, participant in enumerate(sides)}
        rows = [
            Row(sides[line["participant"]], ms(round(float(line["begin"]))), ms(round(float(line["end"]))))
            for line in lines
        ]
        for n, (line, plain, earlier) in enumerate(
            zip(lines, from_previous_row(rows), from_earlier_row(rows), strict=True)
        ):
            published = ms(round(float(line["FTO"]))) if line["FTO"] else None
            if published is None:
                continue
            if published == plain:
                rules["the row before"] += 1
                continue
            others = any(back.side != rows[n].side for back in rows[max(0, n - 3) : n])
            rule = "none" if published != earlier else EARLIER if others else OWN
            rule = rule if plain is not None else BEHIND_OWN + rule
            rules[rule] += 1
            told = "" if plain is None else plain // 1000
            print(f"{name}\t{n}\t{published // 1000}\t{told}\t{earlier // 1000}\t{rule}")
    for rule, count in rules.most_common():
        print(f"# {count}: {rule}")


if __name__ == "__main__":
    main()
