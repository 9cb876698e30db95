"""Takes studio.png and five-thousand-words.png with the small model of the demo: `python -m docs.pictures.small_model`.

Needs playwright, pillow and Chromium, and trains nothing. The first picture is the studio's view of a text with two
words hidden, the second the page of a text of many requests.
"""

import tempfile
from contextlib import chdir
from io import BytesIO
from itertools import accumulate
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import pellucid
from benchmarks.studio import served
from docs.pictures.drawn import record
from docs.pictures.studio import HERE, slide, wait
from pellucid.demo_first_page import unpack_small_model
from pellucid.run.model import Model
from pellucid.studio.record import Studio, TextRequest

FILES = ("docs/pictures/small_model.py", "docs/pictures/studio.py", "pellucid/data/models/helpdesk.safetensors")
TEXT = "My parcel has not arrived and the tracking page says nothing. Can I get my money back?"
COLOURS = 200  # of a picture
METHODS = ("span_attention", "integrated_gradients", "occlusion")
WIDTH = 1060
WORDS = 5000  # of the long text, at least


def long_text() -> pellucid.Example:
    """Requests of the corpus, one after the other."""
    texts = [example.segments[0] for example in pellucid.examples("helpdesk", "test")]
    lengths = accumulate(len(text.split()) for text in texts)
    end = next(place for place, words in enumerate(lengths, 1) if words >= WORDS)
    return pellucid.Example((" ".join(texts[:end]),), id="five thousand words")


def save(picture: bytes, name: str) -> None:
    """Write a picture with few colours."""
    image = Image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(HERE / f"{name}.png", optimize=True)


def take_studio(page: Page, model: Model) -> None:
    """The view of one text, with two words hidden."""
    studio = Studio({"helpdesk": model}, {}, {}, [], "")
    key = studio.requests.add(TextRequest("helpdesk", (TEXT,), METHODS))
    with served(studio) as address:
        page.goto(address)
        page.goto(f"{address.partition('?')[0]}text/{key}?slider=yes")
        wait(page)
        slide(page)
        wait(page)
        page.evaluate("scrollTo(0, 0)")
        foot = page.get_by_role("heading", name="Do the methods agree?").bounding_box()
        assert foot is not None
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": foot["y"] - 30}
        save(page.screenshot(clip=clip, full_page=True), "studio")


def take_long_text(page: Page, model: Model) -> None:
    """The card of a text of many pages."""
    results = pellucid.explain(model, [long_text()], "gradient")
    page.goto(pellucid.report(results, path="long.html").resolve().as_uri())
    save(page.locator("article").first.screenshot(), "five-thousand-words")


def main() -> None:
    """Take both pictures."""
    with sync_playwright() as started, tempfile.TemporaryDirectory() as folder, chdir(folder):
        unpack_small_model(Path("helpdesk"))
        model = pellucid.load("helpdesk")
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(color_scheme="light", viewport={"width": WIDTH, "height": 800})
        take_studio(page, model)
        take_long_text(page, model)
        browser.close()
    names = [f"docs/pictures/{name}.png" for name in ("studio", "five-thousand-words")]
    record("python -m docs.pictures.small_model", FILES, names)


if __name__ == "__main__":
    main()
