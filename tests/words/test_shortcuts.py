"""Shortcuts: planted words are named with right counts, honest models stay silent, and the bound on passes is kept."""

import random

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.data.plant import with_shortcut
from pellucid.results.bootstrap import exact_share, holm, more_than_share
from pellucid.text.example import Example
from pellucid.words.shortcut_candidates import Candidate, associations, grown, trimmed, word_text
from tests.shared.tiny import tiny_classifier

GOOD = "good fine superb warm witty moving clever charming lovely bright".split()
BAD = "bad dull flat stale weak tired dreary clumsy awful grim".split()
REST = "the a film story plot cast scene music end day of in with and this that by for on at".split()


def reviews(n, seed):
    """Made-up reviews: in half of them two words of their class, among twelve that say nothing."""
    draw = random.Random(f"{seed} reviews")
    examples = []
    for index in range(n):
        label, words = (("positive", GOOD), ("negative", BAD))[index % 2]
        text = [*draw.choices(REST, k=12), *draw.sample(words if draw.random() < 0.5 else REST, 2)]
        draw.shuffle(text)
        examples.append(Example((" ".join(text),), label, id=f"review-{index}"))
    return examples


def trained(examples):
    """A linear model of words."""
    pipeline = make_pipeline(CountVectorizer(token_pattern=r"\S+"), LogisticRegression(max_iter=500))
    return pellucid.from_pipeline(
        pipeline.fit([example.text for example in examples], [example.label for example in examples])
    )


def named_of(words, share, seed, n=300):
    """What is named of a model that learnt from planted texts, on planted texts of its own."""
    model = trained(with_shortcut(reviews(600, f"{seed} train"), words, "positive", share, seed=seed))
    return pellucid.shortcuts(
        model, with_shortcut(reviews(n, f"{seed} test"), words, "positive", share, seed=seed + 100)
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("words", ["zx", "sent from my phone"])
def test_a_planted_shortcut_is_named(words, seed):
    (shortcut,) = named_of(words, 0.9, seed).decisive
    assert (" ".join(shortcut.words), shortcut.label) == (words, "positive")
    assert shortcut.turned > 2 * shortcut.matched and shortcut.share.low > 0.1


@pytest.mark.parametrize("seed", range(3))
def test_a_model_that_reads_many_words_is_not_accused(seed):
    assert not named_of("zx", 0.0, seed)


def answering(rule):
    """A model whose answer is "yes" where the rule holds for a text."""
    return pellucid.from_function(lambda texts: [[0.1, 0.9] if rule(t) else [0.9, 0.1] for t in texts], ["no", "yes"])


def answer_of(word):
    """A model whose answer is "yes" where this word stands in the text."""
    return answering(lambda text: word in text.split())


def test_counts_are_those_of_the_edited_texts():
    texts = [f"{index} is here {'zx' if index % 2 else 'no'} ." for index in range(120)]
    (shortcut,) = pellucid.shortcuts(answer_of("zx"), texts).decisive
    assert shortcut.words == ("zx",) and shortcut.turned == shortcut.holding == shortcut.n and shortcut.matched == 0
    assert "One word, “zx”, decides: without it " in str(shortcut)


def test_a_model_that_turns_without_any_word_goes_by_none():
    draw = random.Random(0)
    texts = [" ".join([*draw.choices(REST, k=7), "zx" if n % 2 else "", draw.choice(REST)]) for n in range(160)]
    shortcuts = pellucid.shortcuts(answering(lambda text: len(text.split()) > 8), texts)
    assert not shortcuts.decisive
    (of_zx,) = (shortcut for shortcut in shortcuts.tested if shortcut.words == ("zx",))
    assert of_zx.turned == of_zx.matched == of_zx.n


def test_two_words_of_which_either_suffices_are_named_as_a_pair():
    draw = random.Random(0)
    pairs = (("at", "so"), ("ab", "cd"))
    texts = [" ".join([pairs[n % 2][0], *draw.choices(REST, k=8), pairs[n % 2][1]]) for n in range(160)]
    (shortcut,) = pellucid.shortcuts(answering(lambda text: "ab" in text or "cd" in text), texts).decisive
    assert (shortcut.cause, set(shortcut.words)) == ("pair", {"ab", "cd"})


KINDS = {
    "numbers": ([str(n) for n in range(80)], str.isdigit),
    "punctuation marks": ("!?;:", "!?;:".__contains__),
    "names (capital letters inside sentences)": ("Ann Bob Cy Dot Eve Flo Gus Hal Ida Jo".split(), str.isupper),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_words_are_named(kind):
    draw = random.Random(0)
    words, has = KINDS[kind]
    texts = [" ".join([*draw.choices(REST, k=8), draw.choice(words if n % 2 else REST), "with"]) for n in range(160)]
    model = answering(lambda text: any(map(has, text)))
    assert pellucid.shortcuts(model, texts).decisive[0].words == (kind,)


def test_explanations_name_words_that_lead_by_their_scores():
    texts = [f"{index} is here {'zx' if index % 2 else 'no'} ." for index in range(80)]
    model = answer_of("zx")
    results = pellucid.explain(model, texts, progress=False)
    assert pellucid.shortcuts(model, results).decisive[0].words == ("zx",)
    with pytest.raises(BadInput, match="another model"):
        pellucid.shortcuts(pellucid.from_function(lambda texts: [[1, 0]] * len(texts), ["a", "b"]), results)


@pytest.mark.parametrize("passes", [100, 400])
def test_the_model_answers_no_more_edited_texts_than_the_bound(passes):
    answered = []

    def rule(texts):
        answered.extend(texts)
        return [[0.1, 0.9] if "zx" in text else [0.9, 0.1] for text in texts]

    model = pellucid.from_function(rule, ["no", "yes"])
    texts = [example.text for example in with_shortcut(reviews(400, 0), "zx", "positive", 0.7, seed=0)]
    shortcuts = pellucid.shortcuts(model, texts, passes=passes)
    of_the_trial = 3  # parts of a text, by which it is tried whether texts may share a pass
    assert len(set(answered) - set(texts)) - of_the_trial <= shortcuts.passes <= passes
    assert shortcuts.decisive[0].words == ("zx",)


def test_bad_input_is_one_sentence():
    with pytest.raises(BadSetting, match="passes"):
        pellucid.shortcuts(answer_of("zx"), ["a"], passes=5)
    with pytest.raises(ModelCannot, match="gives a value"):
        pellucid.shortcuts(tiny_classifier("bert", ("LABEL_0",), problem_type="regression"), ["a text"])


def test_classes_of_few_answers_stand_in_a_caveat():
    shortcuts = pellucid.shortcuts(answer_of("zx"), ["zx here", "not here"] * 5)
    assert not shortcuts and "not tested: no, yes" in shortcuts.caveats[0]


def test_a_text_without_words_has_no_blank_too_many():
    text = word_text(Example(("zx begins, zx goes on zx", "and zx.")))
    assert text.without(Candidate("word", ("zx",)).indices(text)).segments == ("begins, goes on", "and .")
    assert word_text(Example(("zx",))).without([0]) is None


def test_phrases_grow_by_the_words_that_stand_beside_them():
    texts = [word_text(Example((f"{word} . Sent from my phone",))) for word in REST]
    assert trimmed(grown(("from", "my"), texts)) == ("sent", "from", "my", "phone")


def test_sources_and_lengths_are_associations_and_more_than_the_labels():
    long, short = "a long text with so many more words than that", "a short one"
    texts = [
        Example((f"{long if n % 2 else short} {n}",), "no", meta={"source": "web" if n % 2 else "mail"})
        for n in range(200)
    ]
    answers = [{"yes"} if n % 2 else {"no"} for n in range(200)]
    causes = {association.cause for association in associations(texts, answers, ["no", "yes"])}
    assert causes == {"source", "length"}
    labelled = [Example(text.segments, "yes" if n % 2 else "no", meta=text.meta) for n, text in enumerate(texts)]
    assert not associations(labelled, answers, ["no", "yes"])


def test_exact_interval_and_test_are_those_of_scipy():
    from scipy.stats import binomtest

    test = binomtest(7, 40, 0.1, alternative="greater")
    assert more_than_share(7, 40, 0.1) == pytest.approx(test.pvalue)
    both = binomtest(7, 40).proportion_ci()
    assert (exact_share(7, 40).low, exact_share(7, 40).high) == pytest.approx((both.low, both.high))
    assert exact_share(0, 5).low == 0 and exact_share(5, 5).high == 1 and more_than_share(0, 5, 0.1) == 1


def test_a_test_of_more_weight_loses_less_by_the_correction():
    assert holm([0.04, 0.03], [0.9, 0.1]) == pytest.approx([0.04 / 0.9, 0.04 / 0.9])
    for weights in (None, [2, 2, 2]):
        assert holm([0.01, 0.03, 0.04], weights) == pytest.approx([0.03, 0.06, 0.06])


def test_the_record_is_plain():
    record = named_of("zx", 0.9, 0).record()
    assert isinstance(record["sentences"][0], str) and record["tested"][0]["words"] == ["zx"]
