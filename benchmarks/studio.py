"""What the studio costs: its page beside the same call in Python, the slider in a browser, bytes, memory.

    python -m benchmarks.studio    # writes benchmarks/results/studio.json and docs/studio-speed.md

all-MiniLM-L6-v2 with a random head reads sentences of pocket, joined to the length that a line names. A page is timed
from the form's text to the finished HTML, without the browser; the slider in Chromium, from the event to the layout.
"""

import argparse
import resource
import socket
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

import pellucid
from benchmarks.attribution.models import folder_of
from benchmarks.attribution.results import machine_of, machine_words, publish, versions
from benchmarks.attribution.table import listed
from benchmarks.guard import ROOT
from pellucid.studio.frame import framed
from pellucid.studio.guards import guard_for
from pellucid.studio.record import Studio, TextRequest
from pellucid.studio.views.run import run as run_view
from pellucid.studio.views.text import text as text_view
from pellucid.studio.visit import Page, Visit
from pellucid.studio.work import StillComputing

METHODS = ("integrated_gradients", "gradient_x_input", "occlusion", "gradient", "relevance", "attention")
CHEAP = ("gradient_x_input", "gradient", "attention")  # of long texts, whose page is measured and not its scores
RUNS, CHROMIUM = 20, "/usr/bin/chromium"
SLIDER = (
    "methods => {"
    + """
  const range = document.querySelector(".st-range"), times = [];
  for (let step = 0; step < 400; step++) {
    range.value = String((step * 8) % 21);
    const start = performance.now();
    range.dispatchEvent(new Event("input"));
    document.body.offsetHeight;
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return [times[200], times[380]];
}"""
)


def sentences(words: int, first: int) -> str:
    """A text of so many words, beginning with another sentence each time."""
    corpus = [example.segments[0] for example in pellucid.examples("pocket", "all")]
    joined = " ".join(corpus[first:] + corpus[:first]).split()
    return " ".join((joined * (1 + words // len(joined)))[:words])


def drawn(view: Callable[[Visit], Any], visit: Visit) -> str:
    """The finished page."""
    while True:
        try:
            page = view(visit)
        except StillComputing as computing:
            computing.job.finished.wait()
        else:
            assert isinstance(page, Page)
            return framed(visit, page)


def whole(studio: Studio, key: str) -> str:
    """The page of a text with its slider."""
    visit = Visit(studio, path=(key,), query={"slider": "yes", "anyway": "yes"}, reader="benchmark")
    while "st-coming" in (html := drawn(text_view, visit)):
        time.sleep(0.1)
    return html


def timed(work: Callable[[], object]) -> float:
    """Seconds that the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def beside_python(studio: Studio, model: Any, words: int = 20, runs: int = RUNS) -> dict[str, Any]:
    """Seconds of the page and of `explain_all` of the same new text, each the first by turns."""
    pairs = []
    for run in range(runs + 1):
        text = sentences(words, 40 * run)
        key = studio.requests.add(TextRequest("model", (text,), METHODS))
        visit = Visit(studio, path=(key,), reader="benchmark")
        calls = {
            "call": lambda text=text: pellucid.explain_all(model, pellucid.Example((text,)), METHODS, progress=False),
            "page": lambda visit=visit: drawn(text_view, visit),
        }
        seconds = {name: timed(calls[name]) for name in sorted(calls, reverse=bool(run % 2))}
        pairs.append((seconds["call"], seconds["page"]))
        size = len(whole(studio, key).encode())  # and nothing is left at the desk
    pairs = pairs[1:]  # the first run of each imports
    ratios = [page / call for call, page in pairs]
    return {
        "words": words,
        "runs": len(pairs),
        "call": statistics.median(call for call, _ in pairs),
        "page": statistics.median(page for _, page in pairs),
        "ratio": statistics.median(ratios),
        "bytes": size,
    }


@contextmanager
def served(studio: Studio) -> Iterator[str]:
    """The address of the studio, at a free port."""
    from pellucid.studio.server import application, serving

    with socket.create_server(("127.0.0.1", 0)) as listening:
        site = f"http://127.0.0.1:{listening.getsockname()[1]}"
        guard = guard_for([site])
        with serving(application(studio, guard), listening):
            yield f"{site}/?token={guard.token}"


def in_browser(studio: Studio, words: int, slides: bool) -> dict[str, Any]:
    """Seconds until a page that is computed already can be used, its bytes; and milliseconds of a step of the slider."""
    from playwright.sync_api import sync_playwright

    methods = METHODS if words < 100 else CHEAP
    key = studio.requests.add(TextRequest("model", (sentences(words, 0),), methods))
    if slides:
        whole(studio, key)
    else:
        drawn(text_view, Visit(studio, path=(key,), query={"anyway": "yes"}, reader="benchmark"))
    with served(studio) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address)
        start = time.perf_counter()
        page.goto(f"{address.partition('?')[0]}text/{key}?anyway=yes{'&slider=yes' if slides else ''}")
        page.wait_for_selector(".st-hiding")
        usable = time.perf_counter() - start
        size = len(page.content().encode())
        median, p95 = page.evaluate(SLIDER) if slides else (None, None)
        browser.close()
    return {"words": words, "usable": usable, "bytes": size, "median_ms": median, "p95_ms": p95}


def resident() -> float:
    """Megabytes of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def memory(studio: Studio, model: Any, texts: int = 60) -> dict[str, Any]:
    """Megabytes that sixty pages leave, beyond the model with one explanation."""
    pellucid.explain_all(model, pellucid.Example((sentences(20, 7),)), METHODS, progress=False)
    before = resident()
    with served(studio):
        for first in range(texts):
            whole(studio, studio.requests.add(TextRequest("model", (sentences(20, 11 * first + 3),), METHODS)))
        return {"texts": texts, "megabytes": resident() - before}


def first_page(folder: Path) -> dict[str, Any]:
    """Seconds of the first page of a stored run, which nobody has opened before, and of its second page."""
    run = pellucid.open_run(folder)
    studio = Studio({}, {"run": run})
    times = []
    for query in ({}, {"page": "2"}):
        start = time.perf_counter()
        drawn(run_view, Visit(studio, "run", ("run",), query, reader="benchmark"))
        times.append(time.perf_counter() - start)
    return {"texts": len(run), "first": times[0], "second": times[1]}


def as_page(results: dict[str, Any]) -> str:
    """The page in Markdown."""
    beside, long = results["beside"], results["long"]
    rows = [
        ("page ÷ `explain_all`, 20 words, six methods", f"{beside['ratio']:.2f}", "1.15"),
        *(
            (f"a step of the slider, 95th percentile, {row['words']} words", f"{row['p95_ms']:.1f} ms", f"{must} ms")
            for row, must in zip(results["slider"], (16, 32), strict=True)
        ),
        ("that page with its slider", f"{beside['bytes'] / 1e3:.0f} kB", "150 kB"),
        ("5,000 words, three methods: page", f"{long['bytes'] / 1e6:.2f} MB", "3 MB"),
        ("the same, until it can be used", f"{long['usable']:.1f} s", "2 s"),
        (
            f"memory after {results['memory']['texts']} texts, beyond the model",
            f"{results['memory']['megabytes']:.0f} MB",
            "150 MB",
        ),
    ]
    if run := results.get("run"):
        rows.append((f"first page of a run of {run['texts']:,} texts", f"{run['first']:.2f} s", "2 s"))
    return (
        "# What the studio costs\n\nMade by `python -m benchmarks.studio`; not written by hand. "
        f"On {machine_words(results['made_on'])}, {results['made_on']['cores']} cores: all-MiniLM-L6-v2 in float32 with a "
        f"random head, sentences of pocket; medians of {beside['runs']} runs. A page took {beside['page']:.2f} s, the call "
        f"{beside['call']:.2f} s.\n\n" + listed(rows, ("what", "measured", "wanted, at most")) + "\n"
    )


def main() -> None:
    """Measure, keep the numbers, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--run", type=Path, help="the folder of a stored run, whose first page is timed too")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = pellucid.load(str(folder_of("minilm", ROOT / "runs" / "benchmark")))
    studio = Studio({"model": model})
    results: dict[str, Any] = {
        "made_on": machine_of("cpu"),
        "versions": versions(),
        "beside": beside_python(studio, model),
        "slider": [in_browser(studio, words, True) for words in (40, 500)],
        "long": in_browser(studio, 5_000, False),
        "memory": memory(studio, model),
    }
    if arguments.run:
        results["run"] = first_page(arguments.run)
    publish(results, "studio", as_page(results), "studio-speed")


if __name__ == "__main__":
    main()
