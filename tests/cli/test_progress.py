"""How far long work is, where nobody watches a bar; and how many of what."""

from __future__ import annotations

import time

import pytest

from fullduplex import cli


def test_a_line_tells_now_and_then_where_stderr_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "_LINE_EVERY", 0.05)
    bar = cli._Bar()
    time.sleep(0.2)
    bar("conversations", 1, 1_200)
    time.sleep(0.2)
    bar.close()
    time.sleep(0.1)
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "fullduplex: still at work after 0 s"
    assert told[-1] == "fullduplex: still at work after 0 s: conversations, 1 of 1,200"
    time.sleep(0.15)
    assert capsys.readouterr().err == ""


def test_short_work_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    bar = cli._Bar()
    bar("items", 1, 2)
    bar.close()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("n", "told"), [(0, "0 items"), (1, "1 item"), (1_200, "1,200 items")])
def test_one_is_no_plural(n: int, told: str) -> None:
    assert cli.counted(n, "item") == told
