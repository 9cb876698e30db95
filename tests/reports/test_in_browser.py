"""A real browser opens a hostile page: nothing runs, is fetched, overflows or complains."""

from pathlib import Path

import pytest

from pellucid.core.corpus.side_by_side import SideBySide
from pellucid.reports.page.page import report
from tests.reports.sample_results import HOSTILE, sample_explanation, sample_table
from tests.reports.test_escaping import hostile_explanation, hostile_table

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run --disable-quic"
)
pytestmark = [
    pytest.mark.whole,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium to open the page with"),
]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS.split())
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    hostile = [hostile_explanation(), hostile_explanation(spans=True)]
    calm = [
        sample_explanation("A fine film. " * 20, id="calm"),
        sample_explanation("ok " * 4 + "x" * 400, id="long", label="positive"),
    ]
    place = tmp_path_factory.mktemp("page") / "page.html"
    return report([*hostile, *calm], sample_table(), path=place, title=HOSTILE, about={HOSTILE: HOSTILE})


@pytest.fixture(scope="module")
def methods_path(tmp_path_factory):
    """Twenty-five methods, one of them hostile, on a short text, a long word and a hostile one."""
    texts = {
        "short": "A fine film. " * 3,
        "long": "ok " * 4 + "x" * 400,
    }
    by_method = {
        f"method_{number}": [sample_explanation(text, id=id, seed=number) for id, text in texts.items()]
        for number in range(24)
    }
    by_method = {title: [*ones, hostile_explanation()] for title, ones in by_method.items()}
    by_method |= {HOSTILE: [*next(iter(by_method.values()))[:2], hostile_explanation()]}
    place = tmp_path_factory.mktemp("methods") / "page.html"
    return report(SideBySide(by_method, {HOSTILE: HOSTILE}), path=place, title=HOSTILE)


def opened(browser, path, **settings):
    page = browser.new_page(**settings)
    heard = {"console": [], "requests": [], "dialogs": []}
    page.on("console", lambda message: heard["console"].append(message.text))
    page.on("pageerror", lambda error: heard["console"].append(str(error)))
    page.on("request", lambda request: heard["requests"].append(request.url))
    page.on("dialog", lambda dialog: (heard["dialogs"].append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    return page, heard


def test_nothing_runs_and_nothing_is_fetched(browser, path):
    page, heard = opened(browser, path)
    assert heard == {"console": [], "requests": [path.as_uri()], "dialogs": []}
    assert page.locator("script, img, iframe, object, embed, link, base, form").count() == 0
    assert page.locator("article").count() == 3
    page.close()


def test_the_style_sheet_is_allowed_by_the_policy_and_used(browser, path):
    page, _ = opened(browser, path)
    colour = page.locator(".pl-steps .pl-p16").first.evaluate(
        "node => getComputedStyle(node).backgroundColor"
    )
    assert colour == "rgba(236, 124, 16, 0.7)"
    page.close()


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_never_scrolls_sideways(browser, path, width, scheme):
    page, _ = opened(browser, path, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_the_policy_stops_what_is_smuggled_in(browser, path, tmp_path):
    smuggled = tmp_path / "smuggled.html"
    script = "<script>document.title='ran'</script>"
    smuggled.write_text(path.read_text(encoding="utf-8").replace("</main>", f"{script}</main>"))
    page, heard = opened(browser, smuggled)
    assert page.title() != "ran" and any("Content Security Policy" in message for message in heard["console"])
    page.close()


def test_hostile_tables_open_quietly(browser, tmp_path):
    place = report([], hostile_table(), path=tmp_path / "table.html")
    page, heard = opened(browser, place)
    assert heard["console"] == [] and page.locator(".pl-plot").count() == 1
    page.close()


@pytest.mark.parametrize("width", [390, 1200])
def test_methods_side_by_side_open_quietly_and_words_stand_under_each_other(browser, methods_path, width):
    page, heard = opened(browser, methods_path, viewport={"width": width, "height": 800})
    assert heard == {"console": [], "requests": [methods_path.as_uri()], "dialogs": []}
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    rows = page.locator("article").first.locator(".pl-row")
    assert rows.count() == 25
    places = rows.evaluate_all(
        """rows => rows.map(row => { const text = row.querySelector(".pl-text").getBoundingClientRect().y;
        return JSON.stringify([...row.querySelectorAll(".pl-u")].map(unit => {
            const box = unit.getBoundingClientRect(); return [Math.round(box.x), Math.round(box.y - text)]; })); })"""
    )
    assert len(set(places)) == 1 and len(places[0]) > 90
    page.close()


def test_cautions_are_open_on_paper(browser, tmp_path):
    methods = SideBySide(
        {"occlusion": [sample_explanation("A fine film.", "occlusion", caveats=("Mind the gap.",))]}
    )
    page, _ = opened(browser, report(methods, path=tmp_path / "page.html"))
    caution = page.locator(".pl-cautions p")
    assert not caution.is_visible()
    page.emulate_media(media="print")
    assert caution.is_visible()
    page.close()
