"""The datasheet of our own corpora says what the texts say."""

from pathlib import Path

import pytest

from pellucid.base.errors import BadFile
from pellucid.text.example import Example, Rationale
from studies.corpus_facts import facts as corpus_facts
from studies.corpus_facts.__main__ import main
from studies.corpus_facts.facts import (
    BEGIN,
    END,
    filled,
    largest_overlap,
    marked_share,
    words_changed,
)
from studies.corpus_facts.surface_cues import CUES, accuracy_in_folds, accuracy_on_dev, words_of

PAGES = Path(__file__).parents[2] / "docs" / "datasheets"


@pytest.mark.long
@pytest.mark.parametrize("name", ["pocket", "helpdesk"])
def test_the_datasheet_is_what_the_script_gives(name):
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert filled(page) == page, f"run python -m studies.corpus_facts --out {PAGES / name}.md"


def test_only_what_stands_between_the_markers_is_written(monkeypatch, tmp_path):
    monkeypatch.setattr(corpus_facts, "facts", lambda corpus: f"({corpus})")
    page = tmp_path / "page.md"
    begin = BEGIN.format("pocket pocket_pairs")
    page.write_text(f"before\n{begin}\nold\n{END}\nafter\n", encoding="utf-8")
    main(["--out", str(page)])
    main(["--out", str(page)])
    assert page.read_text(encoding="utf-8") == (f"before\n{begin}\n\n(pocket)\n\n(pocket_pairs)\n\n{END}\nafter\n")


@pytest.mark.parametrize(
    "page",
    ("no markers", f"{BEGIN.format('pocket')} without an end", f"{END} {BEGIN.format('pocket')}"),
)
def test_a_page_without_markers_raises(page):
    with pytest.raises(BadFile, match="needs the lines"):
        filled(page)


def test_words_have_no_punctuation():
    assert words_of("It's a well-made film, isn't it? 🙂 7/10") == [
        *("it's", "a", "well-made", "film", "isn't", "it", "7", "10")
    ]


def test_overlap_counts_sequences_of_five_words_between_groups():
    one, other = "a b c d e f g", "x b c d e f g"  # 3 sequences each, 2 of them shared: 2 / 4
    assert largest_overlap([("1", one), ("2", other)]) == pytest.approx(0.5)
    assert largest_overlap([("1", one), ("1", other)]) == 0
    assert largest_overlap([("1", one), ("2", one)]) == 1
    assert largest_overlap([("1", "a b c d"), ("2", "a b c d")]) == 0


@pytest.mark.parametrize(
    "one, other, changed",
    [("a fine film", "a dull film", 1), ("a film", "a very fine film", 2), ("a b", "b a", 0)],
)
def test_changed_words_are_counted_whatever_their_order(one, other, changed):
    assert words_changed(Example((one,)), Example((other,))) == changed
    assert words_changed(Example((other,)), Example((one,))) == changed


def test_the_marked_share_counts_words_that_a_mark_touches():
    assert marked_share(Example(("a fine film.",), "x", (Rationale(0, 2, 6),)), 0) == pytest.approx(1 / 4)


def test_cues_find_a_word_that_gives_the_label_away():
    texts = [Example((f"it is {'good' if n % 2 else 'bad'} {n}",), "ab"[n % 2], (), str(n)) for n in range(40)]
    cues = CUES["pocket"]["all words"]
    assert accuracy_on_dev(texts[:30], texts[30:], cues).mean == 1
    assert accuracy_in_folds(texts, cues).mean == 1


def test_marked_words_are_no_cue_outside_the_evidence():
    text = Example(("A fine, fine film.",), "x", (Rationale(0, 2, 6),))
    assert set(CUES["pocket"]["words outside the evidence"](text)) == {"a", "fine", "film"}
    both = Example(text.segments, "x", (*text.rationales, Rationale(0, 8, 12)))
    assert set(CUES["pocket"]["words outside the evidence"](both)) == {"a", "film"}
