"""Takes the pictures of docs/how-to/demo.md: `python -m docs.pictures.demo demo`, the folder that `make demo` wrote.

Needs playwright, pillow and Chromium. Writes demo-first.png, demo-habit.png, demo-mistake.png, demo-words.png,
demo-report.png, demo-trust.png, demo-spans.png and demo-twin.png beside itself.
"""

import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from docs.pictures.drawn import record

HERE = Path(__file__).parent
WIDTH = 1060
COMMAND = "make demo && python -m docs.pictures.demo demo"
COLOURS = 96  # of a picture: enough for text, bars and shades


@dataclass(frozen=True)
class Picture:
    """A file, the page that it shows, what stands at its top and at its foot there, and the most of it in pixels."""

    name: str
    page: str
    top: str
    foot: str
    height: int = 1400


RETURNS = ".pl-class:has(h3:has-text('returns'))"  # the words of one class
PICTURES = (
    Picture("demo-first", "first.html", "body", ".pl-contents"),
    Picture("demo-habit", "first.html", "#part-1-title", "#turned-2"),
    Picture("demo-mistake", "first.html", "#part-3-title", "#wrong-1"),
    Picture("demo-words", "first.html", RETURNS, RETURNS, 620),
    Picture("demo-report", "report.html", "body", ".pl-contents"),
    Picture("demo-trust", "report.html", "#part-1-title", "#part-1 table", 1600),
    Picture("demo-spans", "report.html", "#right-1", "#right-1"),
    Picture("demo-twin", "report.html", "#part-4-title", "#part-4", 445),
)


def take(page: Page, picture: Picture, folder: Path) -> None:
    """Write one picture: from the top of one element to the foot of another."""
    page.goto((folder / picture.page).resolve().as_uri())
    top = max(box_of(page, picture.top)[0] - 12, 0)
    foot = min(box_of(page, picture.foot)[1] + 12, top + picture.height)
    page.set_viewport_size({"width": WIDTH, "height": round(foot) + 100})
    clip = {"x": 0, "y": top, "width": WIDTH, "height": foot - top}
    image = Image.open(BytesIO(page.screenshot(clip=clip, full_page=True))).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(HERE / f"{picture.name}.png", optimize=True)


def box_of(page: Page, selector: str) -> tuple[float, float]:
    """Where an element begins and ends, from the top of the page."""
    box = page.locator(selector).first.bounding_box()
    if box is None:
        raise SystemExit(f"{page.url} has no {selector}; run `make demo` again, or change the pictures here.")
    return box["y"], box["y"] + box["height"]


def main(folder: Path) -> None:
    """Take all pictures of one demo."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for picture in PICTURES:
            take(browser.new_page(color_scheme="light", viewport={"width": WIDTH, "height": 900}), picture, folder)
        browser.close()
    record(COMMAND, ["docs/pictures/demo.py"], [f"docs/pictures/{picture.name}.png" for picture in PICTURES])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
