"""Takes the pictures of reports: `python docs/pictures/reports.py runs/pocket`, the model of the tour of 200 reviews.

Needs playwright and Chromium. Writes report.png, many-texts.png, errors.png, words.png, right-to-left.png,
side-by-side.png and spans.png beside itself. All that shows reviews shows those of the tour.
"""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import pellucid
from pellucid.data.load import load_examples
from pellucid.explaining.report import Reportable
from pellucid.run.model import Model

HERE = Path(__file__).parent
REVIEWS = HERE.parents[1] / "examples" / "data" / "reviews.csv"
STARS = {"1": "negative", "2": "negative", "3": "neutral", "4": "positive", "5": "positive"}
FEW = ("span_attention", "occlusion", "kernel_shap")
SHOWN = "books-028"  # the text of report.png
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


def pictures(model: Model) -> list[Picture]:
    """Every picture, its results computed."""
    texts = load_examples("pocket", "test")
    one = [text for text in texts if text.id == SHOWN]
    of_one = [result for method in FEW for result in pellucid.explain(model, one, method=method)]
    reviews = pellucid.examples(str(REVIEWS))
    many = pellucid.explain(model, reviews, method="occlusion", label_map=STARS)
    errors = pellucid.error_analysis(model, reviews, train="pocket", method="occlusion", label_map=STARS)
    pellucid.figure(many.words(), HERE / "words.png", top=5)
    rtl = pellucid.explain(model, list(RIGHT_TO_LEFT), method="integrated_gradients")
    side_by_side = pellucid.explain_all(model, one, ["all"])
    return [
        Picture("report", of_one, 1060, element="article"),
        Picture("many-texts", many, 1060, 1500),
        Picture("errors", errors, 1060, 1100),
        Picture("right-to-left", rtl, 852, element=".pl-cards"),
        Picture("side-by-side", side_by_side, 1072, element="article"),
        Picture("spans", pellucid.spans(model, list(OF_SPANS), k=2), 960, 1500),
    ]


def take(page: Page, picture: Picture, folder: Path) -> None:
    """Write one picture."""
    path = pellucid.report(picture.results, path=folder / f"{picture.name}.html")
    page.set_viewport_size({"width": picture.width, "height": picture.height})
    page.goto(path.as_uri())
    target = page.locator(picture.element).first if picture.element else page
    target.screenshot(path=HERE / f"{picture.name}.png")


def main(folder: str) -> None:
    """Take all pictures with one model."""
    with sync_playwright() as started, tempfile.TemporaryDirectory() as pages:
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for picture in pictures(pellucid.load(folder)):
            take(browser.new_page(color_scheme="light"), picture, Path(pages))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
