"""Cautions that differ in one number alone are one line, which names its texts."""

from pellucid.attribution.shared.paths import gap_caveats
from pellucid.results.results import Results
from pellucid.results.summary import joined_cautions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.scheduler import Scheduler
from pellucid.text.example import as_examples
from tests.shared.answered import answered
from tests.shared.parsed import parsed
from tests.shared.tiny import tiny_classifier


def named(sentences):
    """Each sentence with the number of its text."""
    return [(sentence, str(number)) for number, sentence in enumerate(sentences)]


def test_sentences_that_differ_in_one_number_are_joined():
    cautions = [f"It misses {share}% of the rise; raise n_steps." for share in ("12.7", "9.1", "100.0", "12.7")]
    joined = {"It misses 9.1 to 100.0% of the rise; raise n_steps.": ("0", "1", "2", "3")}
    assert joined_cautions(named(cautions)) == joined


def test_other_sentences_stay_as_they_are():
    cautions = ["Layer 3 of 6 is read.", "Layer 2 of 5 is read.", "Dull.", "Dull.", "Dull!"]
    expected = {cautions[0]: ("0",), cautions[1]: ("1",), "Dull.": ("2", "3"), "Dull!": ("4",)}
    assert joined_cautions(named(cautions)) == expected
    assert joined_cautions([]) == {}


def test_numbers_with_thousands_are_in_order():
    assert joined_cautions(named(["1,204 of them", "99 of them"])) == {"99 to 1,204 of them": ("0", "1")}


def test_a_gap_names_the_setting_in_both_syntaxes():
    """One sentence is kept with the result, and read in Python and from the command line."""
    model = tiny_classifier()
    run = ForwardPass(model, model.encode(as_examples(["Dull."])), Scheduler(100))
    ((sentence,), nothing) = gap_caveats(run, [0.2, 0.05], 0.05, "n_steps", 32)
    assert "miss 20.0% of the rise" in sentence
    assert "n_steps=128 in Python, --set n_steps=128 on the command line" in sentence
    assert nothing == ()


def test_the_summary_names_the_texts_of_a_caution(tmp_path):
    texts = Results(tuple(answered("one", name=f"text-{n}", caveats=("Dull.",)) for n in range(7)))
    named_texts = "text-0, text-1, text-2, text-3, text-4 and 2 more"
    assert f"Caution: Dull. (7 texts: {named_texts})" in str(texts.summary())
    assert named_texts in parsed(texts.summary()._repr_html_()).text
    one = Results((answered("one", name="text-3", caveats=("Dull.",)),))
    assert "Caution: Dull. (1 text: text-3)" in str(one.summary())
