"""Methods side by side: the same text in every row, one scale, families in order, agreement, what was left out."""

import numpy as np
import pytest

from pellucid.base.kinds import attributions
from pellucid.drawing.method_facts import (
    ATTENTION,
    BACKWARD,
    FLOOR,
    REMOVING,
    UNKNOWN,
    family_of,
    in_families,
    ordered,
)
from pellucid.explaining.report import write_page as report
from pellucid.explaining.views.corpus import notebook_side_by_side
from pellucid.explaining.views.summary import agreement, by_luck, spearman
from pellucid.explaining.views.terminal_side_by_side import terminal_side_by_side
from pellucid.results.side_by_side import SideBySide
from tests.drawing.test_escaping import harmless, hostile_explanation
from tests.shared.parsed import parsed
from tests.shared.sample_results import HOSTILE, sample_explanation

TEXT = "A fine, fine film."  # six units and two special tokens
SCORES = {
    "chance": [0, 3, 1, 4, 1, 5, 9, 0],
    "attention": [9, 1, 2, 3, 4, 5, 6, 9],
    "gradient": [9, 1, 2, 3, 4, 5, 6, 9],
    "integrated_gradients": [9, 1, 2, 3, 4, 5, -6, 9],
    "occlusion": [0, 0.1, 0.2, 0.3, 0.4, 0.5, -0.6, 0],
}


def side(left_out=(), **changes):
    by_method = {
        method: [sample_explanation(TEXT, method, scores=scores, **changes)] for method, scores in SCORES.items()
    }
    return SideBySide(by_method, dict(left_out))


def page_of(methods, tmp_path):
    whole = report(methods, path=tmp_path / "page.html").read_text(encoding="utf-8")
    return parsed(whole.removeprefix("<!doctype html>"))


def test_rows_stand_by_family_and_carry_the_whole_text(tmp_path):
    rows = list(page_of(side(), tmp_path).every(css_class="pl-row"))
    names = [next(row.every("bdi")).text for row in rows]
    assert names == ["occlusion", "gradient", "integrated gradients", "attention", "chance"]
    assert [next(row.every(css_class="pl-row-number")).text for row in rows] == list("12345")
    assert {next(row.every(css_class="pl-text")).text for row in rows} == {TEXT}


def test_each_row_is_divided_by_its_own_largest_score(tmp_path):
    rows = {next(row.every("bdi")).text: row for row in page_of(side(), tmp_path).every(css_class="pl-row")}
    for name, one in (("occlusion", "0.60"), ("integrated gradients", "6.00")):
        assert next(rows[name].every(css_class="pl-row-facts")).text.startswith(f"1 = {one}")
        classes = [unit.attributes["class"].split() for unit in rows[name].every(css_class="pl-u")]
        assert ["pl-u", "pl-n16", "pl-against"] in classes
        first = next(rows[name].every(css_class="pl-u")).attributes["title"]
        assert first.startswith("+0.17 (raw +")


def test_the_cost_has_the_numbers_of_the_settings(tmp_path):
    methods = side(settings={"n_steps": 32, "window": 3})
    rows = list(page_of(methods, tmp_path).every("figcaption"))
    assert rows[0].text == "1occlusioncosts about 1 run of the model a word"
    assert rows[2].text == "3integrated gradientscosts 32 runs of the model, with gradients"
    assert rows[4].text == "5chancecosts nothing"


def test_a_row_of_zeros_says_so(tmp_path):
    zeros = SideBySide({"occlusion": [sample_explanation(TEXT, "occlusion", scores=np.zeros(8))]})
    assert "all scores are 0" in page_of(zeros, tmp_path).text
    assert "nothing, all scores are 0" in terminal_side_by_side(zeros)


def test_checks_are_brief_and_cautions_fold_away(tmp_path):
    diagnostics = {"completeness_gap": 0.3, "standard_error": 0.1, "fit_r2": 0.5, "parity": 2e-6}
    methods = SideBySide(
        {
            "occlusion": [
                sample_explanation(TEXT, "occlusion", diagnostics=diagnostics, caveats=("Mind the gap.", "Twice."))
            ]
        }
    )
    root = page_of(methods, tmp_path)
    [facts] = root.every(css_class="pl-row-facts")
    assert "sum misses 30 %" in facts.text and "± 0.10" in facts.text and "stand-in fits 50 %" in facts.text
    [cautions] = facts.every("details")
    assert cautions.text == "⚠ 2 cautionsMind the gap.Twice." and "open" not in cautions.attributes
    assert "by at most 2e-06" in root.text.replace("\u2212", "-")
    printed = terminal_side_by_side(methods, width=200)
    assert "sum misses 30 %" in printed and "Caution: Mind the gap." in printed


def test_what_was_left_out_is_listed_with_the_reason(tmp_path):
    methods = side({"lime": 'not part of "all methods"; add it by name', "span_attention": "needs span_weights"})
    for text in (page_of(methods, tmp_path).text, terminal_side_by_side(methods, width=200)):
        assert (
            'not part of "all methods"; add it by name' in text and "needs span_weights" in text and "all,NAME" in text
        )
    assert "Left out" not in page_of(side(), tmp_path).text
    rare = dict.fromkeys(("rare", "rarer"), 'not part of "all methods"; add it by name')
    [listed] = page_of(side(rare), tmp_path).every(css_class="pl-left-out")
    assert listed.text == 'not part of "all methods"; add it by namerare, rarer'


def test_pairs_several_texts_spans_and_rows_of_draws_are_drawn(tmp_path):
    texts = [("One text.", "Another one."), "A third text, alone."]
    draws = {"rows": (("draw", ("0", "1")),), "settings": {}}
    methods = SideBySide(
        {
            "span_attention": [sample_explanation(text, "span_attention", spans=True, id=str(text)) for text in texts],
            "chance": [
                sample_explanation(
                    text, "chance", scores=np.random.default_rng(0).random((2, n)), id=str(text), **draws
                )
                for text, n in zip(texts, (9, 8), strict=True)
            ],
        }
    )
    root = page_of(methods, tmp_path)
    assert len(list(root.every("article"))) == 2 and len(list(root.every(css_class="pl-row"))) == 4
    assert "first draw of 2" in root.text
    assert [node.text for node in root.every(css_class="pl-text")][:2] == list(texts[0])


def test_a_text_of_many_pages_is_drawn_by_sentences(tmp_path):
    text = "A fine film. " * 300
    methods = SideBySide({m: [sample_explanation(text, m)] for m in ("occlusion", "gradient")})
    root = page_of(methods, tmp_path)
    row = next(root.every(css_class="pl-row"))
    assert "(raw " in next(row.every(css_class="pl-u")).attributes["title"]
    assert len(list(root.every(css_class="pl-overview"))) == 2
    assert all(unit.text.strip() == "A fine film." for unit in row.every(css_class="pl-u"))


def test_every_method_has_a_family():
    families = {name: family_of(name) for name in attributions.names()}
    assert UNKNOWN not in families.values()
    assert families["occlusion"] == REMOVING and families["gradient"] == BACKWARD
    assert families["attention"] == families["span_attention"] == ATTENTION and families["chance"] == FLOOR
    assert family_of("of_a_stranger(n=3)") == UNKNOWN


def test_the_order_of_the_page_is_the_order_of_the_terminal():
    methods = side()
    printed = terminal_side_by_side(methods, colour=False, width=200)
    names = [line[3:].partition("  (")[0] for line in printed.splitlines() if line[:2].strip().isdigit()]
    assert names == ["occlusion", "gradient", "integrated gradients", "attention", "chance"]
    assert [name.replace("_", " ") for name in ordered(list(methods))] == names
    of_text = [one.method for group in in_families(methods.by_text[0]).values() for one in group]
    assert of_text == ordered(list(methods))


def test_the_terminal_shades_the_text_where_it_has_colours():
    plain, shaded = (terminal_side_by_side(side(), colour=colour, width=200) for colour in (False, True))
    assert plain.count("\x1b[") == 0 and plain.count(TEXT) == 1
    assert shaded.count("\x1b[") > 50 and "“.” −1.00" in plain


def test_rank_correlations():
    up = np.array([1.0, 2.0, 3.0, 4.0])
    assert spearman(up, up**3) == pytest.approx(1) and spearman(up, -up) == pytest.approx(-1)
    assert spearman(up, np.array([1.0, 1.0, 2.0, 2.0])) == pytest.approx(0.894, abs=1e-3)  # ties share ranks
    for other in (np.ones(4), up[:2], np.arange(5.0)):
        assert np.isnan(spearman(up[: len(other)], other)) or len(other) == 5
    assert np.isnan(spearman(up, np.arange(5.0)))


def test_agreement_compares_signs_where_both_have_them_and_sizes_elsewhere():
    values = agreement(side())
    assert values["integrated_gradients", "occlusion"] == pytest.approx(1)
    assert values["integrated_gradients", "gradient"] == pytest.approx(1)  # sizes: 6 stands for -6
    assert values["attention", "gradient"] == pytest.approx(1)
    assert len(values) == 10 and ("gradient", "integrated_gradients") not in values


def test_the_matrix_is_a_lower_triangle_with_a_warning(tmp_path):
    root = page_of(side(), tmp_path)
    [matrix] = root.every(css_class="pl-matrix")
    rows = [[cell.text for cell in row.every("td")] for row in next(matrix.every("tbody")).every("tr")]
    assert [sum(bool(text) for text in row) for row in rows] == [1, 2, 3, 4]
    assert rows[1][0] == "1.00" and next(matrix.every("td", "pl-p16"))
    assert "Agreement is no evidence of truth" in root.text
    assert by_luck(side()).startswith("With 6 words") and "±0.88" in by_luck(side())


def test_hostile_methods_side_by_side_are_harmless(tmp_path):
    one = hostile_explanation()
    spans = hostile_explanation(spans=True)
    methods = SideBySide({HOSTILE: [one], "span_attention": [spans], "occlusion": [one]}, {HOSTILE: HOSTILE})
    whole = report(methods, path=tmp_path / "page.html", title=HOSTILE).read_text(encoding="utf-8")
    harmless(whole.removeprefix("<!doctype html>"))
    harmless(notebook_side_by_side(methods))
    printed = terminal_side_by_side(methods, colour=False, width=100)
    assert "\x1b" not in printed and "\u202e" not in printed


def test_side_by_side_draws_itself_and_is_a_mapping():
    methods = side()
    assert methods._repr_html_() == notebook_side_by_side(methods) and str(methods) == terminal_side_by_side(methods)
    assert list(methods) == list(SCORES) and len(methods) == 5 and methods == dict(methods.by_method)
    assert [one.method for one in methods.explanations] == list(SCORES)
