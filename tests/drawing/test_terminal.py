"""What a terminal shows: plain words when piped, colours in a terminal, and never an escape from the text."""

import io
import sys

import pytest

from pellucid.base.checks import short_title
from pellucid.comparison.terminal import terminal_table
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.views.terminal_explanation import terminal_text
from pellucid.results.results import Results
from pellucid.results.side_by_side import SideBySide
from tests.shared.sample_results import HOSTILE, METHODS, sample_explanation, sample_table


def test_plain_text_lists_the_strongest_words_with_signs():
    text = terminal_text(sample_explanation("good bad so", scores=[0, 2.0, -1.5, 0.5, 0], label="negative"))
    assert "\x1b" not in text
    assert "pocket-model says positive (80 %), wrong: the label is negative" in text
    assert "[+++]good [---]bad [+]so\n" in text
    assert "[+] stands before words that speak for the explained answer, [-]" in text and "Orange" not in text
    assert "Strongest: “good” +2.00, “bad” \u22121.50, “so” +0.50" in text


def test_colours_are_added_in_a_terminal_and_change_no_character():
    explanation = sample_explanation("good bad", scores=[0, 2.0, -1.5, 0])
    coloured = terminal_text(explanation, colour=True, width=80)
    assert "\x1b[" in coloured
    assert "good" in coloured and "bad" in coloured


def test_signs_grow_with_the_share_of_the_strongest_score():
    scores = [0, 3.0, 1.9, -1.1, 0.9, -0.31, 0.29, 0]
    text = terminal_text(sample_explanation("a b c d e f", scores=scores), width=200)
    assert "[+++]a [++]b [--]c [+]d [-]e f\n" in text


def test_unsigned_scores_and_zeros_have_no_minus():
    unsigned = terminal_text(sample_explanation("a b", "gradient", scores=[0, 2.0, 1.0, 0]), width=200)
    assert "[+++]a [++]b\n" in unsigned
    assert "[+] stands before words that count, whether they speak for the answer or against it:" in unsigned
    zeros = terminal_text(sample_explanation("a b", scores=[0, 0.0, 0.0, 0]), width=200)
    assert "\na b\n" in zeros


@pytest.mark.parametrize(
    "variables, coloured",
    (
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
    ),
)
def test_a_terminal_without_colour_shows_signs(monkeypatch, variables, coloured):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    text = terminal_text(sample_explanation("good bad", scores=[0, 2.0, -1.5, 0]), width=200)
    assert ("Orange words" in text, "[+++]good [---]bad" in text) == (coloured, not coloured)
    assert ("\x1b[" in text) == coloured


@pytest.mark.parametrize("colour", [False, True])
def test_nothing_in_a_text_or_name_reaches_the_terminal(colour):
    hostile = HOSTILE.replace("\0", "") + " [bold red]markup[/] :smile: \x9b31m \x07"
    explanation = sample_explanation(
        hostile, hostile, model=hostile, labels=("no", hostile), caveats=(hostile,), label=hostile
    )
    text = terminal_text(explanation, colour=colour, width=2000) + terminal_table(
        sample_table((hostile,)), colour=colour, width=2000
    )
    assert "[bold red]markup[/] :smile:" in text.replace("\x1b[0m", "") or colour
    assert "\x9b" not in text and "\x07" not in text and "\u202e" not in text
    assert "\u241b[31m" in text or colour
    allowed = text if colour else ""
    assert text.count("\x1b[31m") == 0 and text.count("\x1b") == allowed.count("\x1b[")


def test_spans_and_rows_have_a_text_too():
    assert "Strongest: “" in terminal_text(sample_explanation("one two", spans=True))
    rows = sample_explanation("a b", "chance", [[0, 1, 2, 0], [0, 2, 1, 0]], rows=(("draw", ("0", "1")),))
    assert "Shown: draw 0 (the first of 2)." in terminal_text(rows)


def test_the_table_has_every_number_and_fits_the_width():
    table = sample_table()
    text = terminal_table(table, width=80)
    assert all(len(line) <= 80 for line in text.splitlines())
    for cell in table.cells:
        assert f"{cell.value.mean:.3f} [{cell.value.low:.3f} to {cell.value.high:.3f}]" in text
    assert text.count("chance") >= 2  # once a block
    assert all(method.replace("_", " ") in text for method in METHODS)


def test_progress_is_silent_outside_a_terminal_unless_requested(capsys):
    for show in (None, False):
        with progress_bar(show) as report:
            report("explaining", 1, 2)
    assert capsys.readouterr().err == ""


def test_progress_lines_come_at_most_every_ten_per_cent(capsys):
    with progress_bar(True) as report:
        for done in range(1, 1001):
            report("explaining", done, 1000)
        report("judging\x1b[31m", 0, 0)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"explaining: {tenth * 10} %" for tenth in range(11)] + ["judging\u241b[31m: 100 %"]


def test_a_bar_is_drawn_in_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar() as report:
        report("explaining", 1, 4)
        report("judging", 4, 4)
    assert "judging" in screen.getvalue()


@pytest.mark.parametrize("method", ("span_attention", "attention", "chance"))
def test_weights_of_no_class_do_not_claim_to_explain_a_logit(method):
    text = terminal_text(sample_explanation(method=method, spans=method == "span_attention", scores=None), width=200)
    assert f"{method.replace('_', ' ')}, the same for every class" in text and "explaining" not in text
    assert "explaining logit of positive" in terminal_text(sample_explanation(method="occlusion"), width=200)


def test_a_setting_of_a_hundred_texts_is_not_printed_whole():
    """Neither where a result is printed nor where it is looked at; other settings are still read, and short ones
    stay.
    """
    texts = [f"reference text, n={number}" for number in range(120)]
    method = f"retained_information(reference={texts!r}, n_steps=7)"
    results = Results([sample_explanation("good bad", method, scores=[0, 2.0, 1.5, 0])])
    side = SideBySide({method: [*results]})
    for shown in (results, side):
        assert len(repr(shown)) < 300 and len(str(shown)) < 1500 and "n=100" not in str(shown)
    assert short_title("occlusion(window=2)") == "occlusion(window=2)"
    long = f"retained_information(n_steps=7, reference={['a fine film'] * 120!r}, n_seeds=1)"
    assert short_title(long).startswith("retained_information(n_steps=7, reference=['a fine film', 'a")
    assert short_title(long).endswith("…, n_seeds=1)")
