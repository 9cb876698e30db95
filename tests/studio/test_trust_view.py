"""The view of trust: its numbers are those of `compare`, its line those of its table, and readers need not wait for it."""

import re
import threading
from dataclasses import replace
from html import escape

import pytest

import pellucid
from pellucid.base.errors import BadInput, PellucidError
from pellucid.drawing.method_facts import readable
from pellucid.drawing.table_view import table_view
from pellucid.results.interval import Advice, Interval, TrustCard
from pellucid.results.table import CHANCE
from pellucid.studio.frame import framed
from pellucid.studio.measurement import STEP, texts_of
from pellucid.studio.record import Studio
from pellucid.studio.trust_line import by_lead, is_believed, trust_line
from pellucid.studio.views.trust import trust
from pellucid.studio.visit import Elsewhere, Page, Visit
from pellucid.studio.work import StillComputing
from tests.shared.sample_results import HOSTILE, sample_table
from tests.studio.test_text_view import drawn

TEXTS = ["A good film.", "Not good.", "Dull, so dull.", "Good!", "A dull end."]
METHODS = ("occlusion", "lime")


def answer(texts):
    return [[0.1, 0.9] if "good" in text.lower() else [0.8, 0.2] for text in texts]


@pytest.fixture(scope="module")
def model():
    return pellucid.from_function(answer, ["negative", "positive"], name="words")


@pytest.fixture
def studio(model):
    return Studio({HOSTILE: model}, data=[pellucid.Example((text,)) for text in TEXTS], data_name=f"data {HOSTILE}")


def visit_of(studio, form=None, **query):
    form = (
        None if form is None else {name: value if isinstance(value, list) else [value] for name, value in form.items()}
    )
    return Visit(studio, "trust", (HOSTILE,), query, form, reader="reader")


def page(studio, **query):
    visit = visit_of(studio, **query)
    answered = drawn(trust, visit)
    assert isinstance(answered, Page)
    html = framed(visit, answered)
    assert "<script>alert" not in html and "<img" not in html and html.count("<script") == 1
    return html


def measured(studio):
    """Measure by the form; returns how far it was when another reader's question was answered meanwhile."""
    form = {"do": "measure", "data": studio.data_name, "texts": "5", "methods": list(METHODS)}
    assert isinstance(drawn(trust, visit_of(studio, form)), Elsewhere)
    measurement = studio.measurements[HOSTILE]
    done = studio.desks[HOSTILE].answer("short", "another", lambda _: measurement.job.done, patience=60)
    assert measurement.job.finished.wait(60) and not measurement.error
    return done


def test_a_measurement_is_a_comparison_and_lets_questions_between(studio, model):
    assert "Measure it" in page(studio) and not studio.desks[HOSTILE]._jobs, "opening the page measures texts"
    wish = {"data": studio.data_name, "texts": "5", "methods": ",".join(METHODS)}
    assert "Measure it (" in page(studio, **wish)
    assert measured(studio) <= STEP < len(TEXTS)
    table, expected = studio.comparisons[model.hash], pellucid.compare(model, TEXTS, METHODS, progress=False)
    assert [(cell.method, cell.metric, cell.n) for cell in table.cells] == [
        (cell.method, cell.metric, cell.n) for cell in expected.cells
    ]
    for cell, whole in zip(table.cells, expected.cells, strict=True):
        assert cell.value.mean == pytest.approx(whole.value.mean, abs=1e-9, nan_ok=True)
    assert table.card == expected.card
    html = page(studio)
    assert table_view(table).text in html


def test_the_line_has_the_numbers_of_the_table(studio, model):
    table = studio.comparisons[model.hash] = pellucid.compare(model, TEXTS, METHODS, progress=False)
    for method in METHODS:
        sentence, _ = trust_line(studio, HOSTILE, [method])
        metric, mean, chance, count = re.search(
            r"\((.+): ([\d.-]+) against ([\d.-]+) for random words, (\d+) texts\)", sentence
        ).groups()
        cells = {cell.method: cell for cell in table.cells if readable(cell.metric) == metric}
        assert (mean, chance) == (f"{cells[method].value.mean:.2f}", f"{cells[CHANCE].value.mean:.2f}")
        assert int(count) == cells[method].n
    assert trust_line(studio, HOSTILE, ["gradient"])[0].startswith("Not measured for this model: gradient.")
    assert escape(trust_line(studio, HOSTILE, ())[0]) in page(studio)


def test_the_line_names_the_best_measured_method_where_there_is_no_verdict(studio, model):
    table = sample_table(methods=("lime", "occlusion", "chance"))
    better = [replace(cell, over_chance=Interval(0.1, 0.0, 0.2)) for cell in table.cells if cell.method == "occlusion"]
    worse = [replace(cell, over_chance=Interval(-0.1, -0.2, 0.1)) for cell in table.cells if cell.method == "lime"]
    flipped = [
        cell if cell.better == "higher" else replace(cell, over_chance=Interval(-cell.over_chance.mean, -0.2, 0.2))
        for cell in (*worse, *better)
    ]
    chance = [cell for cell in table.cells if cell.method == "chance"]
    few = {**table.about, "examples": 20}
    studio.comparisons[model.hash] = replace(table, cells=(*flipped, *chance), about=few, card=None)
    assert by_lead(studio.comparisons[model.hash]) == ["occlusion", "lime"]
    for methods in ((), ("gradient",), METHODS):
        line = trust_line(studio, HOSTILE, methods)[0]
        assert "No verdict, that takes 100 texts or more. Occlusion, the best measured method, is better than" in line
        assert line.startswith("Not measured for this model: gradient.") == (methods == ("gradient",))


def test_a_line_is_green_only_where_a_method_is_advised():
    table = sample_table()
    advised = replace(table, card=TrustCard("words", 200, (Advice("use", ("occlusion",), "occlusion."),), ""))
    assert is_believed(advised, ["occlusion"]) and is_believed(advised, ())
    assert not is_believed(advised, ["lime"]) and not is_believed(None, ())
    assert not is_believed(replace(table, card=TrustCard("words", 20, (), "")), ["occlusion"])


def test_without_texts_the_page_says_how_to_get_some(model):
    empty = Studio({HOSTILE: model})
    assert "start the studio with --data" in page(empty)
    assert trust_line(empty, HOSTILE, ())[1] == "How to measure it"


def test_texts_of_a_run_measure_its_model(studio, model, tmp_path):
    run = pellucid.explain_corpus(model, TEXTS, "occlusion", folder=tmp_path / "run", progress=False)
    assert [example.text for example in texts_of(run, 3)] == [TEXTS[0], TEXTS[1], TEXTS[3]]
    other = pellucid.explain_corpus(
        pellucid.from_function(lambda texts: [[0.5, 0.5]] * len(texts), ["a", "b"], name="second"),
        TEXTS,
        "occlusion",
        folder=tmp_path / "other",
        progress=False,
    )
    html = page(Studio({HOSTILE: model}, {"mine": run, "theirs": other}))
    assert '<option value="mine" selected>' in html and "theirs" not in html


def test_a_measurement_that_fails_or_is_stopped_says_so(studio, model):
    lock = threading.Event()
    form = {"do": "measure", "data": studio.data_name, "texts": "5", "methods": ["occlusion"]}
    with pytest.raises(StillComputing):
        studio.desks[HOSTILE].answer("long", "another", lambda _: lock.wait(60), patience=0)
    drawn(trust, visit_of(studio, form))
    with pytest.raises(BadInput, match="being measured already: 0 of 5 texts"):
        trust(visit_of(studio, form))
    assert "Stop measuring" in page(studio) and 'http-equiv="refresh"' in page(studio)
    drawn(trust, visit_of(studio, {"do": "stop"}))
    lock.set()
    assert studio.measurements[HOSTILE].job.finished.wait(60)
    assert model.hash not in studio.comparisons
    studio.measurements[HOSTILE].error = "a <b>reason</b>"
    assert "The last measurement ended: a &lt;b&gt;reason" in page(studio)


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"methods": []}, "0 methods were chosen"),
        ({"methods": ["chance"]}, "No method of this model is called 'chance'"),
        ({"texts": "many"}, "How many texts?"),
        ({"texts": "0"}, "0 texts cannot be measured"),
        ({"texts": "999999999"}, "999,999,999 texts cannot be measured"),
        ({"data": "/etc/passwd"}, "No data of this studio is called '/etc/passwd'"),
    ],
    ids=str,
)
def test_a_bad_form_ends_in_a_sentence(studio, form, sentence):
    usual = {"do": "measure", "data": studio.data_name, "texts": "5", "methods": ["occlusion"]}
    with pytest.raises(PellucidError, match=re.escape(sentence)):
        trust(visit_of(studio, usual | form))
