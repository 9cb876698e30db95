"""Many texts in a terminal: a summary of twenty lines, then a table of twenty, at any width, whatever the names."""

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from pellucid.explaining.views.terminal_results import telling, terminal_results, terminal_summary
from pellucid.results.results import Results
from pellucid.words.views import terminal_class_words
from tests.shared.answered import answered
from tests.shared.sample_results import HOSTILE, sample_explanation

WORDS = ("fine", "dull", "slow", "warm")


def many(count=60, labelled=True):
    """Texts of which every fourth is misread, more or less surely."""
    return Results(
        tuple(
            answered(
                f"the {WORDS[n % 4]} film {n}",
                [0.1, 1 + n / 100, -0.5, 0],
                says="positive" if n % 2 else "negative",
                sure=0.5 + n / 200,
                label=(("negative" if n % 2 else "positive") if n % 4 == 0 else ("positive" if n % 2 else "negative"))
                if labelled
                else None,
                name=f"r{n}",
                caveats=("The scores do not add up.",) if n % 3 else (),
            )
            for n in range(count)
        ),
        seconds=12.5,
    )


@pytest.mark.parametrize("width", (60, 80, 120))
def test_two_parts_of_twenty_lines_fit_the_width(width):
    text = terminal_results(many(200), width=width)
    summary, table = text.split("\n\n")
    assert len(summary.splitlines()) <= 20 and len(table.splitlines()) <= 20
    assert all(cell_len(line) <= width for line in text.splitlines())


def test_the_summary_says_what_was_counted():
    text = terminal_results(many(), width=120)
    assert "60 texts · occlusion in 12 seconds · model: tiny" in text
    assert "Predicted: negative 30, positive 30" in text
    assert re.search(r"Right: 45 of 60 labelled texts \(75 %; 95 % interval 63 % to 84 %\)", text)
    assert re.search(r"negative +15 +0\n.*positive +15 +30", text)
    assert "   for negative: slow +1.30, fine +1.28" in text and "   against positive: film −0.50" in text
    assert "Caution: The scores do not add up. (40 texts: r1, r2, r4, r5, r7 and 35 more)" in text


def test_mistakes_come_first_then_the_surest_then_the_least_sure():
    rows = terminal_results(many(), width=120).split("\n\n")[1].splitlines()[1:-1]
    assert [row.split()[0] for row in rows] == [
        *(f"r{n}" for n in (56, 52, 48, 44, 40, 36)),
        *(f"r{n}" for n in (59, 58, 57, 55, 54, 53)),
        *(f"r{n}" for n in (7, 6, 5, 3, 2, 1)),
    ]
    assert all("✗" in row for row in rows[:6]) and all("✓" in row for row in rows[6:])
    assert "+fine −film" in rows[0] and "the fine film 56" in rows[0] and "78 %" in rows[0]


@pytest.mark.parametrize("count", (6, 17, 18, 19, 40))
def test_no_text_is_listed_twice_and_no_row_stays_free(count):
    texts = [*many(count)]
    assert len({text.example.id for text in telling(texts, 18)}) == min(count, 18)


def test_without_labels_there_is_no_column_of_them():
    text = terminal_results(many(labelled=False), width=100)
    assert "label" not in text and "Right:" not in text and "✓" not in text


def test_few_texts_and_full_ones_are_drawn_whole():
    whole = "Strongest: "
    assert terminal_results(many(5)).count(whole) == 5
    assert terminal_results(many(6)).count(whole) == 0
    assert terminal_results(many(6), full=True).count(whole) == 6
    assert str(many(6)) == terminal_results(many(6))


def test_several_methods_name_the_one_of_the_words():
    texts = many(8)
    both = texts + [replace(one, method="gradient") for one in texts]
    text = terminal_results(both, width=100)
    assert (
        text.startswith("8 texts · occlusion, gradient") and "words by occlusion" in text and ".where(method=…)" in text
    )


def test_many_classes_show_their_most_frequent_mistakes():
    labels = tuple(f"class number {n}" for n in range(12))
    texts = Results(
        tuple(
            sample_explanation(
                f"text {n}",
                labels=labels,
                predicted=labels[n % 12],
                label=labels[n % 5],
                id=str(n),
                probabilities=(),
            )
            for n in range(50)
        )
    )
    text = terminal_results(texts, width=80)
    assert "Most frequent mistakes: class number" in text and "more classes: see .words()" in text
    assert len(text.split("\n\n")[0].splitlines()) <= 20


def test_labels_that_are_no_class_are_named():
    texts = Results(tuple(answered(f"text {n}", label="5 stars") for n in range(8)))
    assert "Labels that are no class of the model, so not counted: 5 stars (8)" in terminal_results(texts, width=100)


def test_spans_rows_and_regressions_have_a_table_too():
    spans = Results(tuple(sample_explanation(f"one two {n}", spans=True) for n in range(6)))
    assert "one" in terminal_results(spans, width=100)
    rows = [
        sample_explanation(
            f"a b {n}", "chance", [[0, 1, 2, 0, 0], [0, 2, 1, 0, 0]], rows=(("draw", ("0", "1")),), id=str(n)
        )
        for n in range(6)
    ]
    assert "random" in terminal_class_words(Results(tuple(rows)).words())
    assert "6 texts" in terminal_results(Results(tuple(rows)), width=100)
    numbers = [sample_explanation(f"text {n}", labels=("score",), probabilities=(), id=str(n)) for n in range(6)]
    assert "  sure  " not in terminal_results(Results(tuple(numbers)), width=100)


def test_nothing_in_a_text_or_name_reaches_the_terminal():
    hostile = HOSTILE.replace("\0", "") + " [bold red]markup[/] \x9b31m \x07"
    one = sample_explanation(
        hostile, hostile, model=hostile, labels=("no", hostile), caveats=(hostile,), label=hostile, id=hostile
    )
    results = Results((one,) * 7)
    text = terminal_results(results, width=2000) + terminal_class_words(results.words(min_texts=1), width=2000)
    assert "[bold red]markup[/]" in text
    assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(text)


def test_words_of_classes_have_every_number():
    text = terminal_class_words(many().words(), width=80)
    assert "Words by occlusion" in text and "for negative" in text and "against positive" in text
    assert re.search(r"fine +\+1\.\d\d +\+1\.\d\d to \+1\.\d\d +15 +15", text)
    assert "the *" in text and "* function word or punctuation" in text
    assert "Left out: 60 words of fewer than 3 texts." in text
    assert str(many().words()) == terminal_class_words(many().words())


def test_as_many_words_as_wanted():
    words = many().words()
    assert terminal_class_words(words, top=1).count(" to ") == 4


def test_no_words_say_how_to_see_some():
    text = terminal_summary(many(6).summary(), width=100)
    assert "Words: none is in 3 texts or more" not in text  # "film" is
    lonely = Results(tuple(answered(word) for word in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")))
    assert "Words: none is in 3 texts or more; see .words(min_texts=1)" in terminal_summary(lonely.summary(), width=100)


def test_many_cautions_and_long_words_stay_within_the_lines():
    words = [f"{letter * 20}" for letter in "abcdefgh"]
    texts = Results(
        tuple(
            answered(f"the {' '.join(words)}", [9, *[1 + n] * 8], name=str(n), caveats=(f"Caution {n}. " * 9,))
            for n in range(9)
        )
        + tuple(answered(f"the {n} {' '.join(words)}", [9, 0, *[1 + n] * 8]) for n in range(3))
    )
    text = terminal_summary(texts.summary(), width=80)
    assert len(text.splitlines()) <= 20 and "more cautions: see .summary().cautions" in text
    assert all(cell_len(line) <= 80 for line in text.splitlines())
    (line,) = [line for line in text.splitlines() if line.startswith("   for positive")]
    assert words[0] in line and words[7] not in line and "the +9" not in text
