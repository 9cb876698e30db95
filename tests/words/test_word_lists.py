"""The page of word lists: clouds whose words do not overlap, the plot, the tables, nothing unescaped."""

from itertools import combinations

import numpy as np
import pytest

import pellucid
from pellucid.explaining.views.corpus import OWN_COLOURS
from pellucid.results.results import Results
from pellucid.results.word_lists import WordSum
from pellucid.words.columns import LONGEST, WIDTH, cloud_layout, word_cloud
from pellucid.words.views import overlap_plot, word_lists_sections
from tests.shared.answered import answered
from tests.shared.sample_corpus import sample_corpus

HOSTILE = "<script>alert(1)</script>"


def corpus(n=40):
    """Texts of two classes, with some words of both."""
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(90)]
    texts = []
    for number in range(n):
        says = "positive" if number % 2 else "negative"
        own = rng.choice(words[30:] if number % 2 else words[:60], 12, replace=False)
        texts.append(answered(" ".join([*own, f"n{number}"]), rng.normal(size=13) + 0.5, says=says))
    return Results(tuple(texts))


@pytest.fixture(scope="module")
def lists():
    return pellucid.class_words(corpus(), idf=["word1 word2", "film"]).lists


@pytest.mark.parametrize("n", (1, 2, 50))
def test_no_two_words_of_a_cloud_overlap_and_all_are_inside(n):
    rng = np.random.default_rng(n)
    weights = sorted(rng.pareto(1.5, n) + 0.01, reverse=True)
    letters = ["".join(rng.choice(list("abcmwWiIl漢é"), rng.integers(1, 40))) for _ in range(n)]
    positioned, height = cloud_layout(list(zip(letters, weights, strict=True)))
    assert len(positioned) == n and positioned == cloud_layout(list(zip(letters, weights, strict=True)))[0]
    for word in positioned:
        left, top, right, bottom = word.box
        assert left >= -1e-6 and right <= WIDTH + 1e-6 and top >= 0 and bottom <= height
        assert len(word.text) <= LONGEST
    for one, other in combinations(positioned, 2):
        a, b = one.box, other.box
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (one, other)


def test_the_heaviest_word_is_the_largest_and_in_the_middle():
    positioned, _ = cloud_layout([("first", 4.0), ("second", 1.0), ("third", 1.0)])
    assert positioned[0].size > positioned[1].size == positioned[2].size
    assert abs(positioned[0].x - WIDTH / 2) < 5


def test_a_cloud_is_text_and_nothing_in_it_is_markup():
    words = [WordSum(HOSTILE, HOSTILE, 2.0, 1.0, 1, 1, 1.0, 0, False)] * 3
    drawn = str(word_cloud(words, HOSTILE))
    assert "<script" not in drawn and "&lt;script" in drawn and drawn.count("<text") == 3
    assert word_cloud((), "positive") is None


def test_the_page_has_words_clouds_overlap_and_shared_words(lists, tmp_path):
    words = pellucid.class_words(corpus(), idf=["word1 word2", "film"])
    page = pellucid.report(words, path=tmp_path / "words.html").read_text("utf-8")
    assert page.count("pl-cloud-box") == 2 + 2  # two in the style sheet
    assert "Words that classes share" in page and "words of each list, k" in page and "<script" not in page
    for word in lists.shared("positive", "negative")[:3]:
        assert word in page
    plain = pellucid.report(pellucid.class_words(corpus()), path=tmp_path / "plain.html").read_text("utf-8")
    assert "Words that classes share" not in plain


def test_lists_of_one_class_have_no_overlap():
    single = pellucid.class_words([answered("fine film", [1, 2])], idf=["film"]).lists
    assert len(word_lists_sections(single, single.labels)) == 1


def test_a_plot_needs_two_points():
    two = pellucid.class_words(
        [answered("fine film", [1, -2]), answered("dull film", [1, -2], says="negative")], idf=["film"]
    ).lists
    assert overlap_plot({"raw": two.overlap_curve()}) is None
    assert "too short" in str(word_lists_sections(two, two.labels)[1].body)


def test_the_terminal_draws_lists_and_overlap(lists):
    drawn = str(pellucid.class_words(corpus(), idf=["word1 word2", "film"]))
    assert "scores added up × idf" in drawn and "Random words of the same classes" in drawn


def test_a_page_of_many_texts_can_give_each_its_own_scale(tmp_path):
    results = sample_corpus(60)
    page, own = (
        pellucid.report(results, path=tmp_path / f"{scale}.html", scale=scale).read_text("utf-8")
        for scale in ("page", "text")
    )
    assert OWN_COLOURS in own and OWN_COLOURS not in page
    assert own.count("pl-p16") >= 30 and own.count("pl-n16") + own.count("pl-p16") > page.count("pl-p16")
    with pytest.raises(pellucid.PellucidError, match="scale"):
        pellucid.report(results, path=tmp_path / "x.html", scale="method")


def test_a_page_of_a_whole_test_set_stays_small(tmp_path):
    """SST-2's 1,821 test texts of about 19 words in 8 MB: what a text adds to the page is counted."""
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(300)]
    texts = [
        answered(" ".join(rng.choice(words, 19)), rng.normal(size=19), label="negative", name=f"sst2-test-{n:05}")
        for n in range(160)
    ]
    few, many = (
        pellucid.report(Results(tuple(texts[:n])), path=tmp_path / f"{n}.html", scale="text").stat().st_size
        for n in (60, 160)
    )
    assert few + (many - few) / 100 * (1821 - 60) <= 8e6


def test_many_large_words_shrink_rather_than_stand_in_a_column():
    words = [("astonish" + "x" * (number % 5), 4.0 - number / 40) for number in range(32)]
    positioned, height = cloud_layout(words)
    assert height <= WIDTH + 4
    wide = [word for word in positioned if word.x < WIDTH / 3 or word.x > 2 * WIDTH / 3]
    assert len(wide) > len(words) / 3
