"""Votes that were cast, by what was asked of whom: the same question is never paid for twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fullduplex.data.files import brief, member, read_json, write_json
from fullduplex.errors import InputError
from fullduplex.judging.keeping import attempt_json, read_attempt
from fullduplex.judging.votes import Attempt
from fullduplex.model.spec import Spec, digest

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Cache:
    """The attempts of every vote of one judge, in ``folder``/judged; made as it is written to.

    A vote's place is the digest of the judge's spec, of what was asked, and of the vote's number. Raw replies are kept
    and never what was read in them, so that a better reader needs no new reply.
    """

    folder: Path
    judge: Spec

    def path(self, asked: str, vote: int) -> Path:
        """Return the file of vote number ``vote`` (from 0) on the question ``asked``."""
        name = digest([self.judge.digest, asked, vote])
        return self.folder / "judged" / name[:2] / f"{name}.json"

    def attempts(self, asked: str, vote: int) -> tuple[Attempt, ...]:
        """Return the attempts that are kept; none where nothing is, or where the file is damaged or another's."""
        path = self.path(asked, vote)
        try:
            return self._read(path, asked, vote) if path.is_file() else ()
        except InputError:
            return ()

    def keep(self, asked: str, vote: int, attempts: Sequence[Attempt]) -> None:
        """Keep ``attempts``, whole or not at all; raises :class:`InputError` where the cache cannot be written."""
        path = self.path(asked, vote)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(path, found=error.strerror or str(error), expected="a place to write to") from error
        made = [attempt_json(attempt) for attempt in attempts]
        write_json(
            path, {"schema": SCHEMA, "judge": self.judge.to_json(), "asked": asked, "vote": vote, "attempts": made}
        )

    def _read(self, path: Path, asked: str, vote: int) -> tuple[Attempt, ...]:
        value = read_json(path)
        for key, expected in (("schema", SCHEMA), ("judge", self.judge.to_json()), ("asked", asked), ("vote", vote)):
            found = member(value, key, path)
            if found != expected:
                raise InputError(path, key, found=brief(found), expected=brief(expected))
        attempts = member(value, "attempts", path)
        if not isinstance(attempts, list) or not attempts:
            raise InputError(path, "attempts", found=brief(attempts), expected="a list of attempts")
        return tuple(read_attempt(each, path, f"attempts[{n}]") for n, each in enumerate(attempts))
