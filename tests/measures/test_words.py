from __future__ import annotations

import pytest

from fullduplex.measures.words import count_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0), (" ... ", 0), ("mm-hmm", 1), ("uh huh", 2), ("I don't know.", 3), ("[UH]", 1), ("d'accord", 1),
        ("9:15", 2), ("嗯", 1), ("是的", 1), ("我明白了", 2), ("はい", 1), ("そうですね", 3), ("ใช่", 1),
        ("네 알겠습니다", 2), ("ok 好的", 2), ("naïve", 1),
    ],
)  # fmt: skip
def test_words_are_counted_in_any_script(text: str, words: int) -> None:
    assert count_words(text) == words
