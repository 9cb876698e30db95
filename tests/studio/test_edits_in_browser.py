"""A real browser edits a word, puts a proposal in, reads the twin and compares two models; axe reads every page."""

from pathlib import Path

import pytest

from tests.studio.test_in_browser import SCREENS, TEXT, address, browser, explain, opened, pytestmark  # noqa: F401

SLOW = 60_000


def check(page, script):
    """Nothing is wider than the screen, and axe names no violation."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate(script)
    violations = page.evaluate("axe.run().then(result => result.violations.map(each => [each.id, each.nodes[0].html]))")
    assert violations == [], page.url


@pytest.mark.parametrize("screen", SCREENS)
def test_a_word_is_edited_and_the_text_compared(browser, address, screen):  # noqa: F811
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    with opened(browser, address, bypass_csp=True, **SCREENS[screen]) as page:
        explain(page)
        page.click("text=Edit this text")
        page.wait_for_selector("text=Click a word")
        check(page, script)
        page.locator("a.st-word").nth(3).click()
        page.wait_for_selector(".st-line", timeout=SLOW)
        check(page, script)
        page.click("text=Misspelt words")
        page.wait_for_selector("text=Compare with this text", timeout=SLOW)
        check(page, script)
        page.fill("input[name=replacement]", "<i>dull</i>")
        page.click("text=Replace and compare")
        page.wait_for_selector(".st-both", timeout=SLOW)
        check(page, script)
        assert "“lovely” → “<”, “i” put in" in page.locator(".pl-lead").first.inner_text()
        page.click("text=Two models")
        page.fill("textarea[name=text]", TEXT)
        page.click("main button")
        page.wait_for_selector(".st-both", timeout=SLOW)
        check(page, script)


def test_edits_need_no_script(browser, address):  # noqa: F811
    with opened(browser, address, java_script_enabled=False) as page:
        explain(page, runs_scripts=False)
        page.click("text=Edit this text")
        page.locator("a.st-word").nth(3).click()
        page.wait_for_selector(".st-line", timeout=SLOW)
        page.locator(".st-proposals button").first.click()
        page.wait_for_selector(".st-both", timeout=SLOW)
        page.click("text=Edit further")
        page.fill("textarea[name=text]", f"{TEXT}\nMore")
        page.click("main .st-form >> text=Compare")
        page.wait_for_selector(".st-both", timeout=SLOW)
        assert "“More” put in" in page.locator(".pl-lead").first.inner_text()
