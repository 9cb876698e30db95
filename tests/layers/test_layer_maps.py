"""The page of a layer analysis: every map, unit and verdict is there, hostile names are harmless, sizes are bounded."""

from dataclasses import replace

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadInput
from pellucid.drawing.colours import ColourRange, colour_range
from pellucid.drawing.heat_map import map_tables
from pellucid.layers.record import LayerAnalysis, ModelLayers
from pellucid.results.explanation import Explained
from tests.shared.layer_samples import TEXTS, explanation, sample_analysis, trained
from tests.shared.parsed import parsed
from tests.shared.sample_results import HOSTILE, sample_table


def page_of(analysis, folder):
    return pellucid.report(analysis, path=folder / "layers.html", title="Layers").read_text(encoding="utf-8")


def test_the_page_shows_sums_words_changes_and_maps(tmp_path):
    analysis = sample_analysis()
    page = page_of(analysis, tmp_path)
    text = parsed(page).text
    assert "in nats" in text and "vary independently" in text and "stopped using" in text
    assert page.count("<svg") == 3 and "Colours, in nats" in text  # the curves and two samples of their legend
    assert page.count("pl-matrix pl-layers") >= 3 * len(TEXTS)
    assert "A caveat of the explanations." in text and "Sums of its sentences" in text


def test_without_a_common_scale_nothing_is_compared(tmp_path):
    text = parsed(page_of(sample_analysis(""), tmp_path)).text
    assert "a scale of its own" in text and "no scale that models share" in text and "Colours, in nats" not in text


def test_models_are_named_as_on_other_pages_and_the_measure_is_explained_in_plain_words(tmp_path):
    analysis = sample_analysis()
    first, *others = analysis.models
    folder = f"/models/{first.name}"
    seeds = tuple(tuple(replace(shown, model=folder) for shown in seed) for seed in first.seeds)
    text = parsed(page_of(replace(analysis, models=(replace(first, seeds=seeds), *others)), tmp_path)).text
    opening = text[: text.index("A line a layer")]
    assert f"Model {folder} and" in opening or f"Model {folder}, " in opening or f"Model {folder} " in opening
    assert (
        "how much of it a word bears before the layer’s state changes" in opening and "2.7 times less noise" in opening
    )
    assert "Read by" not in text and f"{others[0].name} ({others[0].seeds[0][0].model})" in opening


def test_a_map_has_every_word_once_and_its_sum_last():
    one = LayerAnalysis((trained("one", 2, texts=[" ".join(TEXTS) * 3]),), "nats").map(0)
    text = map_tables(one, "layer", "map", ColourRange(0.0, 3.0)).text
    assert text.count("<td") == 2 * len(one.words) + 2
    assert text.count("<table") > 1 and text.count(">sum<") == 1


def test_colours_begin_at_0_unless_all_scores_lie_far_from_it():
    def ends(*scores):
        colours = colour_range([np.array(scores)])
        return colours.low, colours.high

    assert ends(2.5, 3.7) == (2.5, 3.7)
    assert ends(0.1, 3.7) == (0.0, 3.7) and ends(-1.0, 0.5) == (0.0, 1.0) and ends(2.0, 2.0) == (0.0, 2.0)


def test_scores_close_together_have_different_colours():
    one = LayerAnalysis((trained("one", 2),), "nats").map(0)
    near = replace(one, scores=np.linspace(2.5, 3.7, one.scores.size).reshape(one.scores.shape))
    text = map_tables(near, "layer", "map", colour_range([near.scores])).text
    assert "pl-p16" in text and len({level for level in range(17) if f'pl-p{level}"' in text}) > 6


def test_hostile_names_are_escaped(tmp_path):
    analysis = LayerAnalysis((trained(HOSTILE), trained("<script>alert(1)</script>")), HOSTILE, (HOSTILE,))
    page = page_of(analysis, tmp_path)
    assert "<script" not in page and "alert(1)" in page
    assert "<script" not in analysis._repr_html_()
    assert str(analysis)


def test_a_page_of_many_texts_is_folded_and_bounded(tmp_path):
    texts = [f"{text} Number {n}." for n in range(20) for text in TEXTS]
    page = page_of(sample_analysis(texts=texts), tmp_path)
    assert page.count("<article") == 3 and "30 more texts" in parsed(page).text
    assert len(page) < 600_000


def test_a_table_does_not_go_with_it(tmp_path):
    with pytest.raises(BadInput, match="no comparison"):
        pellucid.report(sample_analysis(), sample_table(), path=tmp_path / "layers.html")


def test_the_terminal_names_the_words_dropped():
    printed = str(sample_analysis())
    assert "▼ “film”" in printed and "layer 4" in printed


def test_an_explanation_of_every_layer_shows_the_last_and_a_map_of_all(tmp_path):
    one = explanation(TEXTS[1])
    page = pellucid.report([one], path=tmp_path / "one.html").read_text(encoding="utf-8")
    text = parsed(page).text
    assert "Shown: layer 2 (the last of 3)." in text and "Each of the 3 layers" in text
    assert page.count("pl-matrix pl-layers") == 1
    assert "pl-matrix pl-layers" not in pellucid.report([one.row("2")], path=tmp_path / "row.html").read_text()
    assert one.shown_row() == one.row("2")


def test_a_hidden_state_is_not_explained_as_an_answer(tmp_path):
    one = explanation(TEXTS[1])
    text = parsed(pellucid.report([one], path=tmp_path / "one.html").read_text(encoding="utf-8")).text
    for of_a_class in ("against the answer", "for the answer", "label depended on", "(+1"):
        assert of_a_class not in text and of_a_class not in str(one)
    assert "the explained state depends on" in text and "the explained hidden state depends on" in str(one)


def test_steps_have_no_sums_and_no_empty_section(tmp_path):
    steps = LayerAnalysis((trained("one", 3, kind="step"),), "nats")
    assert ": sum" not in str(steps) and "3 steps" in str(steps) and "--html" in str(steps)
    text = parsed(page_of(steps, tmp_path)).text
    assert "What is used, step by step" not in text and "The texts, step by step" in text


def test_few_texts_list_every_word_and_say_so(tmp_path):
    few, many = (
        str(sample_analysis()),
        str(sample_analysis(texts=[f"{t} {n}." for n in range(3) for t in TEXTS])),
    )
    assert "every word is listed" in few and "fewer than 3 texts" in many and "none in enough texts" not in few


def test_a_class_is_not_called_what_a_layer_still_uses_and_numbers_are_texts(tmp_path):
    model = trained("one")
    of_class = [
        replace(
            one,
            target=Explained("positive", None, "logit", 1.0),
            example=replace(one.example, id=str(number)),
        )
        for number, one in enumerate(model.seeds[0])
    ]
    page = parsed(page_of(LayerAnalysis((ModelLayers("one", (tuple(of_class),)),)), tmp_path)).text
    assert "still uses" not in page and "counts for the explained class" in page and "Text 0" in page
