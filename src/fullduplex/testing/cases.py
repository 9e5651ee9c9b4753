"""The 26 cases that a driver has to get right, each played out with a server that does as it is told.

A case holds one talk or a few, reads from the watermark what was heard when, and says what it measured. It is
run on the virtual clock, with the server's twin in memory, and on the wall clock over real sockets: the
rules are the same, and only how near a planned time has to be differs.
"""

from __future__ import annotations

from fullduplex.testing import cases_heard, cases_held, cases_shared
from fullduplex.testing.stage import Case

CASES: dict[int, Case] = {
    found.number: found
    for found in sorted(
        (
            value
            for module in (cases_heard, cases_held, cases_shared)
            for value in vars(module).values()
            if isinstance(value, Case)
        ),
        key=lambda found: found.number,
    )
}
