"""Takes translation.png and contrast.png: `python -m docs.pictures.translations runs/en-de`, a translator of the study
`s0_translation`.

Needs playwright and Chromium. The pictures show a translation with the spans of each word, and why one word stands
there and not another.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import pellucid
from docs.pictures.drawn import record
from pellucid.text.example import Example

HERE = Path(__file__).parent
COMMAND = "python -m docs.pictures.translations runs/en-de"
TRANSLATED = ("A dog runs on the beach.", "Two children in red jackets are playing with a ball.")
PAIR = Example(("A dog runs.", "Ein Hund rennt."))
CONTRAST = pellucid.Word("rennt", against="läuft")


def main(folder: str) -> None:
    """Take both pictures with one translator."""
    model = pellucid.load(folder)
    shown = {
        "translation": [one.explanation for one in pellucid.translate(model, list(TRANSLATED), beam=5)],
        "contrast": [
            pellucid.explain(model, PAIR, name, target=CONTRAST)[0] for name in ("occlusion", "integrated_gradients")
        ],
    }
    with sync_playwright() as started, tempfile.TemporaryDirectory() as pages:
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, explanations in shown.items():
            path = pellucid.report(explanations, path=Path(pages) / f"{name}.html")
            page = browser.new_page(color_scheme="light", viewport={"width": 960, "height": 1200})
            page.goto(path.as_uri())
            page.locator("article").first.screenshot(path=HERE / f"{name}.png")
        browser.close()
    record(COMMAND, ["docs/pictures/translations.py"], [f"docs/pictures/{name}.png" for name in shown])


if __name__ == "__main__":
    main(sys.argv[1])
