"""Takes the pictures of reports: `python -m docs.pictures.reports runs/helpdesk runs/pocket`, the models of the tour
and of docs/how-to/question-the-spans.md.

Needs playwright and Chromium. Writes report.png, many-texts.png, errors.png, words.png, right-to-left.png,
side-by-side.png and spans.png beside itself. All that shows requests shows those of the tour.
"""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

from playwright.sync_api import Page, sync_playwright

import pellucid
from docs.pictures.drawn import record
from pellucid.data.load import load_examples
from pellucid.explaining.report import Reportable
from pellucid.run.model import Model

HERE = Path(__file__).parent
COMMAND = "python -m docs.pictures.reports runs/helpdesk runs/pocket"
FILES = ("docs/pictures/reports.py", "examples/data/requests.csv")
REQUESTS = HERE.parents[1] / "examples" / "data" / "requests.csv"
FEW = ("span_attention", "occlusion", "kernel_shap")
OF_SPANS = (  # the texts of docs/how-to/question-the-spans.md
    "A gripping, lovely film.",
    "The plot is thin, but the acting kept me awake until the end.",
    "Not a bad place to sleep.",
)
RIGHT_TO_LEFT = (
    "הסרט היה נפלא, אבל הסוף היה ארוך מדי ומשעמם.",
    "لم يعجبني الفندق: الغرفة صغيرة، والموظفون لا يجيبون على الهاتف 24/7.",
    ("הצג desk on the remote, ואז לחץ OK.", "The remote לא עבד."),
)


@dataclass(frozen=True)
class Picture:
    """A file, the results that its page shows, the width of the window, and how to crop it.

    element: what is shown (None: the top of the page, as high as `height`).
    """

    name: str
    results: Reportable
    width: int
    height: int = 800
    element: str | None = None


def pictures(model: Model, of_films: Model) -> list[Picture]:
    """Every picture, its results computed; one text of the data is drawn at random."""
    text = Random("report").sample(load_examples("helpdesk", "test"), 1)
    of_text = [result for method in FEW for result in pellucid.explain(model, text, method=method)]
    requests = pellucid.examples(str(REQUESTS))
    many = pellucid.explain(model, requests, method="occlusion")
    errors = pellucid.error_analysis(model, requests, train="helpdesk", method="occlusion")
    pellucid.figure(many.words(), HERE / "words.png", top=5)
    rtl = pellucid.explain(of_films, list(RIGHT_TO_LEFT), method="integrated_gradients")
    side_by_side = pellucid.explain_all(model, text, ["all"])
    return [
        Picture("report", of_text, 1060, element="article"),
        Picture("many-texts", many, 1060, 1500),
        Picture("errors", errors, 1060, 1100),
        Picture("right-to-left", rtl, 852, element=".pl-cards"),
        Picture("side-by-side", side_by_side, 1072, element="article"),
        Picture("spans", pellucid.spans(of_films, list(OF_SPANS), k=2), 960, 1100),
    ]


def take(page: Page, picture: Picture, folder: Path) -> None:
    """Write one picture."""
    path = pellucid.report(picture.results, path=folder / f"{picture.name}.html")
    page.set_viewport_size({"width": picture.width, "height": picture.height})
    page.goto(path.as_uri())
    target = page.locator(picture.element).first if picture.element else page
    target.screenshot(path=HERE / f"{picture.name}.png")


def main(folder: str, of_films: str) -> None:
    """Take all pictures with these models."""
    with sync_playwright() as started, tempfile.TemporaryDirectory() as pages:
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        all_pictures = pictures(pellucid.load(folder), pellucid.load(of_films))
        for picture in all_pictures:
            take(browser.new_page(color_scheme="light"), picture, Path(pages))
        browser.close()
    names = ["words", *(picture.name for picture in all_pictures)]
    record(COMMAND, FILES, [f"docs/pictures/{name}.png" for name in names])


if __name__ == "__main__":
    main(*sys.argv[1:])
