"""A real browser opens a hostile page: nothing runs, is fetched, overflows or complains."""

from pathlib import Path

import pytest

from pellucid.explaining.report import report as report_layers
from pellucid.explaining.report import write_page as report
from pellucid.layers.record import LayerAnalysis
from pellucid.results.results import Results
from pellucid.results.side_by_side import SideBySide
from tests.drawing.test_escaping import hostile_explanation, hostile_table
from tests.shared.layer_samples import trained
from tests.shared.sample_corpus import sample_corpus
from tests.shared.sample_results import HOSTILE, sample_explanation, sample_table

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


def opened(browser, path, until="load", **settings):
    """until: "networkidle" waits half a second longer, for what would be asked of the network after all that the page names is there."""
    page = browser.new_page(**settings)
    heard = {"console": [], "requests": [], "dialogs": []}
    page.on("console", lambda message: heard["console"].append(message.text))
    page.on("pageerror", lambda error: heard["console"].append(str(error)))
    page.on("request", lambda request: heard["requests"].append(request.url))
    page.on("dialog", lambda dialog: (heard["dialogs"].append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    page.wait_for_load_state(until)
    return page, heard


def test_nothing_runs_and_nothing_is_fetched(browser, path):
    page, heard = opened(browser, path, "networkidle")
    assert heard == {"console": [], "requests": [path.as_uri()], "dialogs": []}
    assert page.locator("script, img, iframe, object, embed, link, base, form").count() == 0
    assert page.locator("article").count() == 3
    page.close()


def test_the_style_sheet_is_allowed_by_the_policy_and_used(browser, path):
    page, _ = opened(browser, path)
    colour = page.locator(".pl-steps .pl-p16").first.evaluate("node => getComputedStyle(node).backgroundColor")
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
    page, heard = opened(browser, smuggled, "networkidle")
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
    methods = SideBySide({"occlusion": [sample_explanation("A fine film.", "occlusion", caveats=("Mind the gap.",))]})
    page, _ = opened(browser, report(methods, path=tmp_path / "page.html"))
    caution = page.locator(".pl-cautions p")
    assert not caution.is_visible()
    page.emulate_media(media="print")
    assert caution.is_visible()
    page.close()


def test_introductions_and_small_tables_are_not_cut_on_paper(browser, tmp_path):
    """A heading stands with its whole introduction, and a table of a few lines on one page of paper."""
    results = [sample_explanation("A fine film.", "occlusion", id="a")]
    page, _ = opened(browser, report(results, sample_table(), path=tmp_path / "page.html"))
    page.emulate_media(media="print")
    for part in ("h2 + .pl-lead", ".pl-scroll:has(table)", ".pl-card"):
        style = "part => getComputedStyle(part).breakInside"
        assert page.locator(part).first.evaluate(style) == "avoid", part
    page.close()


@pytest.fixture(scope="module")
def corpus_path(tmp_path_factory):
    """Sixty texts, ten of them folded; a hostile one, one from right to left."""
    results = (
        *sample_corpus(58),
        hostile_explanation(),
        sample_explanation("\u0641\u064a\u0644\u0645 \u0631\u0627\u0626\u0639", id="rtl"),
    )
    return report(Results(results), path=tmp_path_factory.mktemp("corpus") / "page.html")


@pytest.mark.parametrize("size", [(390, 844), (1200, 800)])
def test_the_first_picture_is_on_the_first_screen(browser, path, size):
    few = [sample_explanation("A fine film. " * 3, id="one"), sample_explanation("Dull.", id="two")]
    place = report(few, sample_table(), path=path.parent / "few.html", about={"texts": 2})
    page, _ = opened(browser, place, viewport={"width": size[0], "height": size[1]})
    picture = page.locator(".pl-text").first.bounding_box()
    assert picture["y"] + picture["height"] <= size[1]
    page.close()


@pytest.mark.parametrize("width", [390, 1200])
def test_a_page_of_many_texts_opens_quietly_and_fits(browser, corpus_path, width):
    page, heard = opened(browser, corpus_path, viewport={"width": width, "height": 800})
    assert heard == {"console": [], "requests": [corpus_path.as_uri()], "dialogs": []}
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_a_text_of_the_opening_leads_to_its_folded_card_and_opens_it(browser, corpus_path):
    page, _ = opened(browser, corpus_path)
    link = page.locator(".pl-example a").last
    card = page.locator(link.get_attribute("href"))
    assert not card.is_visible()
    link.click()
    card.wait_for(state="visible", timeout=5000)
    page.close()


# What style sheets of notebooks do to plain elements: JupyterLab's floats of terms, widths in per cent, margins, stripes.
NOTEBOOK_SHEET = """
.output dl dt{float:left;width:20%;clear:both;font-weight:bold} .output dl dd{float:left;width:80%}
.output p,.output ul,.output ol,.output dl,.output table{margin:0 0 2em} .output li{margin-bottom:1em}
.output h2,.output h3,.output h4{font-size:2em;margin:2em 0;line-height:2;word-break:break-all}
.output table{display:block;width:50%;table-layout:fixed;margin-left:3em}
.output td,.output th{text-align:right;max-width:6em;padding:1em;white-space:nowrap}
.output tbody tr:nth-child(odd){background:#eee} .output summary{display:block;margin:1em} .output svg{max-width:50%}
"""
# VS Code's: no borders, all to the left, striped rows, tables as wide as the cell.
VS_CODE_SHEET = """
.output :is(table,thead,tbody,tr,th,td){border:0 !important;border-collapse:collapse;border-spacing:0}
.output :is(table,tr,th){text-align:left !important} .output table{width:100%} .output :is(td,th){padding:4px 8px}
.output thead{font-weight:bold;background:#8883} .output tr:nth-child(even){background:#8882}
.output tbody th{font-weight:400}
"""
BOXES = """() => [...document.querySelectorAll('.pellucid :is(dt,dd,dl,h3,h4,table,th,td,p,li,summary)')].map(node => {
  const {x, y, width, height} = node.getBoundingClientRect(); const style = getComputedStyle(node);
  return [...[x, y, width, height].map(Math.round), style.textAlign, style.borderBottomWidth]})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_notebooks_style_sheet_moves_nothing(browser, tmp_path, scheme):
    results = sample_corpus(30)
    methods = SideBySide(
        {name: [sample_explanation(method=name)] for name in ("lime", "occlusion")}, {"relevance": "no"}
    )
    parts = [part._repr_html_() for part in (results, sample_table(), methods, results[0], results.words())]
    boxes = []
    for sheet in ("", NOTEBOOK_SHEET, VS_CODE_SHEET):
        place = tmp_path / "notebook.html"
        head = f"<!doctype html><meta charset=utf-8><style>{sheet}</style>"
        place.write_text(head + "".join(f"<div class=output>{part}</div>" for part in parts), encoding="utf-8")
        page, _ = opened(browser, place, color_scheme=scheme)
        boxes.append(page.evaluate(BOXES))
        page.close()
    assert len(boxes[0]) > 100 and boxes[0] == boxes[1] == boxes[2]


def test_numbers_are_reached_by_keyboard(browser, path):
    page, _ = opened(browser, path)
    after = "() => getComputedStyle(document.querySelector('article .pl-map .pl-u'), '::after').content"
    assert page.evaluate(after) == "none"
    page.locator("article .pl-numbers summary").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate(after) not in ("none", "normal")
    page.locator(".pl-of-table summary").focus()
    page.keyboard.press("Enter")
    cell = "() => getComputedStyle(document.querySelector('.pl-table td[title]'), '::after').content"
    assert "texts" in page.evaluate(cell)
    page.close()


def test_texts_from_right_to_left_are_read_so(browser, corpus_path):
    page, _ = opened(browser, corpus_path)
    direction = "node => getComputedStyle(node).direction"
    text = page.locator(".pl-text", has_text="\u0641\u064a\u0644\u0645").first
    assert text.evaluate(direction) == "rtl"
    assert page.locator(".pl-text", has_text="film number").first.evaluate(direction) == "ltr"
    page.close()


@pytest.mark.parametrize("width", [390, 1200])
def test_a_large_table_stays_in_its_box_and_its_first_column_in_sight(browser, tmp_path, width):
    metrics = [(f"metric_{number}", "higher") for number in range(8)]
    methods = (*(f"method_{number}" for number in range(16)), "chance")
    place = report([], sample_table(methods, metrics, ("metric_0",)), path=tmp_path / "table.html")
    page, _ = opened(browser, place, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator(".pl-scroll").first
    overflow = box.evaluate("node => node.scrollWidth - node.clientWidth")
    assert (overflow <= 0) == (width == 1200)
    box.evaluate("node => { node.scrollLeft = 200 }")
    first = page.locator(".pl-table tbody th").first.bounding_box()
    assert first["x"] < width / 4 and first["width"] < width / 2
    assert page.locator(".pl-panel").count() == 16 and page.locator(".pl-plot").count() == 16
    page.close()


def test_a_page_of_layers_fits_a_phone_and_paper_and_runs_nothing(browser, tmp_path):
    models = trained(HOSTILE), trained("x" * 200, 13)
    place = report_layers(LayerAnalysis(models, "nats", (HOSTILE,)), path=tmp_path / "layers.html")
    for width in (320, 500, 1280):
        page, heard = opened(browser, place, viewport={"width": width, "height": 900})
        assert heard == {"console": [], "requests": [place.as_uri()], "dialogs": []}
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
        rows = page.locator(".pl-layers tbody th").first
        assert rows.evaluate("one => getComputedStyle(one).position") == "sticky"
        page.close()
