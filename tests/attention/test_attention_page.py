"""The page of an attention analysis: the verdict stands first, every number is there, hostile names are harmless."""

from dataclasses import replace

import pytest

import pellucid
from pellucid.attention.figure import units_figure
from pellucid.attention.record import AttentionAnalysis
from pellucid.base.errors import BadInput
from tests.shared.attention_samples import WORDS, sample_attention, with_adversary
from tests.shared.parsed import parsed
from tests.shared.sample_results import HOSTILE, sample_table
from tests.shared.tiny import tiny_composed


def page_of(analysis, folder):
    return pellucid.report(analysis, path=folder / "a.html", title="Attention").read_text(encoding="utf-8")


def test_the_verdict_stands_first_with_its_lines(tmp_path):
    text = parsed(page_of(sample_attention(), tmp_path)).text
    assert text.index("The weights of one may be read as an explanation") < text.index("Each number is the mean")
    assert "The weights of two may not be read as an explanation" in text
    assert "for: above 0.10; against: below 0.05" in text and "200 texts" in text and "3 texts of fewer" in text


def test_every_number_stands_with_its_interval_and_meaning(tmp_path):
    text = parsed(page_of(sample_attention(), tmp_path)).text
    for part in (
        "0.280 to 0.320",
        "What median_change says.",
        "draws ± 0.010",
        "A caveat.",
        "Irrelevant weights: 0.",
    ):
        assert part in text
    assert "can be wrong together" in text and "imitates its mistakes" in text


def test_the_settings_of_every_test_stand_with_its_source_and_the_seed(tmp_path):
    analysis = sample_attention()
    first = analysis.models[0]
    lines = (*first.lines[:2], replace(first.lines[2], settings={"n_permutations": 10, "seed": 3}))
    analysis = replace(analysis, models=(replace(first, lines=lines),), about={"texts": 203, "seed": 3})
    text = parsed(page_of(analysis, tmp_path)).text
    shown = text[text.index("How each test was done") :]
    assert "Seed of all draws: 3." in shown and "n_permutations = 10" in shown
    assert "Jain & Wallace (2019)" in shown and "Serrano & Smith (2019)" in shown


def test_units_are_drawn_with_a_line_a_model_and_the_own_answer_dotted(tmp_path):
    page = page_of(sample_attention(), tmp_path)
    assert page.count("pl-own") >= 2 and all(f">{word}</text>" in page for word in WORDS)
    other = page_of(sample_attention(words=("Another", "text")), tmp_path)
    assert other.count('class="pl-own"') == 1  # the second model has other units there


def test_hostile_names_are_escaped(tmp_path):
    words = ("<script>alert(1)</script>", HOSTILE, "")
    analysis = sample_attention(name=HOSTILE, words=words, text=HOSTILE, classes=(HOSTILE, "<b>"))
    page = page_of(analysis, tmp_path)
    assert "<script" not in page and "<b>" not in page
    assert "<script" not in analysis._repr_html_()
    assert str(analysis)


def test_a_table_does_not_go_with_it(tmp_path):
    with pytest.raises(BadInput, match=r"page “Can attention be believed\?” has no comparison"):
        pellucid.report(sample_attention(), sample_table(), path=tmp_path / "a.html")


def test_the_terminal_says_the_verdict_first():
    printed = str(sample_attention())
    assert printed.startswith("The weights of one may be read as an explanation: the answer hangs")
    assert "permuted: 0.100 (0.050 to 0.150), n = 200, draws ± 0.010" in " ".join(printed.split())


def test_the_adversary_is_a_curve_and_stands_in_no_table(tmp_path):
    analysis = sample_attention()
    drawn = AttentionAnalysis((with_adversary(analysis.models[0]), analysis.models[1]))
    page = page_of(drawn, tmp_path)
    text = parsed(page).text
    assert "Other weights, the same answers" in text and "λ = 0.1" in page
    assert "Other weights, the same answers" not in parsed(page_of(analysis, tmp_path)).text
    assert "imitation adversary, λ = 1: divergence of the weights 0.500, distance of the answers 0.250" in " ".join(
        str(drawn).split()
    )


def test_words_that_the_model_cannot_read_are_hatched_in_plots_and_figures(tmp_path):
    plain = sample_attention()
    first = plain.models[0]
    unread = replace(plain, models=(replace(first, plots=(replace(first.plots[0], unread=(1,)),)), plain.models[1]))
    page = page_of(unread, tmp_path)
    assert page.count("pl-hatch") == 1 and "hatched: " in parsed(page).text
    assert "pl-hatch" not in page_of(plain, tmp_path)
    unread.save(tmp_path / "a.json")
    assert AttentionAnalysis.read(tmp_path / "a.json") == unread
    bars = units_figure(unread).axes[1]
    assert [patch.get_hatch() for patch in bars.patches].count("////") == 1


def test_what_a_model_cannot_read_of_a_text_stands_with_its_plot():
    analysis = pellucid.attention_analysis(
        tiny_composed(pooler="additive"), ["A 日本 film.", "A lovely film."], tests=["uniform"], progress=False
    )
    unread = [[plot.words[place] for place in plot.unread] for plot in analysis.models[0].plots]
    assert any("日" in word for word in unread[0]) and unread[1] == []
