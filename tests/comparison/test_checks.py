"""Each check against a slow literal rewriting, and on scores whose outcome is known."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from pellucid.comparison.checks.changed_models import changes
from pellucid.comparison.scored_text import TAU, scored_text
from pellucid.comparison.word_correlation import synonym_examples, with_synonym
from pellucid.text.lexicon import is_content_word
from pellucid.text.wordnet import WordNet, wordnet_folder
from tests.reference import checks as literal
from tests.shared.cases import examples, model
from tests.shared.check_cases import case, explained, outcome, twin

A, B = "gradient", "integrated_gradients"


def changed(form):
    """The case with scores changed under the twin: the twin's texts are those of the model in another form."""
    whole = case()
    texts = {method: [replace(text, scores=form(text.scores)) for text in of] for method, of in whole.explained.items()}
    return _SecondExplanations(**{**vars(whole), "again": texts})


class _SecondExplanations(type(case())):
    """A case whose second explanations are fixed."""

    def __init__(self, again, **fields):
        super().__init__(**fields)
        object.__setattr__(self, "again", again)

    def explain(self, *_, **__):
        return self.again


def shuffled(scores):
    return np.random.default_rng(len(scores)).permutation(scores)


FORMS = {"same": lambda scores: scores, "negated": lambda scores: -scores, "shuffled": shuffled}


@pytest.mark.parametrize("k", (1, 2, 3))
def test_method_agreement_is_the_literal_loop(k):
    lines, texts = outcome("method_agreement", k=k), explained()
    assert lines.line(A, TAU, B).value.mean == pytest.approx(literal.mean_tau(texts[A], texts[B], abs))
    assert lines.line(A, beside=B, measure=f"overlap of the top {k}" if k > 1 else "same top word").value.mean == (
        pytest.approx(literal.mean_top(texts[A], texts[B], k, abs))
    )


def test_equal_methods_agree_fully():
    whole = case()
    same = replace(whole, explained=dict.fromkeys(whole.methods, whole.explained[B]))
    values = [line.value for line in outcome("method_agreement", same).lines]
    assert np.allclose([[one.mean, one.low, one.high] for one in values], 1, atol=1e-12)


@pytest.mark.parametrize("over", ("type", "token"))
def test_seed_agreement_is_the_literal_loop(over):
    one, again = outcome("seed_agreement", over=over), case().explain(twin())
    for method in (A, B):
        pairs = [
            pair for pair in zip(explained()[method], again[method], strict=True) if pair[0].label == pair[1].label
        ]
        expected = literal.seed_agreement([a for a, _ in pairs], [b for _, b in pairs], over)
        assert one.line(method, beside="twin").value.mean == pytest.approx(expected, abs=1e-9)
        assert 0 < len(pairs) <= len(explained()[method])


@pytest.mark.parametrize("over", ("type", "token"))
def test_seed_agreement_moves_the_right_way(over):
    values = {
        name: outcome("seed_agreement", changed(form), over=over).line(B).value.mean for name, form in FORMS.items()
    }
    assert values["same"] == pytest.approx(1) and values["negated"] == pytest.approx(-1)
    assert -0.9 < values["shuffled"] < 0.9


def test_texts_that_a_twin_answers_otherwise_are_left_out():
    whole = case()
    texts = {method: [replace(of[0], label="other"), *of[1:]] for method, of in whole.explained.items()}
    one = outcome("seed_agreement", _SecondExplanations(**{**vars(whole), "again": texts}))
    assert one.notes == ("1 of 6 texts are left out: twin answers them otherwise.",)


def test_dead_token_is_the_literal_loop():
    whole = case()
    blind, texts = whole.changes.without_first_word(whole.model, whole.examples)
    again = whole.explain(blind, texts)
    for method in whole.methods:
        expected = literal.dead_weight(again[method])
        assert outcome("dead_token").line(method).value.mean == pytest.approx(expected, abs=1e-9)


def test_integrated_gradients_pass_dead_token_and_chance_fails():
    one = outcome("dead_token")
    assert one.line(B).passed is True and one.line(B).value.high == 0
    assert one.line("chance(n_draws=2)").passed is False


def test_draw_agreement_is_the_literal_loop_and_leaves_exact_methods_out():
    one, method = outcome("draw_agreement", n_seeds=3, k=2), "chance(n_draws=2)"
    assert one.methods == (method,)
    runs = [explained()[method], *(case().explain(seed=seed)[method] for seed in (1, 2))]
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = sum(literal.mean_tau(runs[a], runs[b]) for a, b in pairs) / 3
    assert one.line(method, TAU).value.mean == pytest.approx(expected)
    assert one.line(method, TAU).value.mean < 0.5 < 1


def test_a_method_that_gives_the_same_with_every_seed_agrees_fully():
    whole = case()
    one = outcome("draw_agreement", _SecondExplanations(**{**vars(whole), "again": whole.explained}))
    assert all(line.value.mean == pytest.approx(1) for line in one.lines)


def test_chance_fails_weight_randomisation_and_methods_that_read_the_weights_pass():
    """All weights being random; a part alone may leave much of an explanation."""
    one = outcome("weight_randomisation", n_levels=2)
    chance = one.line("chance(n_draws=2)")
    assert chance.passed is False and chance.value.mean == pytest.approx(1)
    assert one.line(B).passed is True
    assert [curve.grid for curve in one.curves] == [(0.0, 0.5, 1.0)] * 3
    parts = outcome("weight_randomisation", n_levels=2, order="independent")
    assert all(line.passed is False for line in parts.of_method("chance(n_draws=2)"))


def test_weight_randomisation_is_the_literal_loop():
    """Each level explained text by text, for the class that the model answered."""
    import pellucid

    whole = case()
    changed = whole.changes.with_random_weights(whole.model, 0, 1, 0)
    texts = []
    for example, label in zip(whole.examples, whole.classes_explained(), strict=True):
        again = pellucid.explain(changed, [example], B, target=whole.model.labels.index(label))[0]
        texts.append(scored_text(again))
    expected = literal.mean_tau(explained()[B], texts)
    assert outcome("weight_randomisation", n_levels=1).line(B).value.mean == pytest.approx(expected, abs=1e-6)


def test_input_shift_is_passed_by_gradients_and_failed_by_gradients_times_input():
    import pellucid
    from tests.shared.tiny import tiny_classifier

    texts = ["A gripping, lovely film.", "Dull and long.", "The soup was warm, the waiter was kind."]
    methods = ["gradient", "gradient_x_input", "integrated_gradients", "occlusion"]
    table = pellucid.compare(tiny_classifier("bert"), texts, methods, ["comprehensiveness"], checks=["input_shift"])
    passed = {line.method: line.passed for line in table.check("input_shift").lines}
    assert passed == dict.fromkeys(methods, True) | {"gradient_x_input": False, "chance": True}


def test_changes_are_the_literal_sums():
    ones, others = explained()[A], explained()[B]
    for value, one, other in zip(changes(ones, others), ones, others, strict=True):
        differences = sum(abs(a - b) for a, b in zip(one.scores, other.scores, strict=True))
        assert value == pytest.approx(differences / sum(abs(a) for a in one.scores))


def test_random_weights_keep_the_numbers_and_change_only_the_parts_that_are_named():
    whole = case()
    model, head = whole.model, whole.changes.with_random_weights(whole.model, 0, 1 / 4, 0)
    before, after = (dict(one.network.named_parameters()) for one in (model, head))
    differing = [name for name in before if not torch.equal(before[name], after[name])]
    assert differing and not any(name.startswith("encoder.") for name in differing)
    every = dict(whole.changes.with_random_weights(model, 0, 1, 0).network.named_parameters())
    for name, parameter in before.items():
        assert torch.equal(parameter.flatten().sort().values, every[name].flatten().sort().values)
    assert len({name for name in before if not torch.equal(before[name], every[name])}) > len(differing)


@pytest.mark.parametrize("min_count", (1, 2))
def test_word_ranks_are_the_literal_means(min_count):
    one = outcome("word_ranks", k=3, min_count=min_count)
    for method in case().methods:
        scores = {}
        for text in explained()[method]:
            for word, score in zip(text.words, literal.relative(text), strict=True):
                if word.isalnum():
                    scores.setdefault(word.lower(), []).append(score)
        means = {word: sum(own) / len(own) for word, own in scores.items() if len(own) >= min_count}
        expected = sorted(means, key=lambda word: (-means[word], word))
        highest = [line for line in one.of_method(method) if line.measure == "highest"]
        lowest = [line for line in one.of_method(method) if line.measure == "lowest"]
        assert [line.beside for line in highest] == expected[:3]
        assert [line.beside for line in lowest] == expected[::-1][:3]
        assert [line.value.mean for line in highest] == pytest.approx([means[word] for word in expected[:3]])


def test_class_overlap_is_the_literal_count():
    one = outcome("class_overlap", k=2)
    for method in case().methods:
        lists = {}
        for text in explained()[method]:
            by_word = {}
            for word, score in zip(text.words, literal.relative(text), strict=True):
                if is_content_word(word):
                    by_word.setdefault(word.lower(), []).append(score)
            for word, own in by_word.items():
                sums = lists.setdefault(text.label, {})
                sums[word] = sums.get(word, 0) + sum(own) / len(own)
        best = [sorted(sums, key=lambda word, sums=sums: (-sums[word], word))[:2] for sums in lists.values()]
        shared = [len(set(a) & set(b)) / 2 for i, b in enumerate(best) for a in best[:i]]
        assert len(best) > 1
        assert one.line(method, beside="the method").value.mean == pytest.approx(sum(shared) / len(shared))


def test_edits_keep_the_number_of_words_and_say_which_texts_are_left_out():
    one = outcome("edit_agreement", edits=["blanks"])
    values = [line.value.mean for line in one.lines if line.measure == TAU]
    assert values == pytest.approx([1] * 3), "the tokenizer drops blanks, so nothing changes"
    assert one.notes == ("Of 6 texts under the edit “blanks”, 1 stay as they were.",)


def test_edit_agreement_is_the_literal_loop():
    whole = case()
    texts = [replace(one, segments=tuple(_upside_down(text) for text in one.segments)) for one in whole.examples]
    again = whole.explain(examples=texts)
    pairs = [
        (a, b) for a, b in zip(explained()[B], again[B], strict=True) if a.predicted == b.predicted and len(a.words) > 1
    ]
    expected = literal.mean_tau([a for a, _ in pairs], [b for _, b in pairs])
    assert outcome("edit_agreement", edits=["case"]).line(B, TAU).value.mean == pytest.approx(expected)


def _upside_down(text):
    return text.upper() if text.islower() else text.lower()


def test_one_word_becomes_a_synonym():
    if not (wordnet_folder() / "data.noun").is_file():
        pytest.skip("WordNet is not installed")
    text = "The film was a success."
    edited = with_synonym(text, WordNet(), 0)
    words, before = edited.split(), text.split()
    assert len(words) == len(before) and sum(a != b for a, b in zip(words, before, strict=True)) == 1
    assert with_synonym(text, WordNet(), 0) == edited and with_synonym("The of.", WordNet(), 0) == "The of."


def test_fragility_is_the_literal_loop():
    """Edit by edit and text by text: the lowest tau and overlap among the edits under which the answer stays."""
    if not (wordnet_folder() / "data.noun").is_file():
        pytest.skip("WordNet is not installed")
    whole, k, n_edits = case(), 2, 3
    wordnet, lowest = WordNet(), {"tau": [], "top": []}
    for example, own in zip(whole.examples, whole.explained[B], strict=True):
        taus, tops = [], []
        for edited in synonym_examples(example, n_edits, wordnet, whole.request.seed):
            again = whole.explain(examples=[edited])[B][0]
            differ = [n for n, pair in enumerate(zip(own.words, again.words, strict=True)) if len(set(pair)) > 1]
            assert len(differ) == 1
            if again.predicted == own.predicted and len(set(own.scores)) > 1 and len(set(again.scores)) > 1:
                taus.append(literal.mean_tau([own], [again]))
                if len(own.words) > k:
                    tops.append(literal.mean_top([own], [again], k))
        lowest["tau"] += [min(taus)] if taus else []
        lowest["top"] += [min(tops)] if tops else []
    lines = outcome("fragility", n_edits=n_edits, k=k)
    tau, top = lines.line(B, TAU, "the worst"), lines.line(B, f"overlap of the top {k}", "the worst")
    assert (tau.n, top.n) == (len(lowest["tau"]), len(lowest["top"])) and len(lowest["tau"]) > 1
    assert tau.value.mean == pytest.approx(sum(lowest["tau"]) / len(lowest["tau"]))
    assert top.value.mean == pytest.approx(sum(lowest["top"]) / len(lowest["top"]))
    for method in lines.methods:
        assert lines.line(method, TAU, "the worst").value.mean <= lines.line(method, TAU, "the first").value.mean
    chance = lines.line("chance(n_draws=2)", TAU, "the worst").value.mean
    assert chance < tau.value.mean


def test_corpus_agreement_is_the_literal_loop_over_common_words():
    whole, texts = case(), explained()[B]
    halves = texts[:3], texts[3:]
    of = replace(whole, explained={**whole.explained, B: halves[0]}, corpora={"others": {B: halves[1]}})
    one = outcome("corpus_agreement", of)
    sizes = [literal.types([replace(text, scores=np.abs(text.scores), label="") for text in half]) for half in halves]
    common = sorted(set(sizes[0]) & set(sizes[1]))
    expected = literal.pearson(*([means[word] for word in common] for means in sizes))
    line = one.line(B, beside="these texts and others")
    assert line.n == len(common) > 2
    assert line.value.mean == pytest.approx(expected)
    assert one.methods == (B,) and len(one.notes) == 2


def test_a_data_set_agrees_fully_with_itself_and_every_pair_of_data_sets_has_a_line():
    one = outcome("corpus_agreement", replace(case(), corpora={"x": explained(), "y": explained()}))
    assert [line.beside for line in one.of_method(B)] == ["these texts and x", "these texts and y", "x and y"]
    assert all(line.value.mean == pytest.approx(1) for line in one.lines)


def test_cost_counts_the_passes_of_each_method():
    import pellucid

    answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]  # noqa: E731
    model = pellucid.from_function(answer, ["negative", "positive"])
    texts = ["A good film tonight", "Dull and long again"]
    table = pellucid.compare(model, texts, ["occlusion"], ["comprehensiveness"], checks=["cost"])
    one = table.check("cost")
    # The answer, the guard's, and each of four words left out; random scores need the first two alone.
    assert [one.line(method, "passes a text").value.mean for method in ("occlusion", "chance")] == [6, 2]
    assert all(line.value.mean > 0 for line in one.lines if line.measure == "seconds a text")
    assert all(line.value.mean >= 0 or np.isnan(line.value.mean) for line in one.lines)


def test_chance_fails_dead_token_on_few_texts_since_all_its_draws_count():
    import pellucid

    table = pellucid.compare(
        model(), examples()[::2], ["gradient"], ["comprehensiveness"], checks=["dead_token"], resamples=100
    )
    assert table.check("dead_token").line("chance").passed is False
    assert explained()["chance(n_draws=2)"][0].draws.shape[0] == 2 and explained()[B][0].draws.shape[0] == 1
