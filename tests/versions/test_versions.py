"""The difference between two versions: its numbers against a literal rewriting, its order, its noise floor, its
refusals.
"""

import json
import math
from itertools import permutations

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadInput, BadSetting, PellucidError, UnknownName
from pellucid.results.explanation import Explained
from pellucid.results.side_by_side import tau_b, top_overlap
from pellucid.text.example import Example
from pellucid.text.units import Units
from tests.reference import rank_agreement as literal
from tests.shared.answered import answered
from tests.shared.explanations import explanation

TEXTS = [f"the film number {n} is a fine and quiet one" for n in range(40)]
WORDS = len(TEXTS[0].split())


def version(seed, noise=0.0, says=lambda n: "positive", texts=TEXTS, **parts):
    """Explanations whose scores are shared by all versions, plus noise of this one's own."""
    shared, own = np.random.default_rng(0), np.random.default_rng(seed)
    return [
        answered(
            text,
            shared.normal(size=WORDS) + noise * own.normal(size=WORDS),
            says=says(n),
            label="positive",
            name=f"t{n}",
            model_hash=f"{seed:032x}",
            model=f"version {seed}",
            **parts,
        )
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize("seed", range(30))
def test_both_measures_equal_their_definition(seed):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(2, 12))
    one, other = generator.integers(-3, 4, size=(2, n)).astype(float)  # many ties
    assert tau_b(one, other) == pytest.approx(literal.tau_b(one, other), nan_ok=True, abs=1e-12)
    one, other = one[:5], other[:5]  # few enough for all orders
    for k in range(1, len(one)):
        expected = literal.top_overlap(one, other, k) if np.ptp(one) and np.ptp(other) else math.nan
        assert top_overlap(one, other, k) == pytest.approx(expected, nan_ok=True)


def test_where_tied_words_stand_does_not_matter_to_the_overlap():
    """Two methods with two words each and the rest 0: in reading order, the third word was shared if it came first."""
    one, other = np.array([0, 0, 5, 4, 0, 0, 0.0]), np.array([0, 0, 0, 0, 0, 6, 7.0])
    values = {round(top_overlap(one[list(p)], other[list(p)], 3), 12) for p in permutations(range(7))}
    assert len(values) == 1
    assert top_overlap(one, one, 3) == 1


def test_equal_explanations_agree_and_negated_ones_do_not():
    same = pellucid.diff(version(1), version(2))
    assert same.summary().n_changed == 0
    assert same.summary().means.tau.mean == pytest.approx(1) and same.summary().means.overlap.mean == 1
    negated = [
        answered(one.example.text, -one.scores[1:-1], label="positive", name=one.example.id) for one in version(1)
    ]
    assert pellucid.diff(version(1), negated).summary().means.tau.mean == pytest.approx(-1)


def test_more_noise_is_more_difference():
    means = [pellucid.diff(version(1), version(2, noise)).summary().means for noise in (0.1, 0.5, 3.0)]
    assert means[0].tau.mean > means[1].tau.mean > means[2].tau.mean
    assert means[0].overlap.mean > means[1].overlap.mean > means[2].overlap.mean


def test_the_worst_come_first():
    before = version(1, says=lambda n: "negative" if n == 7 else "positive")
    after = version(2, 1.0, says=lambda n: "negative" if n in (3, 4) else "positive")
    changes = pellucid.diff(before, after)
    assert [row.after.example.id for row in changes[:2]] == ["t3", "t4"] and changes[2].became_right
    totals = changes.summary()
    assert (totals.n_changed, totals.became_wrong, totals.became_right, totals.n_labelled) == (3, 2, 1, 40)
    rest = [row.overlap for row in changes[3:]]
    assert rest == sorted(rest) and all(math.isnan(row.tau) for row in changes[:3])
    assert any("different classes" in caveat for caveat in changes.caveats)


def test_texts_are_matched_by_id_and_text_then_by_text():
    before, after = (
        version(1),
        version(2, texts=[*TEXTS[5:], "the film number x is a fine and loud one"][:36]),
    )
    changes = pellucid.diff(before, after)
    assert changes.summary().n_texts == 35 and changes.only_before == ("t0", "t1", "t2", "t3", "t4")
    assert changes.only_after == ("t35",)
    assert all(row.before.example.text == row.after.example.text for row in changes)


def test_equal_texts_of_other_ids_stay_apart_and_repeated_ones_count_once():
    twice = [answered("a fine film", [1, 2, 0], name=name) for name in ("x", "y", "x")]
    assert pellucid.diff(twice, twice, k=1).summary().n_texts == 2


def test_words_that_one_tokenizer_joins_are_one_word():
    text = "well-known film"
    joined = Units("word", ("[CLS]", "well-known", "film", "[SEP]"), (-1, 0, 0, -1), (0, 0, 11, 0), (0, 10, 15, 0))
    cut = Units(
        "word",
        ("[CLS]", "well", "-", "known", "film", "[SEP]"),
        (-1, 0, 0, 0, 0, -1),
        (0, 0, 4, 5, 11, 0),
        (0, 4, 5, 10, 15, 0),
    )
    before = explanation(text, [0, 3.0, 1.0, 0], units=joined)
    after = explanation(text, [0, 1.0, 1.0, 0.5, 4.0, 0], units=cut)
    [row] = pellucid.diff([before], [after], k=1)
    assert row.words_before == ("well-known",) and row.words_after == ("film",) and row.tau == -1


def test_twins_are_a_floor():
    twins = [version(seed, 0.5) for seed in (3, 4, 5)]
    near = pellucid.diff(version(1, 0.5), version(2, 0.5), twins=twins).summary()
    far = pellucid.diff(version(1, 0.5), version(2, 3.0), twins=twins).summary()
    assert len(far.twins) == 3 and far.twins[0].name == "version 3"
    assert far.is_beyond_twins == {"changed": False, "tau": True, "overlap": True}
    assert not any(near.is_beyond_twins.values())


def test_one_twin_or_several_in_any_form(tmp_path):
    pellucid.save(version(3, 0.5), tmp_path / "twin.parquet")
    read = pellucid.read(tmp_path / "twin.parquet")
    forms = (read, list(read), [read], tmp_path / "twin.parquet", [str(tmp_path / "twin.parquet")])
    records = [pellucid.diff(version(1), version(2, 1.0), twins=form).record() for form in forms]
    assert all(json.dumps(record) == json.dumps(records[0]) for record in records)


def test_equally_far_trainings_exceed_all_twins_as_rarely_as_chance_says():
    """B is exchangeable with its twins, so it is beyond all three in one case of four at most."""
    beyond = sum(
        pellucid.diff(
            version(1, 0.5),
            version(10 * n, 0.5),
            twins=[version(10 * n + m, 0.5) for m in (1, 2, 3)],
            resamples=100,
        )
        .summary()
        .is_beyond_twins["tau"]
        for n in range(2, 22)
    )
    assert beyond <= 5


def other_method(**parts):
    return version(2, method="gradient", **parts)


@pytest.mark.parametrize(
    ("after", "error", "sentence"),
    (
        (lambda: version(2, texts=[text.upper() for text in TEXTS]), BadInput, "have no text in common"),
        (other_method, BadInput, "There is no method in common"),
        (lambda: version(2, settings={"window": 3}), BadInput, "explain both with the same settings"),
        (
            lambda: version(2, target=Explained("negative", None, "logit", 0.0)),
            BadInput,
            "give results of one target",
        ),
        (list, BadInput, "There is no explanation in b"),
        (lambda: 3, PellucidError, "give what explain or read returned"),
        (lambda: [one.sentences() for one in version(2)], BadInput, "explain both by the same unit"),
    ),
)
def test_what_cannot_be_compared_is_one_sentence(after, error, sentence):
    with pytest.raises(error, match=sentence):
        pellucid.diff(version(1), after())


def test_several_methods_need_one_by_name():
    both = version(1) + other_method()
    with pytest.raises(BadSetting, match="give method= with one of: occlusion, gradient"):
        pellucid.diff(both, both)
    assert pellucid.diff(both, both, method="gradient").method == "gradient"
    assert pellucid.diff(both, version(2)).method == "occlusion"
    with pytest.raises(UnknownName, match="occlusio"):
        pellucid.diff(both, both, method="occlusio")


def test_a_twin_of_other_texts_is_refused():
    with pytest.raises(BadInput, match="twin 1 explains none"):
        pellucid.diff(version(1), version(2)[:20], twins=[version(3)[20:]])


def test_rows_are_a_data_frame_and_plain_values():
    changes = pellucid.diff(version(1), version(2, 1.0, says=lambda n: "negative" if n == 1 else "positive"))
    frame = changes.data_frame()
    assert frame["id"].tolist()[0] == "t1" and frame["changed"].sum() == 1
    record = json.loads(json.dumps(changes.record(), allow_nan=False))
    assert record["texts"][0]["tau"] is None and record["summary"]["n_changed"] == 1
    assert isinstance(changes[0].before.example, Example)
