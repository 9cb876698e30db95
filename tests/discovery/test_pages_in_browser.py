"""A real browser opens the pages of concepts on a phone and on a desk, light and dark; and axe reads each."""

from pathlib import Path

import pytest

import pellucid
from tests.explaining.test_in_browser import CHROMIUM, browser, opened, pytestmark  # noqa: F401
from tests.shared.sample_results import HOSTILE
from tests.shared.tiny import tiny_classifier

FEW = {"n": 4, "n_texts": 4, "method": "svd", "progress": False}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Name -> the page of concepts, of a text's concepts, of a map of layers, and of what judges say."""
    model, folder = tiny_classifier("bert"), tmp_path_factory.mktemp("concepts")
    texts = [HOSTILE, *(example.text for example in pellucid.examples("pocket", "train")[:40])]
    learnt = pellucid.find_concepts(model, texts, 1, **FEW)
    drawn = {
        "concepts": learnt,
        "text": pellucid.text_concepts(model, HOSTILE, learnt),
        "map": pellucid.concept_map(model, texts, [1, 2], **FEW),
        "judged": pellucid.judge_concepts(model, texts, learnt, n_texts=4, progress=False),
    }
    return {name: pellucid.report(what, path=folder / f"{name}.html") for name, what in drawn.items()}


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_every_page_of_concepts_fits_its_screen_and_axe_names_no_violation(browser, pages, width, scheme):  # noqa: F811
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    screen = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme, "bypass_csp": True}
    for name, path in pages.items():
        page, heard = opened(browser, path, **screen)
        assert heard == {"console": [], "requests": [path.as_uri()], "dialogs": []}, name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        page.evaluate(script)
        violations = page.evaluate(
            "axe.run().then(result => result.violations.map(each => [each.id, each.nodes[0].html]))"
        )
        assert violations == [], name
        page.close()
