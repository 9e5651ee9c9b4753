"""How soon a report's items are in sight after its page is opened from disk.

    python bench/page_open.py              the 727 items of Full-Duplex-Bench v1.0, and ten times as many

Pages are made here: twelve metrics under five variants, sixty words and an outline of 800
stretches a side. Each figure is the median of several openings in headless Chromium, from the
start of navigation to the first frame that shows the list; `filter` is one change of a filter,
`open` one item opened by its address.
"""

from __future__ import annotations

import argparse
import base64
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fullduplex.reporting.page import PageData, PageItem, write_page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
VARIANTS = [f"variant-{i}" for i in range(5)]
#: Resolves to the milliseconds since navigation began, once a frame with rows has been drawn.
SHOWN = """() => new Promise((done) => {
  const look = () => document.documentElement.dataset.ready && document.querySelector('.row')
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now()))) : requestAnimationFrame(look);
  look();
})"""
TIMED = """async (act) => {
  const start = performance.now();
  if (act === 'filter') {
    const box = document.getElementById('f-text');
    box.value = '7';
    box.dispatchEvent(new Event('input'));
  } else {
    location.hash = '#system/scenario-0/9';
    while (document.querySelector('#item h3')?.textContent !== '9') await new Promise(requestAnimationFrame);
  }
  await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""


def items(number: int) -> Iterator[PageItem]:
    chance = random.Random(0)
    peaks = base64.b64encode(chance.randbytes(800)).decode("ascii")
    words = [[f"word{i}", i * 0.3, i * 0.3 + 0.25] for i in range(60)]
    side = {"words": words, "speech": [[i, i + 0.8] for i in range(18)], "words_from": "", "speech_from": "",
            "peaks": peaks}  # fmt: skip
    for i in range(number):
        facts = [
            {"variant": variant, "metric": f"metric-{metric}", "value": chance.gauss(0.6, 0.4), "absent": "",
             "why": "first word after the event's end", "at": 4.5, "unit": "s" if metric < 2 else ""}
            for metric in range(12) for variant in VARIANTS
        ]  # fmt: skip
        tracks = {"user": side, "system": side}
        yield PageItem("system", f"scenario-{i % 4}", "task", str(i // 4), None, 18.0, tracks, [], facts)


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, nargs="*", default=[727, 7270])
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        parser.error("no Chromium is installed")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=FLAGS)
        for number in options.items:
            path = Path(folder) / f"{number}.html"
            start = time.perf_counter()
            write_page(path, PageData("Bench", "bench", VARIANTS, ["system"]), items(number))
            written = time.perf_counter() - start
            figures = [_figures(chromium, path) for _ in range(options.times)]
            shown, changed, opened = (statistics.median(column) for column in zip(*figures, strict=True))
            print(
                f"{number:6,} items  {path.stat().st_size / 1e6:6.1f} MB  written in {written:5.2f} s  "
                f"in sight after {shown / 1000:5.2f} s  filter {changed:4.0f} ms  open {opened:4.0f} ms"
            )
        chromium.close()


def _figures(chromium: Any, path: Path) -> tuple[float, float, float]:
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    try:
        page.goto(path.as_uri(), wait_until="commit")
        shown = page.evaluate(SHOWN)
        page.wait_for_load_state()
        return shown, page.evaluate(TIMED, "filter"), page.evaluate(TIMED, "open")
    finally:
        page.close()


if __name__ == "__main__":
    main()
