"""Named attacks: choices of order, candidates, guards and search, a function each."""

from dataclasses import dataclass, field

from pellucid.base.entry import Choice
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attacks


@dataclass(frozen=True)
class AttackPlan:
    """The parts of an attack, each by name, or as (name, settings).

    order: an order of `attack_orders`, or any attribution method, whose highest scores come first. candidates: all of
        them are tried.
    guards: an edit must pass all. search: how edits are combined. Raises `BadSetting` without candidates, or for a
    string in place of a tuple.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> plan = pellucid.AttackPlan("occlusion", ("typos",), search=("beam", {"width": 2}))
    >>> pellucid.attack(model, "A good film.", plan)[0].ending
    'success'
    """

    order: Choice
    candidates: tuple[Choice, ...]
    guards: tuple[Choice, ...] = ("content_words",)
    search: Choice = field(default="greedy")

    def __post_init__(self) -> None:
        for name in ("candidates", "guards"):
            if not isinstance(getattr(self, name), tuple | list):
                raise BadSetting(
                    f"{name} of a plan is {getattr(self, name)!r}; give a tuple of names, such as "
                    f"({getattr(self, name)!r},)."
                )
        if not self.candidates:
            raise BadSetting(
                "A plan without candidates has nothing to put in; give one or more, such as ('synonyms',)."
            )


@attacks.add(unit="word", source="Ren et al. (2019)")
def pwws(*, named_entities: bool = False) -> AttackPlan:
    """Words by softmax(saliency) x best gain, each with the synonym that gains most in the text as it is.

    Probability weighted word saliency.

    Source: Ren et al. (2019), "Generating Natural Language Adversarial Examples through Probability
    Weighted Word Saliency", section 3.

    named_entities: names also become the commonest name of their kind in other classes' training texts, as in the
    paper; needs train=.
    """
    return AttackPlan("saliency_times_gain", ("synonyms", *(["named_entities"] if named_entities else [])))


@attacks.add(unit="word", needs={"gradient"}, source="after Jin et al. (2020)")
def textfooler(*, least: float = 0.8) -> AttackPlan:
    """Words by occlusion, each by the near word that helps most; least: similarity of the texts, -1 to 1.

    Near words in the order of their importance, as long as the text says about the same.

    Source: Jin et al. (2020), "Is BERT Really Robust? A Strong Baseline for Natural Language Attack on
    Text Classification and Entailment", algorithm 1. Where the paper has counter-fitted vectors and the
    Universal Sentence Encoder, neither of which is a package, ours are the model's own vectors and
    MiniLM; opposites are kept out by WordNet.
    """
    guards = ("content_words", "antonyms", ("similarity", {"least": least}))
    return AttackPlan("occlusion", ("neighbours",), guards)


@attacks.add(unit="word", source="after Gao et al. (2018)")
def deepwordbug() -> AttackPlan:
    """Words by occlusion, each misspelt by one character; needs no dictionary.

    Misspelt words.

    Source: Gao et al. (2018), "Black-Box Generation of Adversarial Text Sequences to Evade Deep
    Learning Classifiers". They rank words by what the model answers to the text's beginnings and ends;
    here occlusion ranks them.
    """
    return AttackPlan("occlusion", ("typos",))


@attacks.add(unit="word", source="WS of Ren et al. (2019), section 4.3")
def word_saliency() -> AttackPlan:
    """Words by occlusion, each with its best synonym.

    Synonyms where the model's answer falls most without the word.
    """
    return AttackPlan("occlusion", ("synonyms",))


@attacks.add(unit="word", needs={"gradient"}, source="Gradient of Ren et al. (2019), section 4.3")
def gradient() -> AttackPlan:
    """Words by the length of the gradient, each with its best synonym.

    Synonyms where the gradient is largest.
    """
    return AttackPlan("gradient", ("synonyms",))


@attacks.add(unit="word", source="TiWO of Ren et al. (2019), section 4.3")
def text_order() -> AttackPlan:
    """Words in reading order, each with its best synonym.

    Synonyms from the first word to the last.
    """
    return AttackPlan("text_order", ("synonyms",))


@attacks.add(unit="word", source="Random of Ren et al. (2019), section 4.3")
def random() -> AttackPlan:
    """Words in random order, each with its best synonym.

    What every other attack must beat.
    """
    return AttackPlan("random_order", ("synonyms",))


@attacks.add(unit="word", needs={"gradient"}, source="ours, with the first-order gains of Ebrahimi et al. (2018)")
def screened(*, per_unit: int = 3) -> AttackPlan:
    """Words by the best first-order gain of their synonyms; per_unit: how many synonyms of a word are asked, 1 or more.

    Synonyms that the gradient singles out; the model is asked about these alone.
    """
    return AttackPlan("text_order", ("synonyms",), search=("screened", {"per_unit": per_unit}))


@attacks.add(unit="span", source="Sun et al. (2020), section 5.6")
def span_paraphrase(*, n_spans: int = 1) -> AttackPlan:
    """One of the heaviest spans becomes its back-translation, the heaviest first. n_spans: how many are tried; the
    paper's 1.

    The heaviest spans, each translated to another language and back.

    Source: Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 5.6:
    "Self-Explaining + Paraphrase".
    """
    return AttackPlan("text_order", ("back_translation",), search=("one_unit", {"n_units": n_spans}))
