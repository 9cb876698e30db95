"""The page, the print and the command of concepts: every number stands there, and no text becomes markup."""

import json

import numpy as np
import pytest

import pellucid
from pellucid.layers.concept_analysis import ConceptAnalysis, ConceptDensity
from pellucid.text.lexicon import Concept
from tests.drawing.test_escaping import harmless
from tests.hostile.command_line import run
from tests.shared.parsed import parsed
from tests.shared.sample_results import HOSTILE, sample_explanation
from tests.shared.tiny import LABELS, save_tiny


def analysed(concept="praise", **changes):
    remaining = np.array([[1.25, 7.5], [0.0, 8.75]])
    densities = tuple(
        ConceptDensity(name, np.array([11.5, 12.5]), remaining - 20, remaining) for name in ("gaussian", "substitution")
    )
    text = changes.pop("text", "one two three")
    concepts = (Concept(concept, ("good",)), Concept("blame", ("bad", "dull")))
    explanation = sample_explanation(text, "retained_information")
    return ConceptAnalysis(explanation, 0, 0, 3, concepts, (0, 1), densities, 20, ("A caveat.",))


SHOWN = ("praise", "blame", "1.25", "7.50", "8.75", "6", "11.5", "12.5", "–", "A caveat.")


def test_every_number_stands_on_the_page_and_in_the_print(tmp_path):
    page = pellucid.report(analysed(), path=tmp_path / "page.html").read_text(encoding="utf-8")
    shown = parsed(page.removeprefix("<!doctype html>")).text
    for fact in SHOWN:
        assert fact in shown, fact
        assert fact in str(analysed()), fact
    assert "<polyline" in analysed()._repr_html_()


def test_substitution_comes_first_and_its_smallest_r_names_the_nearest_concept(tmp_path):
    analysis = analysed()
    smallest = analysis.density("substitution").remaining[-1].argmin()
    page = pellucid.report(analysis, path=tmp_path / "page.html").read_text(encoding="utf-8")
    for shown in (parsed(page.removeprefix("<!doctype html>")).text, " ".join(str(analysis).split())):
        assert f"nearest concept by substitution is {analysis.concepts[smallest].name}:" in shown
        assert shown.index("r by substitution") < shown.index("r by gaussian")
    assert f"<title>What the layers hold of “{analysis.word}”</title>" in page


def test_hostile_names_and_texts_become_no_markup(tmp_path):
    analysis = analysed(HOSTILE, text=HOSTILE)
    page = pellucid.report(analysis, path=tmp_path / "page.html").read_text(encoding="utf-8")
    harmless(page.removeprefix("<!doctype html>"))
    assert "\x1b" not in str(analysis)


def test_no_number_takes_the_place_of_the_labels():
    """An r of rounding beside a true one is no divisor, and a large number is written short."""
    strange = analysed()
    strange.densities[1].remaining[:] = [[1.25, 7.5], [5e-29, 8.75]]
    assert np.isnan(strange.densities[1].contrast[1])
    strange.densities[0].remaining[:] = [[1e29, 1e29], [1e29, 2e29]]
    shown = str(strange)
    assert all(label in shown for label in ("layer", "A of the word", "praise", "blame", "largest ÷ smallest"))
    assert max(len(word) for word in shown.split() if "─" not in word) < 20 and "1e+29" in shown


def test_contrast_is_a_quotient_where_all_are_above_0():
    assert analysed().densities[0].contrast.tolist()[0] == 6
    assert analysed().record()["densities"]["gaussian"]["contrast"] == [6.0, None]


def test_the_page_begins_with_the_whole_text_in_the_colours_of_the_deepest_layer(tmp_path):
    analysis = analysed()
    page = pellucid.report(analysis, path=tmp_path / "page.html").read_text(encoding="utf-8")
    opening = page[page.index("<main") : page.index("<section")]
    assert "pl-example" in opening and f"layer {analysis.layers[-1]} holds of each word" in opening
    assert opening.count('class="pl-p') >= 2 and "1 text" in opening and "not why the model answered" in opening


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return str(save_tiny(tmp_path_factory.mktemp("bert"), "bert", LABELS))


def test_the_command_prints_json_and_writes_a_page(saved, tmp_path):
    lists, page = tmp_path / "lists.txt", tmp_path / "page.html"
    lists.write_text("praise: fine, good\nblame: dull\n", encoding="utf-8")
    words = [
        "concepts",
        saved,
        "A lovely film.",
        "--word",
        "lovely",
        "--layer",
        "1",
        "--concepts",
        str(lists),
    ]
    status, out, err = run([*words, "--json", "--html", str(page)])
    assert status == 0, err
    record = json.loads(out)
    assert (record["word"], record["layers"], list(record["concepts"])) == (
        "lovely",
        [1],
        ["praise", "blame"],
    )
    assert "lovely" in page.read_text(encoding="utf-8")
    status, out, _ = run([*words, "--name", "blame"])
    assert status == 0 and "blame" in out and "praise" not in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--word", "film", "--layer", "9"], "layer=9 is no layer of"),
        (["--word", "film", "--layer", "first"], "--layer 'first' is not possible"),
        (["--word", "movie"], "'movie' is no word of the text"),
        (["--word", "a", "--layer", "0"], "add --start 0 or another"),
        (["--word", "film", "--concepts", "nowhere.txt"], "There is no file or folder 'nowhere.txt'"),
    ],
)
def test_the_command_refuses_in_one_sentence(saved, words, sentence):
    status, out, err = run(["concepts", saved, "a film, a play", *words])
    assert (status, out) == (2, "")
    assert sentence in err and err.count("\n") == 1
