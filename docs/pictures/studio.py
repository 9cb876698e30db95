"""Takes the pictures of the studio: `python -m docs.pictures.studio runs/helpdesk runs/clean`, two models made by

    pellucid train helpdesk --epochs 4 --learning-rate 2e-4 --batch-size 32 --out runs/helpdesk
    pellucid train helpdesk_clean --epochs 4 --learning-rate 2e-4 --batch-size 32 --out runs/clean

Needs playwright, pillow and Chromium. Writes the five questions of docs/how-to/use-the-studio.md, studio-1.png to
studio-5.png, beside itself. The first model is measured on a hundred requests, which takes some minutes.
"""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import pellucid
from benchmarks.studio import served
from docs.pictures.drawn import record
from pellucid.run.model import Model
from pellucid.studio.record import Studio, TextRequest

HERE = Path(__file__).parent
COMMAND = "python -m docs.pictures.studio runs/helpdesk runs/clean"
FILES = ("docs/pictures/studio.py", "examples/data/requests.csv")
REQUESTS = HERE.parents[1] / "examples" / "data" / "requests.csv"
TEXT = "Not as described. It's got no pockets. Sent from my phone."
METHODS = ("span_attention", "integrated_gradients", "occlusion")
COLOURS = 96  # of a picture: enough for text, bars and shades


@dataclass(frozen=True)
class Picture:
    """A file, the address of its view, how high the window is, what is clicked there, and what stands on top."""

    name: str
    address: str
    height: int
    steps: Callable[[Page], object] = lambda page: None
    top: str = "body"


def studio_of(first: Model, second: Model, folder: Path) -> Studio:
    """Both models, a run of the requests by the first, and what was measured of it."""
    requests = pellucid.examples(str(REQUESTS))
    run = pellucid.explain_corpus(first, requests, "occlusion", folder=folder / "requests", progress=False)
    table = pellucid.compare(first, requests[:100], list(METHODS), progress=False)
    return Studio(
        {"helpdesk": first, "clean": second}, {"requests": run}, {first.hash: table}, requests, "requests.csv"
    )


def pictures(studio: Studio) -> list[Picture]:
    """Every picture with the view that it shows."""
    key = studio.requests.add(TextRequest("helpdesk", (TEXT,), METHODS))
    return [
        Picture("studio-1", f"text/{key}?slider=yes", 860),
        Picture("studio-2", f"text/{key}?slider=yes", 900, slide, "#words"),
        Picture("studio-3", "trust/helpdesk", 900),
        Picture("studio-4", f"models/{key}", 900, lambda page: page.click("a.st-word >> text=phone")),
        Picture("studio-5", "run/requests?outcome=wrong", 760),
    ]


def slide(page: Page) -> None:
    """Hide a few words in the order of occlusion."""
    page.select_option(".st-method", "occlusion")
    page.locator(".st-range").fill("2")


def wait(page: Page) -> None:
    """Until the view is whole."""
    page.wait_for_load_state()
    while page.locator(".st-waiting, .st-coming").count():
        page.wait_for_timeout(300)


def take(page: Page, site: str, picture: Picture) -> None:
    """Write one picture, once its view is whole."""
    page.set_viewport_size({"width": 1060, "height": picture.height})
    page.goto(site + picture.address)
    wait(page)
    picture.steps(page)
    wait(page)
    page.locator(picture.top).evaluate("element => element.scrollIntoView()")
    image = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(HERE / f"{picture.name}.png", optimize=True)


def main(first: str, second: str) -> None:
    """Take all pictures with these models."""
    with sync_playwright() as started, tempfile.TemporaryDirectory() as folder:
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(color_scheme="light")
        studio = studio_of(pellucid.load(first), pellucid.load(second), Path(folder))
        views = pictures(studio)
        with served(studio) as address:
            page.goto(address)
            for picture in views:
                take(page, address.partition("?")[0], picture)
        browser.close()
    record(COMMAND, FILES, [f"docs/pictures/{picture.name}.png" for picture in views])


if __name__ == "__main__":
    main(*sys.argv[1:])
