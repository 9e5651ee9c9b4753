"""What can go wrong, as a person should read it.

Each error is one sentence that names the object at fault, what was found,
what was expected, and the way out. None of them is shown with a traceback.
"""

from __future__ import annotations

from os import PathLike, fspath


class FullDuplexError(Exception):
    """The root of every error that this package raises on purpose."""


class InputError(FullDuplexError):
    """A file or an argument is not what it has to be.

    ``path`` is the file (or the option), ``field`` the place in it.
    """

    def __init__(
        self, path: str | PathLike[str], field: str = "", *, found: object = "", expected: str = "", do: str = ""
    ) -> None:
        self.path, self.field, self.found, self.expected, self.do = fspath(path), field, found, expected, do
        where = printable(self.path) + (f", {printable(field)}" if field else "")
        parts = []
        if found != "":
            parts.append(f"found {printable(str(found))}")
        if expected:
            parts.append(f"expected {expected}")
        text = f"{where}: {', '.join(parts)}" if parts else where
        super().__init__(text + (f"; {do}" if do else ""))

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling of an
        # exception, and errors have to travel back from worker processes.
        return (_input_error, (self.path, self.field, str(self.found), self.expected, self.do))


def _input_error(path: str, field: str, found: str, expected: str, do: str) -> InputError:
    return InputError(path, field, found=found, expected=expected, do=do)


class PluginError(FullDuplexError):
    """A plug-in or its weights are missing: says what is installed and what to add."""


class ConversationError(FullDuplexError):
    """A conversation ended before it should: says how far it got."""


class JudgeError(FullDuplexError):
    """A judge could not be reached, refused, or answered what cannot be read."""


class RunError(FullDuplexError):
    """A run on disk does not match what is asked: says what differs and what to do."""


#: The two spaces at which a line does not end: as harmless as any other.
_UNBROKEN = "\u00a0\u202f"


def printable(text: str, limit: int = 300) -> str:
    """Return ``text`` safe to print on one line of a terminal.

    Names come from other people's files: control characters, line breaks and
    bidirectional overrides become escapes, and long texts are cut. Spaces that do not break a line, which French
    sets before some signs, stay.
    """
    safe = "".join(c if c.isprintable() or c in _UNBROKEN else c.encode("unicode_escape").decode("ascii") for c in text)
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"
