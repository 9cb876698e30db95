"""Words that the model cannot read: hatched in every view, counted in summaries, comparisons and files."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import pellucid
from pellucid.attacks.views import attempt_card
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import renderers
from pellucid.explaining.views.side_by_side import side_by_side_sections
from pellucid.explaining.views.terminal_explanation import UNREAD
from pellucid.run.diagnostics import with_facts_on_reading
from pellucid.text.reading import NOTHING_READ, ReadWords
from pellucid.text.units import Spans, Units
from tests.shared.tiny import tiny_classifier, tiny_composed

SOME, NONE, ALL = "I like the ☃☂ soup.", "ภาษาไทยดีมาก.", "A good film."
CAUTION = "The model cannot read 1 of 5 words: “☃☂”."


@pytest.fixture(scope="module")
def model():
    return tiny_classifier("bert")


@pytest.fixture(scope="module")
def results(model):
    return pellucid.explain(model, [SOME, NONE, ALL], "occlusion", progress=False)


def hatched(html):
    """The texts with a hatch, without the sample in the legend."""
    return [text for classes, text in re.findall(r'<i class="([^"]*)"[^>]*>([^<]*)', html) if "pl-unread" in classes]


def coloured(html):
    return re.findall(r'<i class="[^"]*pl-[pn]\d', html)


def test_pages_hatch_what_cannot_be_read(results, tmp_path):
    page = pellucid.report(results, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert hatched(page) == ["☃☂", "ภาษาไทยดีมาก"]
    assert page.count(CAUTION) == 1 and page.count(NOTHING_READ) == 1
    assert "a word that the model cannot read" in page  # the legend
    known = pellucid.report(results[2:], path=tmp_path / "known.html").read_text(encoding="utf-8")
    assert not hatched(known) and "a word that the model cannot read" not in known


@pytest.mark.parametrize("draw", ("to_html", "to_svg"))
def test_a_text_that_cannot_be_read_has_no_colours(results, draw):
    some, none = (getattr(results[index], draw)() for index in (0, 1))
    if draw == "to_html":
        assert coloured(some) and not coloured(none) and hatched(none) == ["ภาษาไทยดีมาก"]
        assert none.index(NOTHING_READ) < none.index("ภาษาไทยดีมาก</i>")
    else:
        boxes = [len(re.findall("<rect", svg)) for svg in (some, none)]
        assert boxes[0] > 1 and boxes[1] == 1  # the paper alone
        assert "<line" in some and "<line" in none and "<line" not in results[2].to_svg()


def test_what_cannot_be_read_is_not_emphasised(results):
    """Emphasis says which word mattered; the score of an unknown word is that of any unknown word."""
    scores = np.where(np.array(results[0].units.labels) == "☃☂", 2.0, results[0].scores)
    html = replace(results[0], scores=scores).to_html()
    (classes,) = re.findall(r'<i class="([^"]*pl-unread[^"]*)"', html)
    assert "pl-p16" in classes and "pl-for" not in classes


def test_spans_are_drawn_over_the_hatch():
    explanations = pellucid.explain(tiny_composed("span"), [SOME, NONE], progress=False)
    some, none = (explanation.to_html() for explanation in explanations)
    assert hatched(some) == ["☃☂"] and NOTHING_READ in none and '<i class="pl-span' not in none
    drawn = re.sub(r"<[^>]*>", "", re.search(r'<div class="pl-text".*?</div>', some)[0])
    assert drawn == SOME  # cutting spans at words loses nothing


@pytest.mark.parametrize("colour", (True, False))
def test_a_terminal_has_a_sign_before_them(results, colour):
    draw = renderers.get("terminal_text").make
    some, none, known = (draw(explanation, colour=colour, width=200) for explanation in results)
    assert re.search(r"\[\?\](\x1b\[[\d;]*m|\[[+-]+\])*☃☂", some) and UNREAD in some and CAUTION in some
    assert "[+" not in none.split("Strongest")[0] and "nothing, the model can read no word" in none
    assert none.index(NOTHING_READ) < none.index("[?]")
    assert "[?]" not in known


@pytest.mark.filterwarnings("ignore:Glyph")
def test_figures_hatch_them(results):
    for explanation, count in zip(results, (1, 1, 0), strict=True):
        patches = explanation.plot().axes[0].patches
        assert sum(bool(patch.get_hatch()) for patch in patches) == count


def test_methods_side_by_side_say_it_once(model):
    methods = pellucid.explain_all(model, SOME, ["gradient", "occlusion"], progress=False)
    page = side_by_side_sections(methods)[0].body.text
    assert hatched(page) == ["☃☂", "☃☂"] and page.count(CAUTION) == 1
    assert str(methods).count(CAUTION[:30]) == 1 and "[?]☃☂" in str(methods)


def test_words_as_bytes_are_counted_and_not_hatched():
    methods = pellucid.explain_all(tiny_classifier("gpt2"), SOME, ["gradient", "occlusion"], progress=False)
    sentence = "The model reads 2 words, or parts of them, only as bytes."
    views = [side_by_side_sections(methods)[0].body.text, str(methods)]
    views += [methods["gradient"][0].to_html(), str(methods["gradient"][0])]
    assert [" ".join(view.split()).count(sentence) for view in views] == [1] * 4
    assert not hatched(views[0]) and "cannot read" not in views[3]


def test_a_summary_counts_the_texts_and_names_the_worst(model):
    texts = [
        pellucid.Example((text,), id=f"{place}-{n}") for n in range(4) for place, text in enumerate([SOME, NONE, ALL])
    ]
    summary = pellucid.explain(model, texts, "occlusion", progress=False).summary()
    assert summary.unread.n_texts == 12 and summary.unread.n_wholly == 4
    assert [share for _, share in summary.unread.worst] == [1.0] * 4 + [0.2] * 4
    ((sentence, ids),) = [(text, ids) for text, ids in summary.cautions.items() if "read" in text]
    assert sentence == "The model cannot read some words of 8 of 12 texts (67 %), and no word of 4."
    assert ids[:5] == ("1-0", "1-1", "1-2", "1-3", "0-0")
    assert sentence[:40] in summary._repr_html_() and sentence[:40] in str(summary)
    in_bytes = pellucid.explain(tiny_classifier("gpt2"), texts, "occlusion", progress=False).summary()
    assert not in_bytes.unread.worst
    assert any("only as bytes" in text and len(ids) == 8 for text, ids in in_bytes.cautions.items())


def test_a_comparison_says_it(model):
    table = pellucid.compare(
        model, [SOME, NONE, ALL], ["occlusion"], ["comprehensiveness"], resamples=20, progress=False
    )
    assert table.about["texts_with_unread_words"] == "2 of 3, 1 wholly"
    assert table.caveats[0].startswith(
        "The model cannot read some words of 2 of 3 texts (67 %), and no word of 1; worst: "
    )
    known = pellucid.compare(model, [ALL] * 3, ["occlusion"], ["comprehensiveness"], resamples=20, progress=False)
    assert "texts_with_unread_words" not in known.about and "cannot read" not in known.caveats[0]


@pytest.mark.parametrize("ending", ("json", "parquet"))
def test_saved_explanations_keep_it(results, tmp_path, ending):
    pellucid.save(results, tmp_path / f"results.{ending}")
    again = pellucid.read(tmp_path / f"results.{ending}")
    assert again == results and [explanation.unread() for explanation in again] == [["☃☂"], ["ภาษาไทยดีมาก"], []]
    if ending == "json":
        whole = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
        whole["explanations"][0]["unit_reading"][0] = "unheard"
        (tmp_path / "results.json").write_text(json.dumps(whole), encoding="utf-8")
        with pytest.raises(pellucid.PellucidError, match="unheard"):
            pellucid.read(tmp_path / "results.json")


def test_spans_of_which_it_is_not_known_what_can_be_read_are_drawn_without_hatch(results):
    """Such as spans that another program extracted: their parts are no words of the model."""
    part = Units("span", ("the ☃☂",), (0,), (7,), (13,))
    spans = Spans(part, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    extracted = replace(results[0], units=spans, scores=np.ones(1))
    assert "the ☃☂" in extracted.to_html() and not hatched(extracted.to_html())
    with pytest.raises(BadSetting, match="cannot be split"):
        extracted.words()


def test_tables_have_a_column_of_them(results, tmp_path):
    assert results.data_frame()["unread"].tolist() == [["☃☂"], ["ภาษาไทยดีมาก"], []]
    frame = pellucid.to_data_frame(results)
    assert frame[frame.reading == "none"].text.tolist() == ["☃☂", "ภาษาไทยดีมาก"]
    pellucid.write_csv(results, tmp_path / "results.csv")
    with (tmp_path / "results.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["words_unread"] for row in csv.DictReader(file)] == ["☃☂", "ภาษาไทยดีมาก", ""]


def test_a_sentence_is_unread_where_all_its_words_are(results):
    """Whether or not the model knows the full stop."""
    some, none = (results[index].sentences() for index in (0, 1))
    assert [units.readings[index] for units in (some.units, none.units) for index in units.content] == ["part", "none"]
    assert (some.unread(), none.unread()) == ([], [NONE])


def test_a_strong_caution_stands_with_each_text(model, tmp_path):
    """Also where all texts of a page have it; other cautions that all have are folded above them."""
    results = pellucid.explain(model, [NONE, NONE[:-2]], "occlusion", progress=False)
    page = pellucid.report(results, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count(NOTHING_READ) == 2 and "Cautions about" not in page


def test_rows_with_facts_of_their_own_have_it_too(results):
    rows = (("layer", ("1", "2")),)
    own = replace(results[2], scores=np.stack([results[2].scores] * 2), rows=rows)
    own = replace(own, row_diagnostics=({}, {}), row_caveats=((), ()))
    read = with_facts_on_reading(own, ReadWords(2, ("good", "film")))
    assert read.row("2").is_unread and read.row("1").caveats == (NOTHING_READ,)


def test_words_that_a_model_cannot_read_are_hatched_in_attacked_texts_too(bert, tmp_path):
    """Before the edits and after them, where they have moved; a file keeps their places."""
    attempts = pellucid.attack(bert, ["A good film 日本語 zzqx and a dull plot."], "deepwordbug", progress=False)
    assert attempts[0].unread == ((0, 12, 15),) and attempts[0].edits
    attempts.save(tmp_path / "attempts.json")
    assert pellucid.read(tmp_path / "attempts.json") == attempts
    card = str(attempt_card(attempts[0]))
    assert card.count('class="pl-unread"') == 2 and card.count(">日本語</i>") == 2
