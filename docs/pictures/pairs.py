"""Takes pairs.png: `python -m docs.pictures.pairs BEFORE NOW`, two folders of models that learnt from the same pairs.

    pellucid train DATA --out BEFORE --epochs 2 --penalty entropy=0.1
    pellucid train DATA --out NOW --epochs 2

DATA: a folder whose train.jsonl has the first 3,500 pairs of SNLI's sample, and dev.jsonl the first 500. Needs
playwright and Chromium. The picture shows the spans of both models in four pairs; the two lists of all ten are printed.
"""

import base64
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import pellucid
from docs.pictures.drawn import record
from pellucid.results.explanation import Explanation

WOMAN = "A woman in a yellow coat waits at the bus stop."
BOYS = "Two boys play chess in the park."
MAN = "An old man sleeps on a bench beside his dog."
CHEF = "A chef cuts onions in a small kitchen."
PAIRS = (
    (WOMAN, "A woman is waiting for a bus."),
    (WOMAN, "A woman is driving a bus."),
    (WOMAN, "A woman is late for work."),
    (BOYS, "Nobody is playing a game."),
    (BOYS, "Children play a game outdoors."),
    (BOYS, "The boys are brothers."),
    (MAN, "The man is awake."),
    (MAN, "A man is resting with an animal."),
    (CHEF, "The chef is preparing soup."),
    (CHEF, "A cook is chopping vegetables indoors."),
)
SHOWN = (1, 2, 3, 5)
TITLES = ("Before: the entropy penalty", "Now: the recipe believable")


def main(folders: Sequence[str]) -> None:
    """Print the heaviest span of every pair, and draw four pairs of both models."""
    by_model = [list(pellucid.explain(folder, list(PAIRS), "span_attention")) for folder in folders]
    for (first, second), *both in zip(PAIRS, *by_model, strict=True):
        print(f"{first} / {second}", *(_heaviest(one) for one in both), sep=" | ")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        columns = [_cards(browser, [of_model[number] for number in SHOWN]) for of_model in by_model]
        cells = "".join(f"<img src='{card}'>" for row in zip(*columns, strict=True) for card in row)
        heads = "".join(f"<h2>{title}</h2>" for title in TITLES)
        page = browser.new_page(viewport={"width": 1040, "height": 800})
        page.set_content(
            "<style>body{font:14px system-ui,sans-serif;background:#fff;margin:16px;display:grid;align-items:start;"
            f"grid-template-columns:1fr 1fr;gap:12px}}img{{width:100%}}h2{{margin:0}}</style>{heads}{cells}"
        )
        page.screenshot(path=Path(__file__).parent / "pairs.png", full_page=True)
        browser.close()
    record("python -m docs.pictures.pairs BEFORE NOW", ["docs/pictures/pairs.py"], ["docs/pictures/pairs.png"])


def _heaviest(explanation: Explanation) -> str:
    """A pair's answer and its heaviest span."""
    return f"{explanation.prediction.label}: “{explanation.spans(1)[0].text}”"


def _cards(browser: Browser, explanations: list[Explanation]) -> list[str]:
    """Each explanation's card as a picture in a data address."""
    with tempfile.TemporaryDirectory() as folder:
        path = pellucid.report(explanations, path=Path(folder) / "page.html")
        page = browser.new_page(viewport={"width": 500, "height": 4000}, device_scale_factor=2)
        page.goto(path.as_uri())
        taken = [card.screenshot() for card in page.locator("article").all()]
    return [f"data:image/png;base64,{base64.b64encode(one).decode()}" for one in taken]


if __name__ == "__main__":
    main(sys.argv[1:3])
