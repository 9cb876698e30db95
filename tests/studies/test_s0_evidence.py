"""Tables 5 and 6 in small: spans counted by hand, the picture's places, patterns of both models, nothing of the data
shown.
"""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import pellucid
from pellucid.errors.door import evidence_of
from pellucid.results.extraction import ExtractedSpan, Extraction
from pellucid.text.example import Example
from studies.s0_evidence.page import as_page
from studies.s0_evidence.picture import LEFT, LETTER, LETTERS, as_picture, broken
from studies.s0_evidence.span_words import spans_in_numbers
from studies.s0_evidence.study import (
    EXTRACTORS,
    KINDS,
    MOST,
    RANDOM,
    of_one_span,
    own_texts,
    s0_evidence,
)
from studies.s0_transfers.rows import SIZES, full_texts
from studies.shared.runner import main
from studies.shared.study import Settings
from tests.shared.sample_results import sample_explanation
from tests.shared.tiny_training import save_encoder

TEXTS = ("A fine film, but dull.", "It isn't dull at all.", "A fine film.")


def cut(text, span):
    """An extraction of one span; its words are counted at blanks."""
    start = text.index(span)
    first = len(text[:start].split())
    words = range(first, first + len(span.split()))
    spans = (ExtractedSpan(span, 0.5, 0, start, start + len(span), words),)
    return Extraction(Example((text,), "positive", (), "t"), spans, len(text.split()), "x", {}, 0)


def numbers(ours, theirs):
    texts = [Example((text,), "positive", (), str(n)) for n, text in enumerate(TEXTS)]
    by_name = {
        name: [cut(text, span) for text, span in zip(TEXTS, spans, strict=True)]
        for name, spans in (("span_attention", ours), ("rationale", theirs))
    }
    return spans_in_numbers(texts, by_name, by_name)


def test_words_are_counted_only_where_the_text_has_one():
    counts = numbers(("film, but dull", "dull at all", "fine film"), ("fine", "isn't dull", "A"))
    ours, theirs = counts["own"]["span_attention"], counts["alike"]["rationale"]
    assert (ours["contrast"]["held"], ours["contrast"]["of"]) == (1, 1)
    assert (ours["negation"]["held"], ours["negation"]["of"]) == (0, 1)
    assert (theirs["contrast"]["held"], theirs["negation"]["held"]) == (0, 1)
    assert ours["words"]["mean"] == pytest.approx(8 / 3) and ours["coverage"] == pytest.approx(
        (3 / 5 + 3 / 5 + 2 / 3) / 3
    )


def test_differences_are_span_attention_less_the_other():
    counts = numbers(("film, but dull", "dull at all", "fine film"), ("fine", "isn't dull", "A"))
    assert counts["longer"]["rationale"]["mean"] == pytest.approx(8 / 3 - 4 / 3)
    assert counts["holds"]["contrast"]["rationale"]["mean"] == 100
    assert counts["holds"]["negation"]["rationale"]["mean"] == -100


def test_the_sentences_shown_are_ours_of_every_kind_and_marked():
    texts = own_texts()
    assert len({text.id for text in texts}) == sum(KINDS.values())
    for kind, count in KINDS.items():
        assert sum(kind in text.meta["phenomena"] for text in texts) >= count
    assert all(text.rationales and len(text.segments[0]) <= MOST for text in texts)


def test_an_extracted_span_is_grouped_as_a_heaviest_span_is():
    text = "a lovely film, but dull"
    explanation = of_one_span(sample_explanation(text, "gradient", label="positive"), cut(text, "lovely film"))
    assert [one.text for one in explanation.spans(1)] == ["lovely film"]
    assert evidence_of(explanation, {}).inside == ("lovely", "film")


@pytest.mark.parametrize("letters", (5, 12, 40))
def test_lines_are_broken_at_blanks_and_lose_nothing_else(letters):
    text = "A long and winding story, incomprehensible at best."
    lines = broken(text, letters)
    assert all(0 < end - start <= letters for start, end in lines)
    assert "".join(text[start:end] for start, end in lines).replace(" ", "") == text.replace(" ", "")


def sentence(text, spans, marked=()):
    answers = dict.fromkeys(("span", "plain", "rationale"), "<b>")
    words = {"kinds": [], "label": "&", "text": text, "marked": list(marked), "said": answers}
    return {**words, "spans": {"rationale": spans}}


def test_the_picture_puts_orange_under_the_span_and_escapes_answers():
    text = "a <fine> & dull film"
    start = text.index("&")
    picture = ElementTree.fromstring(as_picture([sentence(text, [[start, start + 6]], [[2, 8]])]))
    rects = [node for node in picture.iter() if node.tag.endswith("rect") and float(node.get("x")) >= LEFT]
    assert [float(node.get("x")) for node in rects] == pytest.approx([LEFT + LETTER * start] * 2, abs=0.1)
    assert [float(node.get("width")) for node in rects] == pytest.approx([LETTER * 6] * 2, abs=0.1)
    assert text in [node.text for node in picture.iter() if node.tag.endswith("text")]


def test_a_span_over_two_lines_is_drawn_on_both():
    text = "word " * 30
    picture = ElementTree.fromstring(as_picture([sentence(text, [[LETTERS - 10, LETTERS + 10]])]))
    rects = [node for node in picture.iter() if node.tag.endswith("rect") and float(node.get("x")) >= LEFT]
    assert len({node.get("y") for node in rects}) == 4  # ground and line, twice


@pytest.fixture(scope="module")
def tiny_study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evidence")
    encoder = str(save_encoder(folder / "encoder"))
    out, work, own = folder / "out", folder / "work", {"concentration": 1.5}
    settings = Settings("tiny", SIZES["tiny"], out, "pocket", work, encoder=encoder, own=own)
    return settings, s0_evidence().numbers(settings)


@pytest.mark.whole
def test_every_extractor_is_counted_and_shown(tiny_study):
    _, numbers = tiny_study
    five = numbers["table 5"]
    assert set(five["own"]) == set(EXTRACTORS) and set(five["alike"]) == {*EXTRACTORS, RANDOM}
    same = {row["words"]["mean"] for name, row in five["alike"].items()}
    assert len(same) == 1  # as long as span attention's, so that nobody gains by reading more
    assert len(numbers["sentences"]) == sum(KINDS.values())
    for one in numbers["sentences"]:
        assert set(one["spans"]) == set(EXTRACTORS) and all(one["spans"].values())


@pytest.mark.whole
def test_the_errors_of_both_models_are_grouped_by_the_same_cues(tiny_study):
    settings, numbers = tiny_study
    span, plain = numbers["table 6"]["span"], numbers["table 6"]["plain"]
    assert span["wrong"] + span["right"] == plain["wrong"] + plain["right"] == numbers["texts"] == 8
    assert span["cues"] == plain["cues"]
    pages = {path.name for path in (settings.work / "evidence").iterdir()}
    assert pages == {"errors-span.html", "errors-plain.html", "spans.svg"}


def test_the_committed_page_is_that_of_its_numbers_and_judges_nothing_by_one_seed():
    folder = Path(pellucid.__file__).parent.parent / "studies" / "s0_evidence"
    numbers = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    page = (folder / "README.md").read_text(encoding="utf-8")
    title, _, rest = as_page(numbers).partition("\n")
    assert page.startswith(f"{title}\n\nMade by\n`python -m studies s0_evidence") and page.endswith(rest)
    assert (
        "Withdrawn" in page
        and "+4.4" not in page
        and "<text" not in (folder / "spans.svg").read_text().partition("author")[2]
    )


@pytest.mark.whole
def test_the_command_reads_the_models_and_commits_no_text_but_the_sentences(tiny_study, monkeypatch, capsys):
    settings, numbers = tiny_study
    monkeypatch.setattr("pellucid.training.train.train", None)  # it would be called to train again
    words = [
        "s0_evidence",
        "--data",
        "pocket",
        "--work",
        settings.work,
        "--out",
        settings.out,
        "--size",
        "tiny",
    ]
    main([*map(str, words), "--encoder", settings.encoder])
    page = (settings.out / "README.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out.strip() == page.strip()
    assert page.count("`contrast_outside` |") == 3 and "as long as span_attention" in page
    written = page + (settings.out / "result.json").read_text(encoding="utf-8")
    shown = {one["text"] for one in numbers["sentences"]}
    of_data = [text.segments[0] for text in full_texts(settings)["test"]]
    assert not [text for text in of_data if text in written and text not in shown]
    assert json.loads((settings.out / "result.json").read_text(encoding="utf-8"))["texts"] == 8
