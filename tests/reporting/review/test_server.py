"""The review over real connections: who may, what is sent, and that nothing names a system or a judge."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from fullduplex.errors import RunError
from fullduplex.reporting.review.desk import Desk
from fullduplex.reporting.review.server import ReviewServer
from fullduplex.reporting.review.store import read_kept, read_reviews
from fullduplex.runs.run import Run

Seated = Callable[..., Desk]
Served = Callable[[Desk], ReviewServer]


class Browser:
    """A client that keeps every byte that it was sent."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token
        self.seen = b""

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes, dict[str, str]]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, data, {"X-Review-Token": self.token} | headers)
            answer = connection.getresponse()
            found = dict(answer.getheaders())
            content = answer.read()
            self.seen += f"{answer.status} {answer.reason} {found}".encode() + content
            return answer.status, content, found

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        status, content, _ = self.ask("POST", path, body)
        assert status == 200, content
        value: dict[str, Any] = json.loads(content)
        return value


@pytest.fixture
def browse(served: Served) -> Callable[[Desk], Browser]:
    def start(desk: Desk) -> Browser:
        server = served(desk)
        return Browser(server.port, server.token)

    return start


@pytest.mark.parametrize("form", ["interruption", "behaviour", "naturalness", "duplexact", "preference", "accept"])
def test_nothing_that_is_sent_names_a_system_a_judge_or_a_verdict(
    run: Run, other: Run, seated: Seated, browse: Any, form: str
) -> None:
    browser = browse(seated(run, other, form=form))
    browser.ask("GET", f"/?token={browser.token}")
    clips = browser.post("/join", rater="Ann")["clips"]
    for clip in clips:
        card = browser.post("/open", id=clip["id"])
        for side in card["clips"]:
            status, sound, _ = browser.ask("GET", f"/clip/{side['sound']}.wav")
            assert (status, sound[:4]) == (200, b"RIFF")
    browser.ask("GET", "/nothing")
    browser.ask("POST", "/open", {"id": "x"})
    for name in (
        run.system,
        other.system,
        "REASON-77",
        "rating.json",
        "trials",
        "input.wav",
        "silero",
        "energy",
        'tor"',
    ):
        assert name.encode() not in browser.seen, name
    assert not re.search(rb"takeover|user_interruption/|\.run\b", browser.seen)


def test_the_verdict_form_shows_the_verdict_and_still_no_system(run: Run, seated: Seated, browse: Any) -> None:
    browser = browse(seated(run, form="verdict"))
    for clip in browser.post("/join", rater="Ann")["clips"]:
        shown = dict(browser.post("/open", id=clip["id"])["shown"])
        assert shown["The program's verdict"]
    assert run.system.encode() not in browser.seen


def test_the_sides_of_a_pair_have_names_that_tell_nothing(run: Run, other: Run, seated: Seated, browse: Any) -> None:
    browser = browse(seated(run, other, form="preference"))
    clip = browser.post("/join", rater="Ann")["clips"][0]
    assert [side["name"] for side in browser.post("/open", id=clip["id"])["clips"]] == ["A", "B"]


def test_only_this_machine_is_listened_to(run: Run, seated: Seated, served: Served) -> None:
    assert served(seated(run)).server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("headers", [
    {"Host": "evil.example"}, {"Host": "127.0.0.1"}, {"Host": "127.0.0.1:1"}, {"Origin": "http://evil.example"},
    {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
])  # fmt: skip
def test_another_site_gets_nothing(run: Run, seated: Seated, browse: Any, headers: dict[str, str]) -> None:
    browser = browse(seated(run))
    for method, path, body in (("GET", f"/?token={browser.token}", None), ("POST", "/join", {"rater": "Ann"})):
        status, content, _ = browser.ask(method, path, body, **headers)
        assert (status, content) == (403, b"This page is for this machine alone.")


def test_without_the_token_nothing_is_shown_or_kept(run: Run, seated: Seated, browse: Any) -> None:
    browser = browse(seated(run))
    clip = browser.post("/join", rater="Ann")["clips"][0]
    for path in ("/", "/?token=", "/?token=wrong", "/?token=%00", "/?tok=1"):
        assert browser.ask("GET", path)[0] == 403
    for token in ("", "wrong"):
        status, content, _ = browser.ask(
            "POST", "/answer", {"id": clip["id"], "answers": {"rating": 1}}, **{"X-Review-Token": token}
        )
        assert status == 403 and b"started again" in content
    assert read_reviews(run.path) == []


def test_a_page_may_load_nothing_from_elsewhere(run: Run, seated: Seated, browse: Any) -> None:
    browser = browse(seated(run))
    _, page, headers = browser.ask("GET", f"/?token={browser.token}")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert not re.search(rb"(?:src|href)=[\"']?(?:https?:)?//", page)


@pytest.fixture
def sound(run: Run, seated: Seated, browse: Any) -> tuple[Browser, str, bytes]:
    browser = browse(seated(run))
    clip = browser.post("/join", rater="Ann")["clips"][0]
    path = f"/clip/{browser.post('/open', id=clip['id'])['clips'][0]['sound']}.wav"
    return browser, path, browser.ask("GET", path)[1]


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [("bytes=0-", 0, None), ("bytes=10-19", 10, 20), ("bytes=-7", -7, None), ("bytes=5-999999999", 5, None)],
)
def test_a_player_may_ask_for_a_stretch(sound: Any, asked: str, start: int, end: int | None) -> None:
    browser, path, whole = sound
    status, content, headers = browser.ask("GET", path, Range=asked)
    begin = start if start >= 0 else len(whole) + start
    assert (status, content) == (206, whole[start:end])
    assert headers["Content-Range"] == f"bytes {begin}-{begin + len(content) - 1}/{len(whole)}"


@pytest.mark.parametrize("asked", ["bytes=99999999-", "bytes=9-3", "bytes=-", "bytes=0-1,4-5", "lines=1-2", "bytes=-0"])
def test_a_stretch_that_is_not_there_is_refused(sound: Any, asked: str) -> None:
    browser, path, whole = sound
    status, content, headers = browser.ask("GET", path, Range=asked)
    assert (status, content, headers["Content-Range"]) == (416, b"", f"bytes */{len(whole)}")


def test_the_sound_is_a_wav_file_of_the_very_samples(run: Run, sound: Any, tmp_path: Path) -> None:
    _, _, whole = sound
    (tmp_path / "sent.wav").write_bytes(whole)
    made, rate = soundfile.read(tmp_path / "sent.wav", dtype="int16")
    flacs = [soundfile.read(flac, dtype="int16") for flac in run.path.rglob("*.flac")]
    assert any(np.array_equal(made, samples) and rate == its for samples, its in flacs)


def test_every_stretch_is_that_of_the_whole(sound: Any) -> None:
    browser, path, whole = sound
    for start in (0, 1, 43, 44, 45, 46, 4_000, 4_001, 4_002, 4_003, 31_111):
        for length in (1, 2, 3, 4, 5, 2_000):
            asked = f"bytes={start}-{start + length - 1}"
            assert browser.ask("GET", path, Range=asked)[1] == whole[start : start + length], asked


def test_the_head_of_a_sound_has_its_length_and_no_body(sound: Any) -> None:
    browser, path, whole = sound
    status, content, headers = browser.ask("HEAD", path)
    assert (status, content, int(headers["Content-Length"])) == (200, b"", len(whole))


@pytest.mark.parametrize(
    "path", ["/clip/../../etc/passwd", "/clip/%2e%2e/x.wav", "/run.json", "/clip/" + "0" * 32 + ".wav"]
)
def test_no_file_is_reached_by_its_name(run: Run, seated: Seated, browse: Any, path: str) -> None:
    assert browse(seated(run)).ask("GET", path)[0] == 404


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"[" * 60_000, b"null", b'{"id": 3}', b'{"id": []}'])
def test_a_body_that_is_nonsense_gets_a_sentence(run: Run, seated: Seated, browse: Any, body: bytes) -> None:
    status, content, _ = browse(seated(run)).ask("POST", "/answer", body)
    assert status == 400 and b"error" in content


def test_a_body_without_end_is_refused(run: Run, seated: Seated, browse: Any) -> None:
    assert browse(seated(run)).ask("POST", "/answer", b"x" * 70_000)[0] == 413


def test_a_full_disk_is_told_and_the_answer_does_not_count(
    run: Run, seated: Seated, browse: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    browser = browse(seated(run, tell=said.append))
    clip = browser.post("/join", rater="Ann")["clips"][0]
    (run.path / "reviews").write_text("a file where the folder should be")
    status, content, _ = browser.ask("POST", "/answer", {"id": clip["id"], "answers": {"rating": 1}})
    assert (status, run.system.encode() in content) == (500, False)


def test_a_port_that_is_taken_is_told(run: Run, seated: Seated, served: Served) -> None:
    server = served(seated(run))
    with pytest.raises(RunError, match=rf"port {server.port}: .*--port"):
        ReviewServer(seated(run), server.port)


@contextmanager
def _command(*words: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command in a process of its own, and give it with the address that it printed."""
    start = "import fullduplex.cli, fullduplex.cli.review; fullduplex.cli.main()"
    with subprocess.Popen(
        [sys.executable, "-c", start, "review", *map(str, words), "--no-open", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            told = "".join(iter(process.stdout.readline, "}\n")) + "}"
            yield process, json.loads(told)["url"]
        finally:
            process.kill()


def _browser_at(url: str) -> Browser:
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=(.+)", url)
    assert found is not None
    return Browser(int(found[1]), found[2])


def test_a_killed_review_has_kept_every_answer_that_the_page_was_told_is_kept(run: Run) -> None:
    with _command(run.path) as (process, url):
        browser = _browser_at(url)
        for number, clip in enumerate(browser.post("/join", rater="Ann")["clips"][:4]):
            browser.post("/answer", id=clip["id"], answers={"rating": number}, note="", seconds=1, heard=1)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    kept = read_kept(run.path)
    assert (sorted(str(review.answers["rating"]) for review in kept.reviews), kept.damaged) == ([*"0123"], ())
    with _command(run.path) as (_, url):
        again = _browser_at(url).post("/join", rater="Ann")["clips"]
    assert [clip["done"] for clip in again] == [True] * 4 + [False] * 6


def test_an_interrupt_ends_it_cleanly_and_says_that_progress_is_kept(run: Run) -> None:
    with _command(run.path) as (process, _):
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    assert (process.returncode, err.splitlines()[-1]) == (
        0, "fullduplex: ended; progress is kept, and the same command goes on",
    )  # fmt: skip


def test_the_command_prints_figures_without_serving(run: Run, seated: Seated, tmp_path: Path) -> None:
    from click.testing import CliRunner

    import fullduplex.cli.review
    from fullduplex.cli import main

    assert fullduplex.cli.review is not None
    desk = seated(run)
    for clip, value in zip(desk.join("Ann")["clips"], (1, 3), strict=False):
        desk.answer(clip["id"], {"answers": {"rating": value}})
    found = CliRunner().invoke(main, ["review", str(run.path), "--form", "interruption", "--figures"])
    assert "rating: 2 ratings of 2 items by 1 rater; mean 2.00 ± 1.41" in found.stdout
    found = CliRunner().invoke(main, ["review", str(run.path), "--form", "interruption", "--figures", "--json"])
    assert json.loads(found.stdout)["questions"][0]["ratings"] == {"1": 1, "3": 1}
