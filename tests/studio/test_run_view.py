"""The view of runs: what it filters is what a plain filter over the run gives, fifty rows a page, and no markup of a text."""

import hashlib
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadFile, BadInput, PellucidError
from pellucid.drawing.widgets import WIDGETS
from pellucid.explaining.views.class_words import class_words_view
from pellucid.results.class_words import class_words
from pellucid.studio.edits import edited_key
from pellucid.studio.frame import framed
from pellucid.studio.record import Studio
from pellucid.studio.row_choice import MOST_WORD, choice_of, fitting_rows
from pellucid.studio.run_rows import RIGHT, UNKNOWN, WRONG, opened_run
from pellucid.studio.views.run import ROWS, run
from pellucid.studio.views.text import text
from pellucid.studio.visit import Elsewhere, Page, Visit
from tests.drawing.test_escaping import OURS
from tests.shared.parsed import parsed
from tests.shared.sample_results import HOSTILE
from tests.studio.test_text_view import drawn

CLASSES = ["negative", "positive", "<b>odd</b>"]
WORDS = ("Good", "good.", "goods", "dull", "café", "映画館", "U+0041", "\\x{41}", "<script>alert(1)</script>")
UNREADABLE = 700
COUNT, LATER = 1100, 1050  # two shards


def chances(text, salt):
    """Probabilities that follow from the text."""
    if "same" in text or not text.strip():
        return [0.25, 0.5, 0.25]
    drawn_bytes = hashlib.blake2b(f"{salt}{text}".encode(), digest_size=3).digest()
    numbers = np.array([*drawn_bytes], float) // 32 + 1  # few values, so that many are equal
    return (numbers / numbers.sum()).tolist()


def answering(salt):
    def answer(texts):
        if any("unreadable" in text for text in texts):
            raise RuntimeError("this word has no <i>vector</i>")
        return [chances(text, salt) for text in texts]

    return pellucid.from_function(answer, CLASSES, name=f"model {salt}")


def example(row):
    same = row % 601 if row < LATER else row  # equal texts with other labels, and some that only the last shard has
    text = f"{WORDS[same % 9]} {WORDS[same // 9 % 9]} {same if same % 10 else 'same'}"
    text = "unreadable" if row == UNREADABLE else text
    return pellucid.Example((text,), [*CLASSES, "unknown", None][row * 7 % 5], id=f"{HOSTILE if row == 3 else ''}{row}")


@pytest.fixture(scope="module")
def models():
    return answering("one"), answering("two")


@pytest.fixture(scope="module")
def runs(models, tmp_path_factory):
    """The same texts, some of them equal but for their labels, by two models."""
    folder, examples = tmp_path_factory.mktemp("runs"), [example(row) for row in range(COUNT)]
    return {
        title: pellucid.explain_corpus(model, examples, "occlusion", folder=folder / title, progress=False)
        for title, model in zip(("first", "second"), models, strict=True)
    }


@pytest.fixture
def studio(models, runs):
    return Studio({"first model": models[0]}, runs)


def visit_of(studio, *path, **query):
    return Visit(studio, "run", path, query, reader="reader")


def page(studio, *path, **query):
    visit = visit_of(studio, *path, **query)
    answer = drawn(run, visit)
    assert isinstance(answer, Page)
    html = framed(visit, answer)
    for node in parsed(html.removeprefix("<!doctype html>")).every():
        assert node.tag in OURS | WIDGETS and not [key for key in node.attributes if key.startswith("on")]
    assert html.count("<script") == 1
    return html


def rows_on(html):
    return [int(row) for row in re.findall(r"run/first/(\d+)\?stored=1", html)]


def plainly(stored, **query):
    """The rows by a plain filter over the run, in the order of a report."""
    fits = []
    for row, shown in zip(stored.rows, stored, strict=True):
        word = query.get("word", "")
        end = r"(?!\w)" if word != "映画" else ""
        conditions = [
            query.get("answer", shown.answer) == shown.answer,
            query.get("label", shown.example.label) == shown.example.label,
            query.get("outcome", "") in ("", {True: "right", False: "wrong", None: "neither"}[shown.is_correct]),
            int(query.get("least", 0)) / 100 - 1e-7 <= shown.prediction.probability,
            shown.prediction.probability <= int(query.get("most", 100)) / 100 + 1e-7,
            query.get("caution", "") in ("", "with" if shown.caveats else "without"),
            not word or re.search(rf"(?<!\w){re.escape(word)}{end}", shown.example.text, re.IGNORECASE),
        ]
        if all(conditions):
            fits.append((int(row), shown))
    sure = {row: np.float32(shown.prediction.probability) for row, shown in fits}
    wrong = {row: shown.is_correct is False for row, shown in fits}
    keys = {"rows": lambda row: row, "unsure": lambda row: sure[row]}
    usual = lambda row: (not wrong[row], -sure[row] if wrong[row] else sure[row])  # noqa: E731
    return sorted(sure, key=keys.get(query.get("order", ""), usual))


NONE = ({"word": "a|b.*"},)


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"order": "rows"},
        {"order": "unsure", "outcome": "right"},
        {"outcome": "wrong"},
        {"answer": "positive", "label": "<b>odd</b>"},
        {"label": "unknown"},
        {"least": "50", "most": "60"},
        {"caution": "with"},
        {"caution": "without", "answer": "negative"},
        {"word": "good"},
        {"word": "CAFÉ", "outcome": "wrong"},
        {"word": "映画"},
        {"word": "\\x{41}"},
        {"word": "<script>alert(1)</script>"},
        {"word": "a|b.*"},
        {"word": "77", "order": "rows"},
    ],
    ids=str,
)
def test_a_choice_is_a_plain_filter_over_the_run(studio, runs, query):
    opened = drawn(lambda visit: opened_run(visit.studio, "first", "reader"), visit_of(studio, "first"))
    rows = fitting_rows(opened, None, choice_of(query), lambda *_: None).tolist()
    assert rows == plainly(runs["first"], **query)
    assert rows or query in NONE
    html = page(studio, "first", **query)
    assert rows_on(html) == rows[:ROWS]


@pytest.mark.parametrize(
    ("problem", "labels"), [("multi_label", ["a", "b"]), ("one_logit", ["a", "b"]), ("regression", ["stars"])]
)
def test_the_facts_of_rows_are_those_of_their_explanations(problem, labels, tmp_path):
    width = 2 if problem == "multi_label" else 1
    model = pellucid.from_function(
        lambda texts: [[len(text) % 7 / 7, len(text) % 5 / 5][:width] for text in texts], labels, problem=problem
    )
    examples = [pellucid.Example((f"{'x' * row} y",), "ab"[row % 2], id=str(row)) for row in range(12)]
    stored = pellucid.explain_corpus(model, examples, "occlusion", folder=tmp_path / "run", progress=False)
    facts = drawn(lambda visit: opened_run(visit.studio, "run", "me"), visit_of(Studio({}, {"run": stored}))).facts
    for row, shown in enumerate(stored):
        assert facts.names[facts.answers[row]] == shown.prediction.label
        np.testing.assert_equal(facts.probability[row], np.float32(shown.prediction.probability))
        assert facts.outcome[row] == {None: UNKNOWN, True: RIGHT, False: WRONG}[shown.is_correct]
        assert facts.cautions[row] == len(shown.caveats)
    assert page(Studio({}, {"first": stored}), "first").count('class="pl-line"') == 12


def test_pages_have_fifty_rows_and_together_all_of_them(studio, runs):
    first = page(studio, "first")
    assert first.count('class="pl-line"') == ROWS and "of 1,099 texts" not in first and "1,099 texts" in first
    rows = plainly(runs["first"], least="65")
    assert 2 * ROWS > len(rows) > ROWS
    second = rows_on(page(studio, "first", least="65", page="2"))
    assert rows_on(page(studio, "first", least="65")) + second == rows
    assert rows_on(page(studio, "first", least="65", page="999")) == second


def test_a_row_opens_as_a_text_of_its_model_or_as_it_was_explained(studio, runs):
    elsewhere = drawn(run, visit_of(studio, "first", "3"))
    assert isinstance(elsewhere, Elsewhere)
    key = re.fullmatch(r"\.\./\.\./text/([0-9a-f]{24})", elsewhere.address)[1]
    assert studio.requests[key].segments == runs["first"][3].example.segments
    assert studio.requests[key].model == "first model"
    assert studio.requests[key].example.label == runs["first"][3].example.label
    for path, query in ((("first", "3"), {"stored": "1"}), (("second", "3"), {})):  # its model is not open
        assert page(studio, *path, **query).count('class="pl-card"') == 1


def test_a_row_opened_as_a_text_keeps_its_label_and_the_way_back_to_its_list(studio, runs):
    wanted = {"outcome": "wrong", "answer": "positive", "page": "2"}
    html = page(studio, "first", **wanted)
    address = re.search(r'href="\.\./run/first/(\d+)\?answer=positive&amp;outcome=wrong&amp;page=2"', html)
    row = address[1]
    elsewhere = drawn(run, visit_of(studio, "first", row, **wanted))
    visit = Visit(studio, "text", (elsewhere.address.rpartition("/")[2],), reader="reader")
    of_text = framed(visit, drawn(text, visit))
    assert 'href="../run/first?answer=positive&amp;outcome=wrong&amp;page=2"' in of_text
    assert "✗ wrong, the label is" in of_text and runs["first"].of_rows([int(row)])[0].example.id in of_text
    form = {"text": [studio.requests[visit.path[0]].segments[0]], "method": ["chance"]}
    again = text(replace(visit, form=form))
    question = studio.requests[again.address.rpartition("/")[2]]
    assert (question.methods, question.label) == (("chance",), studio.requests[visit.path[0]].label)
    edited = text(replace(visit, form={**form, "text": ["Another text."]}))
    question = studio.requests[edited.address.rpartition("/")[2]]
    assert question.label is None and question.run == "first"
    key = edited_key(visit, visit.path[0], ["Another text."])
    assert studio.requests[key].label is None and studio.requests[key].run == "first"


def test_most_changed_first(studio, runs):
    html = page(studio, "first", beside="second")
    moved = {
        int(row): sum(
            abs(a - b) for a, b in zip(one.prediction.probabilities, two.prediction.probabilities, strict=True)
        )
        for row, one, two in zip(runs["first"].rows, runs["first"], runs["second"], strict=True)
    }
    shown = [moved[row] for row in rows_on(html)]
    np.testing.assert_allclose(shown, sorted(moved.values(), reverse=True)[:ROWS], atol=1e-6)
    assert html.count("<h4>") == 2 * ROWS and " → " in html


def test_the_words_of_a_choice_are_those_of_its_rows(studio, runs):
    html = page(studio, "first", label="positive", show="words")
    rows = plainly(runs["first"], label="positive", order="rows")
    assert class_words_view(class_words(runs["first"].of_rows(rows))).text in html


def test_failures_are_listed_with_reasons(studio):
    html = page(studio, "first", show="failures")
    assert "this word has no &lt;i&gt;vector&lt;/i&gt;" in html and f"<bdi>{UNREADABLE}</bdi>" in html


def test_a_run_that_is_not_finished_shows_what_is_there_and_then_the_rest(studio, runs, tmp_path):
    shutil.copytree(runs["first"].path, tmp_path / "half")
    receipt = tmp_path / "half" / "shards" / "00001.json"
    content = receipt.read_bytes()
    receipt.unlink()
    growing = replace(studio, runs={"first": pellucid.open_run(tmp_path / "half")}, open_runs={})
    assert "50 % computed of 1,100" in page(growing)
    assert LATER - 1 <= len(growing.runs["first"]) < COUNT - 1
    assert f"{len(growing.runs['first']):,} texts" in page(growing, "first")
    receipt.write_bytes(content)
    growing.open_runs["first"].read = 0.0  # a while ago
    assert "1,099 texts" in page(growing, "first")


def test_shards_that_do_not_say_what_they_should_end_in_a_sentence(studio, runs, tmp_path):
    shutil.copytree(runs["first"].path, tmp_path / "damaged")
    shard = tmp_path / "damaged" / "shards" / "00000.parquet"
    shard.write_bytes(shard.read_bytes()[:5000])
    damaged = replace(studio, runs={"first": pellucid.open_run(tmp_path / "damaged")}, open_runs={})
    with pytest.raises(BadFile, match="damaged"):
        page(damaged, "first")


@pytest.mark.parametrize(
    ("path", "query", "sentence"),
    [
        (("third",), {}, "No run is called 'third'"),
        (("first", "1100"), {}, "has rows 0 to 1,099"),
        (("first", "-1"), {}, "has rows 0 to 1,099"),
        (("first", str(UNREADABLE)), {}, "no explanation of row"),
        (("first",), {"order": "drop table"}, "none of"),
        (("first",), {"least": "٣"}, "no per cent"),
        (("first",), {"most": "1000"}, "no per cent"),
        (("first",), {"page": "x"}, "no whole number"),
        (("first",), {"word": "x" * (MOST_WORD + 1)}, f"give {MOST_WORD} or fewer"),
        (("first",), {"beside": "third"}, "No run is called"),
    ],
    ids=str,
)
def test_a_bad_address_ends_in_a_sentence(studio, path, query, sentence):
    with pytest.raises(PellucidError, match=re.escape(sentence)):
        page(studio, *path, **query)


def test_runs_of_other_texts_do_not_stand_beside_each_other(studio, models, tmp_path):
    third = pellucid.explain_corpus(models[1], ["Good.", "Dull."], "occlusion", folder=tmp_path / "run", progress=False)
    with pytest.raises(BadInput, match="different texts"):
        page(replace(studio, runs={**studio.runs, "third": third}, desks={}), "first", beside="third")


def test_a_run_by_several_methods_has_a_line_a_text(models, tmp_path):
    texts = [example(row) for row in range(40)]
    several = pellucid.explain_corpus(
        models[0], texts, ["occlusion", "chance"], folder=tmp_path / "several", progress=False
    )
    single = pellucid.explain_corpus(models[0], texts, "occlusion", folder=tmp_path / "single", progress=False)
    studio = Studio({"one": models[0]}, {"several": several, "single": single})
    assert page(studio, "several").count('class="pl-line"') == 40
    assert rows_on(page(studio, "several")) == rows_on(page(studio, "single"))
