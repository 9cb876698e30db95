"""A page of many texts: the summary and its counts, the words of classes, the index, what is folded, and its size."""

from dataclasses import replace

import pytest

from pellucid import report
from pellucid.drawing.wording import short_ids
from pellucid.explaining.views.class_words import axis_of, left_out, reach_of
from pellucid.explaining.views.corpus import (
    FULL_COLOUR,
    GROUP,
    IN_FULL,
    LINES,
    MANY,
    notebook_results,
    texts_in_order,
    usual_scales,
)
from pellucid.explaining.views.opening import trust_in_words
from pellucid.explaining.views.summary import duration
from pellucid.results.class_words import ClassWords, WordScore
from pellucid.results.interval import Advice, TrustCard
from pellucid.results.results import Results
from pellucid.text.example import data_of
from tests.drawing.test_escaping import harmless, hostile_explanation
from tests.shared.parsed import parsed
from tests.shared.sample_corpus import sample_corpus
from tests.shared.sample_results import HOSTILE, sample_explanation, sample_table


def page_of(results, tmp_path, **more):
    path = report(results, path=tmp_path / "page.html", **more)
    return parsed(path.read_text(encoding="utf-8").removeprefix("<!doctype html>"))


def headings(root):
    return [node.text for node in root.every("h2")]


def test_few_texts_are_cards_and_many_open_with_a_summary(tmp_path):
    assert headings(page_of(sample_corpus(MANY), tmp_path)) == ["The texts"]
    root = page_of(sample_corpus(MANY + 1), tmp_path, table=sample_table(), about={"a": 1})
    assert headings(root) == [
        "Summary",
        "Words that speak for and against",
        "The texts",
        "Which method can be believed",
        "What was done",
    ]


def test_the_summary_counts_texts_answers_mistakes_and_labels_that_fit_no_class(tmp_path):
    root = page_of(sample_corpus(15), tmp_path)
    [summary] = root.every(css_class="pl-summary")
    assert "15 texts, read by pocket-model and explained by occlusion in 1 minute 23 seconds." in root.text
    assert "8 of 12 labelled texts are right (95 % interval 39\u00a0% to 86\u00a0%)" in summary.text
    assert "no class of the model: “mixed” (3)" in summary.text
    rows = [[cell.text for cell in row.every("td")] for row in next(summary.every("tbody")).every("tr")]
    assert rows == [["·", "4"], ["·", "8"]]
    bars = next(summary.every("ol"))
    assert [line.text for line in bars.every("li")] == ["positive15 (100 %)", "negative0 (0 %)"]


def test_cautions_are_counted(tmp_path):
    results = [replace(one, caveats=("Mind the gap.",)) if n < 3 else one for n, one in enumerate(sample_corpus())]
    root = page_of(Results(tuple(results)), tmp_path)
    [summary] = root.every(css_class="pl-summary")
    assert "3 of 12Mind the gap." in summary.text
    assert "explained by occlusion." in root.text  # without seconds


def test_texts_without_labels_have_no_accuracy(tmp_path):
    root = page_of(sample_corpus(label=None), tmp_path)
    assert "right and wrong are not known" in root.text and not list(root.every(css_class="pl-confusion"))


def test_words_have_bars_counts_and_marked_stop_words(tmp_path):
    root = page_of(sample_corpus(), tmp_path)
    first, positive = root.every(css_class="pl-columns")
    for_it, against_it = (list(next(column.every("ol")).every("li")) for column in positive.children)
    assert for_it[0].text.startswith("fine+1.0") and "12× in 12 texts" in for_it[0].text
    assert against_it[0].text.startswith("dull\u22121.0")
    assert next(iter(for_it[0].every("rect"))).attributes["class"] == "pl-bar-for"
    assert next(iter(against_it[0].every("rect"))).attributes["class"] == "pl-bar-against"
    italics = {node.text for node in root.every("em")}
    assert "the" in italics and "fine" not in italics
    assert first.text  # the answers


def test_a_page_of_words_alone(tmp_path):
    root = page_of(sample_corpus().words(), tmp_path)
    assert headings(root) == ["The words of each class"] and "fine" in root.text


def test_mistakes_come_first_and_the_surest_of_them_at_the_top():
    ordered = texts_in_order(sample_corpus(12))
    wrong = [text.first.is_correct is False for text in ordered]
    assert wrong == sorted(wrong, reverse=True) and any(wrong)
    sure = [text.first.prediction.probability for text in ordered]
    assert sure[: sum(wrong)] == sorted(sure[: sum(wrong)], reverse=True)
    assert sure[sum(wrong) :] == sorted(sure[sum(wrong) :])


def test_every_text_has_a_line_that_opens_the_first_ones_into_cards(tmp_path):
    root = page_of(sample_corpus(IN_FULL + 4), tmp_path)
    [folded] = root.every(css_class="pl-folded")
    lines = [node for node in folded.every("details") if list(node.every(css_class="pl-line"))]
    assert len(lines) == IN_FULL + 4 and all("open" not in line.attributes for line in lines)
    assert [len(list(line.every("article"))) for line in lines] == [1] * IN_FULL + [0] * 4
    assert all(len(list(line.every(css_class="pl-text"))) == 1 for line in lines)


def test_beyond_two_hundred_lines_the_others_are_folded_by_the_hundred(tmp_path):
    root = page_of(sample_corpus(LINES + GROUP + 1), tmp_path)
    groups = [next(group.every("summary")).text for group in root.every("details", css_class="pl-group")]
    assert groups == ["Texts 201 to 300", "Texts 301 to 301"]


def test_a_page_begins_with_what_it_is_of_whether_to_believe_it_and_three_texts(tmp_path):
    results = sample_corpus(30)
    root = page_of(results, tmp_path)
    header = next(root.every("header"))
    facts = [fact.text for fact in next(header.every(css_class="pl-known")).every("bdi")]
    assert facts == ["Model pocket-model", "30 texts of t", "Explained by occlusion", "28 November 2025"]
    assert "Not measured yet" in next(header.every(css_class="pl-believed")).text
    titles = [title.text for title in header.every(css_class="pl-example-title")]
    assert titles == ["Clearest right answer", "Surest mistake", "Least certain answer"]
    shown = {f"t{text.position - 1}": text.first for text in texts_in_order(results)}
    right, wrong, unsure = (shown[link.text] for link in next(header.every(css_class="pl-examples")).every("a"))
    chances = [text.prediction.probability for text in shown.values()]
    assert right.is_correct and wrong.is_correct is False and unsure.prediction.probability == min(chances)
    assert wrong.prediction.probability == max(t.prediction.probability for t in shown.values() if not t.is_correct)
    anchors = {f"#{node.attributes['id']}" for node in root.every() if "id" in node.attributes}
    assert {link.attributes["href"] for link in header.every("a")} <= anchors


def test_texts_without_labels_begin_with_the_surest_and_the_least_sure(tmp_path):
    header = next(page_of(sample_corpus(30, label=None), tmp_path).every("header"))
    titles = [title.text for title in header.every(css_class="pl-example-title")]
    assert titles == ["Clearest answer", "Least certain answer"]


def test_what_a_comparison_says_of_the_method_stands_first(tmp_path):
    trust = [
        next(page_of(sample_corpus(method=method), tmp_path, table=sample_table()).every(css_class="pl-believed")).text
        for method in ("attention", "unheard_of")
    ]
    assert "better than random scores on" in trust[0] and "for random words, 200 texts" in trust[0]
    assert trust[1] == "A comparison of 200 texts is below; it gives no advice."
    foreign = sample_table(about={"model": "another", "model_hash": "0" * 64})
    header = next(page_of(sample_corpus(), tmp_path, table=foreign).every("header"))
    assert "is of another model, another: it says nothing of this one" in header.text


@pytest.mark.parametrize(
    ("kind", "words"),
    (
        ("use", "Attention can be believed here: "),
        ("second", "Attention can be believed here: "),
        ("avoid", "Attention should not be believed here: "),
        ("unclear", "It is not clear whether attention can be believed here: "),
    ),
)
def test_the_first_sentence_agrees_with_the_trust_card(kind, words):
    advice = (Advice("use", ("attention" if kind == "use" else "occlusion",), "…"), Advice(kind, ("attention",), "…"))
    table = sample_table(card=TrustCard("pocket-model", 200, advice, "…"))
    sentence = trust_in_words(sample_corpus(method="attention"), table)
    assert sentence.startswith(words) and sentence.endswith(" Occlusion does better.") == (kind == "second")


def test_the_data_are_named_by_the_ids_of_the_texts():
    assert data_of(["reviews-1", "reviews-22"]) == "reviews" and data_of(["1", "2", ""]) == ""
    assert data_of(["a-1", "b-1", "c-1", "d-1", "e-1"]) == "5 sources: a, b, c, …"


def test_equal_texts_are_shown_once_with_their_number(tmp_path):
    results = sample_corpus()
    root = page_of(Results((*results, results[0])), tmp_path)
    assert all(len(list(card.every("figure"))) == 1 for card in root.every("article", css_class="pl-card"))
    assert "t0 (×2)" in root.text and "13 texts (12 different ones)" in root.text.replace("\u00a0", " ")


def test_several_methods_share_a_card_and_have_no_words(tmp_path):
    both = Results((*sample_corpus(), *sample_corpus(method="gradient")))
    root = page_of(both, tmp_path)
    assert headings(root) == ["Summary", "The texts"]
    assert all(len(list(card.every("figure"))) == 2 for card in root.every("article", css_class="pl-card"))


def test_rows_of_draws_and_spans_are_drawn(tmp_path):
    texts = [f"a fine film {n}" for n in range(MANY + 1)]
    spans = [sample_explanation(text, "span_attention", spans=True, id=text) for text in texts]
    draws = {"rows": (("draw", ("0", "1")),), "scores": [[0, 1, 2, 3, 4, 0]] * 2}
    chance = [sample_explanation(text, "chance", id=text, **draws) for text in texts]
    for results in (spans, chance):
        assert "Summary" in headings(page_of(results, tmp_path))


def test_one_extreme_text_does_not_make_the_others_pale():
    results = [*sample_corpus(19), sample_explanation("one word", "occlusion", scores=[0, 90.0, 1, 0])]
    [scale] = usual_scales(results).values()
    assert 0 < FULL_COLOUR < 1 and 1 < scale < 2


def test_hostile_texts_and_labels_are_harmless(tmp_path):
    hostile = [replace(hostile_explanation(), seed=n) for n in range(3)]
    every = Results((*sample_corpus(label=HOSTILE), *hostile))
    harmless(report(every, path=tmp_path / "p.html", title=HOSTILE).read_text().removeprefix("<!doctype html>"))
    harmless(notebook_results(every))


def test_a_notebook_shows_the_summary_and_the_first_texts():
    root = parsed(notebook_results(sample_corpus(30)))
    assert list(root.every(css_class="pl-summary")) and 0 < len(list(root.every(css_class="pl-map"))) <= 8
    few = parsed(notebook_results(sample_corpus(3)))
    assert not list(few.every(css_class="pl-summary")) and len(list(few.every(css_class="pl-map"))) == 3


def test_two_hundred_reviews_stay_below_one_and_a_half_megabytes(tmp_path):
    words = " ".join(f"word{n % 37} and" for n in range(55))
    results = [sample_explanation(words, "occlusion", id=str(n), seed=n, label="positive") for n in range(200)]
    path = report(Results(tuple(results)), path=tmp_path / "p.html")
    assert path.stat().st_size <= 1_500_000


@pytest.mark.parametrize(
    ("seconds", "words"),
    ((0.2, "1 second"), (59.6, "1 minute"), (83, "1 minute 23 seconds"), (7300, "2 hours 1 minute")),
)
def test_times_read_as_people_write_them(seconds, words):
    assert duration(seconds) == words


def test_both_lists_of_a_class_have_one_scale_that_no_wide_interval_sets():
    narrow, wide = (WordScore(form, "positive", 1.0, 0.1, high, 3, 3, False) for form, high in (("a", 2), ("b", 90)))
    assert reach_of([narrow, wide]) == 1.25
    of_signs = [axis_of(sign, 1.25) for sign in ("for", "against")]
    assert of_signs[0].x(1.25) == 100 and of_signs[1].x(-1.25) == 0
    assert all(axis.low < 0 < axis.high and max(-axis.low, axis.high) == 1.25 for axis in of_signs)


def test_words_whose_interval_holds_zero_stand_folded_apart(tmp_path):
    sure = WordScore("gripping", "positive", 1.0, 0.1, 90.0, 3, 3, False)
    unsure = WordScore("every", "positive", 2.0, -0.1, 4.0, 3, 3, False)
    root = page_of(ClassWords(("positive",), (sure, unsure), "occlusion"), tmp_path)
    [listed, folded] = root.every("ol", css_class="pl-words")
    assert "gripping" in listed.text and "every" not in listed.text and "every" in folded.text
    assert len(list(listed.every("path"))) == 1  # the arrow of the interval that goes on
    nothing = page_of(ClassWords(("positive",), (unsure,), "occlusion"), tmp_path)
    assert "Nothing sure: no word's interval leaves 0 out" in nothing.text


def test_a_summary_and_the_words_draw_themselves():
    summary = sample_corpus().summary()
    for drawn in (summary, summary.words):
        root = parsed(drawn._repr_html_())
        assert next(root.every("div")).attributes["class"] == "pellucid pl-notebook" and "fine" in root.text


def test_words_that_are_too_rare_and_classes_without_words_are_named(tmp_path):
    words = sample_corpus().words(min_texts=5)
    assert words.n_rare > 0 and left_out(words) == [f"Left out: {words.n_rare} words that occur in fewer than 5 texts."]
    empty = replace(words, labels=(*words.labels, "negative"))
    assert left_out(empty)[1] == "No word is left for negative."
    assert left_out(words)[0] in report(words, path=tmp_path / "words.html").read_text("utf-8")


def test_short_ids_keep_the_part_that_differs():
    assert short_ids(["reviews-1974", "longer-reviews-197"], 13) == {
        "reviews-1974": "reviews-1974",
        "longer-reviews-197": "…-reviews-197",
    }
    alike = [f"corpus-2015-test-{row:05}-of-the-second-release" for row in range(20)]
    short = short_ids(alike, 13)
    assert len(set(short.values())) == 20 and all(len(id_) <= 13 for id_ in short.values())
    assert short_ids(["x" * 40], 13) == {"x" * 40: "…" + "x" * 12}
