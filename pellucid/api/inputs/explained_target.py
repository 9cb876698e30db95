"""What a caller wants explained, as the rooms read it: a class, a hidden state, or words that a model writes."""

from collections.abc import Sequence

from pellucid.core.foundation.checks import listed_members
from pellucid.core.foundation.errors import BadInput, BadSetting
from pellucid.core.foundation.wording import quoted
from pellucid.core.passes.model import WRITING, Model
from pellucid.core.passes.target import Output, Target, TargetName
from pellucid.core.states.hidden_target import HiddenState
from pellucid.core.text.example import Example
from pellucid.core.writing.word import TEXT, Word
from pellucid.models.writing.continuing import continued
from pellucid.models.writing.writing_model import WritingModel


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
