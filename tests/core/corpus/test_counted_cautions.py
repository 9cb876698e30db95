"""Cautions that differ in one number alone are one line."""

from pellucid.core.corpus.counted_cautions import counted_cautions


def test_sentences_that_differ_in_one_number_are_counted_together():
    cautions = [
        f"It misses {share}% of the rise; raise n_steps." for share in ("12.7", "9.1", "100.0", "12.7")
    ]
    assert counted_cautions(cautions) == {"It misses 9.1 to 100.0% of the rise; raise n_steps.": 4}


def test_other_sentences_stay_as_they_are():
    cautions = ["Layer 3 of 6 is read.", "Layer 2 of 5 is read.", "Dull.", "Dull.", "Dull!"]
    assert counted_cautions(cautions) == {cautions[0]: 1, cautions[1]: 1, "Dull.": 2, "Dull!": 1}
    assert counted_cautions([]) == {}


def test_numbers_with_thousands_are_in_order():
    assert counted_cautions(["1,204 of them", "99 of them"]) == {"99 to 1,204 of them": 2}
