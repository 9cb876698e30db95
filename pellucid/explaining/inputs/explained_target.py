"""What a caller wants explained, as the rooms read it: a class, a hidden state, or words that a model writes."""

from collections.abc import Iterable, Sequence

from pellucid.base.catalogue import Choice
from pellucid.base.checks import choices, listed_members
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.kinds import attributions
from pellucid.base.kinds import metrics as known_metrics
from pellucid.base.wording import quoted
from pellucid.models.writing.continuing import continued
from pellucid.models.writing.writing_model import WritingModel
from pellucid.run.hidden_target import HiddenState
from pellucid.run.model import WRITING, Model
from pellucid.run.target import Output, Target, TargetName
from pellucid.run.word import TEXT, Word
from pellucid.text.example import Example

# Metrics that read nothing but the probability of what is explained.
OF_TEXTS = ("comprehensiveness", "sufficiency")


def explained_target(
    model: Model, target: TargetName | HiddenState | Word, output: Output
) -> Target | HiddenState | Word:
    """The target as asked for; of a model that writes, words. Raises `BadSetting` for an output that it does not have."""
    if isinstance(model, WritingModel) and not isinstance(target, HiddenState | Word):
        target = _word(target)
    if not isinstance(target, HiddenState | Word):
        return Target(target, output)
    if output != "logit":
        states = isinstance(target, HiddenState)
        what = "a hidden state has no probability and no loss" if states else "a word has its log-probability"
        raise BadSetting(f"output={output!r} belongs to classes; {what}.")
    return target


def _word(target: TargetName) -> Word:
    """The word of a name or number, or one against another; "predicted" is each word of the text."""
    if isinstance(target, tuple):
        word, against = target
        return Word(word, str(against))
    if isinstance(target, str) and target.isdecimal():
        return Word(int(target))
    return Word() if target == "predicted" else Word(target)


def to_explain(model: Model, examples: Sequence[Example]) -> tuple[Example, ...]:
    """The examples; of a model that writes, each with the text that it writes where only the first was given."""
    if not isinstance(model, WritingModel):
        return tuple(examples)
    return tuple(continued(model, example) for example in examples)


def judged_target(model: Model, target: TargetName | Word) -> Target | Word:
    """What explanations that metrics judge explain: a class, or of a model that writes the whole text.

    Raises `BadSetting` for another target of a model that writes.
    """
    if WRITING not in model.capabilities:
        return Target(target)  # type: ignore[arg-type]
    if target in ("predicted", TEXT, Word(TEXT)):
        return Word(TEXT)
    raise BadSetting(
        f"target={quoted(target)} is not possible: of {model.name}, which writes texts, metrics judge explanations of the whole "
        "text; leave target away."
    )


# Which passages a caller names: some for every text, or some for each.


Passages = Sequence[str] | Sequence[Sequence[str]]


def named_passages(passages: Passages | None, count: int) -> list[tuple[str, ...]] | None:
    """The passages of each of `count` texts; None where there are none.

    passages: a list of strings, which stand in every text, or a list of such lists, one a text. Raises `BadInput` for anything else.
    """
    if passages is None:
        return None
    members = None if isinstance(passages, str) else listed_members(passages)
    if not members:
        raise BadInput(f"passages={quoted(passages)} names none; give a list of parts of the text.")
    if all(isinstance(member, str) for member in members):
        return [tuple(map(str, members))] * count
    lists = [None if isinstance(member, str) else listed_members(member) for member in members]
    if [] in lists:
        raise BadInput(
            f"passages= names none for text {lists.index([])}; explain texts without passages in a call of their own."
        )
    if not all(own and all(isinstance(passage, str) for passage in own) for own in lists):
        raise BadInput("passages= are strings, or a list of strings for each text; something else came.")
    if len(lists) != count:
        raise BadInput(f"passages= has {len(lists)} lists for {count} texts; give one a text.")
    return [tuple(map(str, own or ())) for own in lists]


# Which methods and metrics run when the caller names none, or "all".


ALL = "all"  # in a list of methods: every one that is usual and that the model supports


def default_method(
    model: Model, target: TargetName | HiddenState | Word = "predicted", output: str = "logit"
) -> str:
    """The method where none is named: a self-explaining model's own, else integrated gradients, else occlusion.

    A model's own weights say which words the answer was read from; another class, or another number than the logit, they
    cannot explain. Of a model that writes, span attention where it has span weights, else occlusion.
    """
    own = ("span_attention", "rationale", "b_cos") if target == "predicted" and output == "logit" else ()
    if WRITING in model.capabilities:
        words = not isinstance(target, Word) or target.against is None
        # Edited texts serve all words at once.
        return "span_attention" if words and "span_weights" in model.capabilities else "occlusion"
    works = supported_methods(model)
    return next(name for name in (*own, "integrated_gradients", "occlusion") if name in works)


def methods_to_run(model: Model, methods: Iterable[Choice] | None) -> tuple[list[Choice], frozenset[str]]:
    """The methods to run, and the names of those that "all" stands for."""
    listed = [ALL] if methods is None else choices("methods", methods)
    named = [choice for choice in listed if choice != ALL]
    if ALL not in listed:
        return named, frozenset()
    names = {attributions.full_name(choice if isinstance(choice, str) else choice[0]) for choice in named}
    usual = [str(choice) for choice in usual_methods(model) if choice not in names]
    return [*usual, *named], frozenset(usual)


def usual_methods(model: Model) -> list[Choice]:
    """The names of the usual methods that the model supports: those that run without being named."""
    return [name for name in supported_methods(model) if attributions.get(str(name)).facts["usual"]]


def supported_methods(model: Model) -> list[Choice]:
    """The names of all methods that need nothing that the model lacks."""
    return [
        name
        for name in attributions.names()
        if not attributions.get(name).facts["needs"] - model.capabilities
    ]


def default_metrics(model: Model, examples: Sequence[Example]) -> list[Choice]:
    """All usual metrics; where a label is not one of the model's classes, metrics use its prediction instead of the label.

    Of a model that writes those that judge what it writes.
    """
    if WRITING in model.capabilities:
        return [*OF_TEXTS]
    strange = any(example.label not in model.labels for example in examples)
    usual = [name for name in known_metrics.names() if known_metrics.get(name).facts["usual"]]
    names = sorted(usual, key=lambda name: known_metrics.get(name).facts["column"])
    by_prediction = {"reference": "prediction"}
    return [
        (name, by_prediction) if strange and "reference" in known_metrics.get(name).defaults else name
        for name in names
    ]
