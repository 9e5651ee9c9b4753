"""What a language model wrote, as words that one person can say."""

from __future__ import annotations

import re

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_ACTION = re.compile(r"\*[^*\n]*\*|\([^()\n]*\)|\[[^\[\]\n]*\]|<[^<>\n]*>")
_LABEL = re.compile(r"^\s*(?:\*\*)?([\w .'’-]{1,40}?)(?:\*\*)?\s*[:：]\s*(?:\*\*)?")
_ROLES = frozenset({"user", "caller", "customer", "me", "you", "assistant", "agent", "system", "ai", "bot"})
_SENTENCE_END = re.compile(r"[.?!。？！…][\"'”’»)]*(?=\s|$)|[。？！]")


def next_line(written: str, name: str, end_mark: str) -> tuple[str, bool]:
    """Return what ``name`` says of what a model wrote in their part, and whether it wrote ``end_mark``.

    Kept is what lies before the mark, before any line in another's name, without thoughts, actions in brackets or
    asterisks, labels and quotation marks around it all. Of words that break off, the whole sentences are
    kept where there are any. Empty where nothing is left that can be spoken.
    """
    text = _THOUGHT.sub(" ", written)
    text, mark, _ = text.partition(end_mark) if end_mark else (text, "", "")
    own = {name.casefold(), name.split()[0].casefold(), "user", "caller", "customer", "me"}
    kept = list[str]()
    for line in text.splitlines():
        label = _LABEL.match(line)
        who = label.group(1).strip().casefold() if label else ""
        if label and who in own:
            line = line[label.end() :]
        elif label and who in _ROLES:
            break
        kept.append(_ACTION.sub(" ", line))
    words = " ".join(" ".join(kept).split()).strip('"“”«»*_ ')
    if not any(c.isalnum() for c in words):
        return "", bool(mark)
    return (words if mark else _whole_sentences(words)), bool(mark)


def _whole_sentences(words: str) -> str:
    ends = [found.end() for found in _SENTENCE_END.finditer(words)]
    return words[: ends[-1]] if ends and any(c.isalnum() for c in words[: ends[-1]]) else words
