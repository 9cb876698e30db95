"""Every diagnostic that a method returns is registered, with its worst direction and its words."""

import pytest

from pellucid.base.kinds import attributions, diagnostics
from pellucid.run.diagnostics import brief_of, sentence_of, worst_of
from tests.shared.asking import FEW, ask

VALUES = (0.0, 0.003, 0.4, 1.0, 12.0, -0.2)


@pytest.mark.whole
@pytest.mark.parametrize("method", attributions.names())
def test_every_diagnostic_of_a_method_is_registered(method, having, texts):
    """Long texts have those of windows besides."""
    model = having(method)
    long = "A gripping, lovely film. " * 12  # more than these models read at once
    explanations = ask(model, [*texts[:2], long], (method, FEW.get(method, {})))
    names = {name for explanation in explanations for name in explanation.diagnostics}
    assert names
    assert names <= set(diagnostics.names())


@pytest.mark.parametrize("name", diagnostics.names())
def test_a_diagnostic_says_what_it_measures_and_can_be_put_in_words(name):
    entry = diagnostics.get(name)
    assert entry.summary
    assert entry.facts["worst"] in ("highest", "lowest")
    for value in VALUES:
        sentence, brief = sentence_of(name, value), brief_of(name, value)
        assert sentence == "" or sentence.endswith(".")
        assert not brief.endswith(".")
        assert sentence or not brief
    assert sentence_of(name, float("nan")) == brief_of(name, float("nan")) == ""


def test_errors_in_the_targets_unit_and_as_a_share_of_the_largest_score_are_two_diagnostics(bert, texts):
    def errors_of(method):
        (explanation,) = ask(bert, texts[:1], (method, FEW.get(method, {})))
        return explanation.diagnostics.keys() & {"standard_error", "relative_error"}

    assert errors_of("smooth_gradient") == errors_of("gradient_shap") == {"relative_error"}
    assert errors_of("kernel_shap") == {"standard_error", "relative_error"}
    assert sentence_of("relative_error", 0.1).endswith("about 10 % of the largest score.")
    assert sentence_of("standard_error", 0.1).endswith("about 0.10.")  # results saved by earlier versions


def test_the_worst_window_is_the_one_that_speaks_most_against_the_result():
    assert worst_of("completeness_gap", [0.1, 0.3, 0.2]) == 0.3
    assert worst_of("fit_r2", [0.1, 0.3, 0.2]) == 0.1


def test_an_unregistered_diagnostic_has_no_words_and_its_highest_value_is_the_worst():
    assert "of_a_lost_plug_in" not in diagnostics.names()
    assert worst_of("of_a_lost_plug_in", [0.1, 0.3, 0.2]) == 0.3
    assert sentence_of("of_a_lost_plug_in", 0.5) == brief_of("of_a_lost_plug_in", 0.5) == ""


def test_a_diagnostic_of_ones_own_is_shown():
    @diagnostics.add(worst="lowest", brief=lambda share: f"{share:.0%} seen")
    def seen_share(share: float) -> str:
        """The share that was seen."""
        return f"{share:.0%} was seen."

    try:
        assert sentence_of("seen_share", 0.5) == "50% was seen."
        assert brief_of("seen_share", 0.5) == "50% seen"
        assert worst_of("seen_share", [0.5, 0.2]) == 0.2
    finally:
        diagnostics._entries.pop("seen_share")
