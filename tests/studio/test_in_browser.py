"""A real browser opens the studio: light, dark, on a phone, without a script, by keyboard alone; and axe reads every view."""

from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import pellucid
from benchmarks.studio import served
from pellucid.studio.hidden_words import hidden_words
from pellucid.studio.record import Studio
from tests.explaining.test_in_browser import CHROMIUM, browser  # noqa: F401
from tests.shared.tiny import tiny_classifier

TEXT = "A gripping, lovely film <b onmouseover=alert(1)>that</b> nobody should miss."
pytestmark = [
    pytest.mark.whole,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium to open the page with"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A studio of two models, some texts and a run, at a free port."""
    models = {"first": tiny_classifier("bert"), "second": tiny_classifier("roberta")}
    texts = [pellucid.Example(("A fine film.",), "positive"), pellucid.Example(("Dull, and <i>long</i>.",), "negative")]
    folder = tmp_path_factory.mktemp("run") / "texts"
    run = pellucid.explain_corpus(models["first"], texts * 3, "gradient_x_input", folder=folder, progress=False)
    studio = Studio(models, {"texts": run}, data=texts, data_name="texts")
    with served(studio) as address:
        yield address


@contextmanager
def opened(browser, address, **settings):  # noqa: F811
    """A page of the studio; afterwards, nothing has complained and nothing but the studio was asked."""
    context = browser.new_context(**settings)
    page, heard, addresses = context.new_page(), [], []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: addresses.append(request.url))
    page.goto(address)
    yield page
    assert heard == []
    assert all(url.startswith(address.partition("?")[0]) for url in addresses)
    context.close()


def explain(page, text=TEXT, runs_scripts=True):
    """Explain a text, and wait until its slider is ready."""
    page.fill("textarea[name=text]", text)
    page.click("text=Explain")
    page.wait_for_selector(".st-hiding", timeout=60_000)
    if page.locator("text=Prepare the slider").count():  # on a slow machine
        page.click("text=Prepare the slider")
        page.wait_for_selector(".st-hiding")
    if runs_scripts:
        page.wait_for_selector(".st-range", timeout=60_000)
    while not runs_scripts and page.locator(".st-coming").count():  # the reader looks again
        page.wait_for_timeout(500)
        page.reload()


SCREENS = {
    "light": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}


@pytest.mark.parametrize("screen", SCREENS)
def test_a_text_is_explained_and_a_word_hidden(browser, address, screen):  # noqa: F811
    with opened(browser, address, **SCREENS[screen]) as page:
        assert "token" not in page.url
        explain(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        before = page.locator(".st-bar .st-value").all_inner_texts()
        page.locator(".st-range").fill("20")
        assert page.locator(".st-slid").count() == page.locator(".st-word").count()
        assert page.locator(".st-bar .st-value").all_inner_texts() != before
        page.locator(".st-range").fill("0")
        assert page.locator(".st-bar .st-value").all_inner_texts() == before
        page.locator(".st-word").nth(1).click()
        page.wait_for_selector(".st-out")
        assert page.locator(".st-out").inner_text() == "gripping" and page.locator(".st-before").count()


def test_the_page_says_whether_the_slider_or_the_hand_hides(browser, address):  # noqa: F811
    with opened(browser, address, viewport={"width": 1280, "height": 900}) as page:
        explain(page)
        page.locator(".st-word").nth(1).click()
        page.wait_for_selector(".st-out")
        page.wait_for_selector(".st-range")
        state = lambda: (  # noqa: E731
            page.locator(".st-count").inner_text(),
            page.locator(".st-bar .st-value").all_inner_texts(),
            page.locator(".st-before:visible").count(),
        )
        by_hand = state()
        assert by_hand[0].startswith("1 of ") and by_hand[0].endswith(" words, by hand") and by_hand[2]
        assert "Hidden by hand: “gripping”" in page.locator(".st-hand").inner_text()
        page.locator(".st-range").fill("20")
        count, _, before = state()
        assert count.endswith(" words, by the slider") and not before
        assert not page.locator(".st-hand").is_visible()
        page.locator(".st-range").fill("0")
        assert state() == by_hand and page.locator(".st-hand").is_visible()


def test_the_slider_shows_the_numbers_of_every_cut(browser, address):  # noqa: F811
    model = tiny_classifier("bert")
    explanations = list(pellucid.explain_all(model, pellucid.Example((TEXT,)), ["occlusion"]).explanations)
    cuts = hidden_words(model, explanations)
    with opened(browser, address, viewport={"width": 1280, "height": 900}) as page:
        explain(page)
        page.select_option(".st-method", "occlusion")
        for cut in (0, 7, 20):
            page.locator(".st-range").fill(str(cut))
            shown = [float(text.rstrip(" %")) for text in page.locator(".st-bar .st-value").all_inner_texts()]
            np.testing.assert_allclose(shown, 100 * cuts.most["occlusion"].values[cut], atol=0.51)
            struck = page.locator(".st-slid").evaluate_all("words => words.map(word => Number(word.dataset.words))")
            assert sorted(struck) == sorted(cuts.most["occlusion"].order[: cuts.counts[cut]])


def test_everything_but_the_slider_works_without_a_script(browser, address):  # noqa: F811
    with opened(browser, address, java_script_enabled=False) as page:
        explain(page, runs_scripts=False)
        assert not page.locator(".st-slider").is_visible()
        page.locator(".st-word").nth(1).click()
        assert page.locator(".st-out").inner_text() == "gripping"
        page.click("text=Show all words again")
        assert page.locator(".st-out").count() == 0


def test_a_keyboard_is_enough(browser, address):  # noqa: F811
    with opened(browser, address, viewport={"width": 1280, "height": 900}) as page:
        page.keyboard.type("A fine film.")  # the text field has the focus
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "Explain":
                break
        page.keyboard.press("Enter")
        if page.locator("text=Prepare the slider").count():
            page.focus("text=Prepare the slider")
            page.keyboard.press("Enter")
        page.wait_for_selector(".st-range", timeout=60_000)
        page.focus(".st-range")
        page.keyboard.press("End")
        assert page.locator(".st-slid").count() == page.locator(".st-word").count()
        page.locator(".st-word").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(".st-out")


@pytest.mark.parametrize("screen", SCREENS)
def test_every_view_fits_its_screen_and_axe_names_no_violation(browser, address, screen):  # noqa: F811
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    with opened(browser, address, bypass_csp=True, **SCREENS[screen]) as page:  # axe is a stranger's script
        explain(page)
        text = page.url.partition("?")[0]
        key = text.rpartition("/")[2]
        views = ["", f"text/{key}?hidden=1", f"layers/{key}", "run", "run/texts", "run/texts/1", "trust/first"]
        for view in views:
            page.goto(text.partition("/text/")[0] + "/" + view)
            while page.locator(".st-waiting, .st-coming").count():
                page.wait_for_timeout(300)
            assert page.locator("h1").inner_text() != "This does not work", view
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
            page.evaluate(script)
            violations = page.evaluate(
                "axe.run().then(result => result.violations.map(each => [each.id, each.nodes[0].html]))"
            )
            assert violations == [], view
