"""A real browser opens hostile reports: no script runs, nothing is asked of the network, nothing complains."""

import numpy as np
import pytest

import pellucid
from pellucid.drawing.html import visible
from pellucid.explaining.report import write_page as report
from tests.explaining.test_in_browser import browser, opened, pytestmark  # noqa: F401 - fixture and marks
from tests.hostile.input_strategies import DIRECTIONS, MARKUP, SCRIPTS
from tests.shared.sample_results import sample_explanation, sample_table

COUNTERS = "() => [window.__ran, document.scripts.length, document.images.length, document.links.length]"
FOREIGN = "script, img, iframe, object, embed, link, base, form, math, svg svg, input, audio, video, foreignObject"


def hostile(word, **changes):
    """An explanation every part of which says the same."""
    word = word.replace("\x00", "")
    return sample_explanation(
        f"{word} and {word}",
        changes.pop("method", word),
        label=word + "!",
        labels=("no", word),
        id=word,
        model=word,
        model_hash=word,
        settings={word: word},
        diagnostics={word: 0.5},
        caveats=(word,),
        rationales=((0, 0, 2),),
        **changes,
    )


def results(number, word):
    """What one report shows: a single method, a comparison, or spans."""
    if number % 3 == 0:
        return [hostile(word)], None
    if number % 3 == 1:
        table = sample_table(
            (word, "chance"), ((word, "higher"), ("hiding", "lower")), (word,), about={word: {word: word}}
        )
        return [hostile(word), hostile(word, method="other")], table
    return [hostile("x < y " + word[:20], spans=True)], None


def _wide(one):
    """Whether there is something to point at: a unit of a control character alone has no width."""
    box = one.bounding_box()
    return box is not None and box["width"] > 0


def silent(browser, path):  # noqa: F811
    """Open a report, unfold, hover and focus everything; nothing of a stranger's may act."""
    page, heard = opened(browser, path)
    assert page.locator("meta[http-equiv='Content-Security-Policy']").count() == 1
    page.evaluate("() => document.querySelectorAll('details').forEach(held => held.open = true)")
    pointed = [one for one in page.locator(".pl-u, .pl-span, a").all()[:9] if _wide(one)]
    for one in pointed[:5]:
        one.hover(force=True)
    for _ in range(5):
        page.keyboard.press("Tab")
    ran, scripts, images, links = page.evaluate(COUNTERS)
    assert (ran, scripts, images) == (None, 0, 0) and page.locator(FOREIGN).count() == 0
    assert links == page.locator("nav a").count()
    assert heard == {"console": [], "requests": [path.as_uri()], "dialogs": []}
    return page


@pytest.mark.parametrize("number", range(len(MARKUP)))
def test_reports_full_of_markup_are_silent(browser, tmp_path, number):  # noqa: F811
    word = MARKUP[number]
    explanations, table = results(number, word)
    path = report(explanations, table, path=tmp_path / "page.html", title=word, about={word: word})
    page = silent(browser, path)
    assert page.locator(".pl-text").first.text_content() == visible(explanations[0].example.segments[0])
    page.close()


@pytest.mark.parametrize("script", SCRIPTS)
def test_reports_in_every_script_show_the_text(browser, tmp_path, script):  # noqa: F811
    path = report(
        [sample_explanation(script, label=script, labels=("no", script))],
        path=tmp_path / "page.html",
        title=script,
    )
    page = silent(browser, path)
    assert page.locator(".pl-text").first.text_content() == script
    page.close()


def test_a_text_that_turns_its_direction_turns_nothing_else(browser, tmp_path):  # noqa: F811
    text = "".join(f"{turn}word{number} " for number, turn in enumerate(DIRECTIONS * 3))
    path = report(
        [sample_explanation(text, id=DIRECTIONS, model=DIRECTIONS + "model")],
        path=tmp_path / "page.html",
        title=DIRECTIONS,
    )
    page = silent(browser, path)
    sides = "node => [getComputedStyle(node).direction, getComputedStyle(node).unicodeBidi]"
    assert page.locator("footer p").evaluate(sides)[0] == "ltr"
    assert {page.locator("bdi").nth(index).evaluate(sides)[1] for index in range(3)} == {"isolate"}
    page.close()


@pytest.mark.parametrize(("count", "units"), [(900, 2000), pytest.param(2000, 5000, marks=pytest.mark.long)])
def test_a_report_of_a_long_text_is_silent(browser, tmp_path, count, units):  # noqa: F811
    text = " ".join(f"{MARKUP[number % len(MARKUP)][:30]}" for number in range(count)).replace("\x00", "")
    explanation = sample_explanation(text)
    assert len(explanation.units) > units and np.isfinite(explanation.scores).all()
    page = silent(browser, report([explanation], path=tmp_path / "page.html"))
    assert page.locator(".pl-u").count() > units
    page.close()


def test_the_report_of_a_model_is_silent(browser, bert, tmp_path):  # noqa: F811
    explanations = pellucid.explain(bert, list(MARKUP[:6]), "gradient")
    silent(browser, report(explanations, path=tmp_path / "page.html")).close()
