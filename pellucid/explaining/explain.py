"""The doors `explain` and `explain_all`: one method or several, on texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, TypeVar, get_args

from pellucid.base.catalogue import Choice
from pellucid.base.checks import one_of, quoted
from pellucid.base.errors import BadSetting, Failure, ModelCannot, failures_in_words, notify
from pellucid.base.processes import Progress
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.explained_texts import GROUP, OnError, TextQuestion, explained, explained_by_workers
from pellucid.explaining.inputs.chats import Template
from pellucid.explaining.inputs.examples import examples_for, reads_label, strange_for
from pellucid.explaining.inputs.loading import loading_for
from pellucid.explaining.inputs.models import any_model_from
from pellucid.explaining.inputs.readings import (
    Data,
    ExplainedName,
    ModelSource,
    Passages,
    by_message,
    default_method,
    explained_target,
    methods_to_run,
    named_passages,
    to_explain,
)
from pellucid.models.classifiers.piece_answers import sharing_own_answers
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.side_by_side import SideBySide
from pellucid.run.explaining import left_out
from pellucid.run.labels import Labels, by_label
from pellucid.run.target import Output
from pellucid.text.example import Example
from pellucid.text.label_map import LabelMap
from pellucid.text.passages import FixedPart, Rest, fixed_parts_of, place_of, turns_of, with_fixed_parts


def explain(
    model: ModelSource,
    texts: Data,
    method: str | None = None,
    *,
    target: ExplainedName = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    keep: FixedPart | Sequence[FixedPart] | None = None,
    workers: int = 1,
    progress: bool | Progress | None = None,
    **settings: Any,
) -> Results:
    """Explain each text by one method.

    model: from `load`, `train` or another door; or a folder, a hub name, a pipeline of transformers, a fitted one of
        scikit-learn, a `SentenceTransformer` or `CrossEncoder`; or a function without arguments that returns one of
        these, for `workers`.
    texts: a string, a pair, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`.
        For a language model also the messages of a chat, [{"role": "user", "content": "…"}], (messages, answer) pairs,
        lists of both, or a table with a column "messages": the model's own template is applied.
    method: a name of `methods`. None: of a model that explains itself its own ("span_attention" or "rationale"), where
        its prediction is explained; else "integrated_gradients", or "occlusion" of a model without gradients.
    target: what is explained: "predicted", "gold", a class name or number, a pair of classes "why A, not B", or
        `HiddenState(layer, positions)`, or a learnt concept, `LearntConcepts.target(3)`. Several labels of each text,
        with an explanation for each: "all predicted", "all", a list of names, or `Labels(threshold=…)`. Of a model that
        writes `Word(step)`: each word of the text that it writes ("predicted" means it too), one of them, or all
        together; a word may stand here alone. Where one text is given, the model writes the second one first.
    output: the number of the class that is explained: "logit", "probability" or "loss".
    seed: a whole number; the seed of random methods.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label -> class of the model, for labels under other names.
    skip_bad_rows: leave out rows without a text, or that cannot be read, with a warning that counts them.
    on_error: "raise" the error of a text, or "keep" it: that text has no explanation, `failures` of the results says
        why, a warning counts them, and all others are explained, in groups of 64. An error of the question, or of a
        service that answers nobody, is raised in any case, and so is the first one where every text fails.
    answer: of a model that writes, what it writes after the text or chat, or one a text; None: it writes it first. Of a
        tagger, or a model that answers questions, the part of the text that is asked about; None: each entity, or its
        answer.
    template: what the template of a chat reads besides, such as {"tools": […]} or {"documents": […]}.
    passages: parts of the first text, as they stand there, that have one score each: which of the retrieved passages
        does the answer rest on? A second text has its words. A list, or one
        list a text. "messages": each message of a chat is one; the setting unit="message" means that, too.
    rest: what stands between two passages: a unit "together", or its "words", as where names of several words count as
        passages.
    keep: what is never taken out of a text and has no score, such as an instruction: a part of the texts as it stands
        there, wherever it stands, a compiled regular expression, {"role": "system"} of chats, or a list of these.
    workers: processes that explain groups of 64 texts at once, each with a model of its own and its share of the
        threads; more than one need a model that was loaded from files, or a function at the top of a module that
        makes it. In a script, such a call stands under `if __name__ == "__main__":`.
    progress: draw a progress bar; None: when a terminal is watching. A function is called with the stage, how much is
        done, and of how much.
    settings: the method's own; `methods` lists them with their defaults.

    Returns `Results`: one explanation a text, in order, or one for each of its labels, entities or masked words; they
    can be filtered, counted and drawn. Raises `UnknownName`
    for a method, class or setting that does not exist, `ModelCannot` where the model lacks what the method needs,
    `BadInput` for a text that cannot be read, `ParityBroken` when the pass that is explained does not give the model's
    own logits.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> results = pellucid.explain(model, ["A good film.", "Dull."])
    >>> results[0]
    <Explanation 'A good film.' positive 0.90 by occlusion>
    >>> [(word, round(score, 2)) for word, score in results[0]]
    [('A', 0.0), ('good', 1.5), ('film', 0.0), ('.', 0.0)]
    >>> pellucid.explain(model, "A good film.", "occlusion", target="negative", output="probability")[0].target.label
    'negative'
    """
    model = any_model_from(model)
    method = default_method(model, target, output) if method is None else method
    if not isinstance(method, str):
        raise BadSetting(
            f"method={quoted(method)} is not possible; give the name of one method. explain_all(model, texts, methods) "
            f"runs several."
        )
    side_by_side = explain_all(
        model,
        texts,
        [(method, settings) if settings else method],
        target=target,
        output=output,
        seed=seed,
        text=text,
        label=label,
        label_map=label_map,
        skip_bad_rows=skip_bad_rows,
        on_error=on_error,
        answer=answer,
        template=template,
        passages=passages,
        rest=rest,
        keep=keep,
        workers=workers,
        progress=progress,
    )
    return next(iter(side_by_side.values()))


def explain_all(
    model: ModelSource,
    texts: Data,
    methods: Iterable[Choice] | None = None,
    *,
    target: ExplainedName = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    keep: FixedPart | Sequence[FixedPart] | None = None,
    workers: int = 1,
    progress: bool | Progress | None = None,
) -> SideBySide:
    """Explain each text by several methods, which share their forward passes.

    model: from `load`, `train` or another door; or a folder, a hub name, a pipeline of transformers, a fitted one of
        scikit-learn, a `SentenceTransformer` or a `CrossEncoder`.
    texts: a string, a pair, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`.
    methods: names, or (name, settings) pairs. "all" (None means it too) stands for every usual method that the model
        supports and that is not named itself. A method that runs because of "all" and cannot explain the model after
        all is left out; one that was named raises `ModelCannot`.
    target, output, seed, text, label, label_map, skip_bad_rows, on_error, answer, template: as in `explain`.
    passages, rest, keep, workers, progress: as in `explain`.

    Returns a mapping, the method's title -> the `Results` of the texts. It draws the methods side by side, and its
    left_out says which methods are missing, and why. Equal texts are computed once. Raises as `explain` does.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> side_by_side = pellucid.explain_all(model, ["A good film."], ["occlusion", ("lime", {"n_samples": 50})])
    >>> side_by_side
    <SideBySide: 1 text by occlusion, lime(n_samples=50)>
    >>> {method: results[0].top(1)[0].text for method, results in side_by_side.items()}
    {'occlusion': 'good', 'lime(n_samples=50)': 'good'}
    """
    model = any_model_from(model)
    strange = strange_for(target)
    with sharing_own_answers():  # the guard compares with the call in which places were looked for
        examples = examples_for(
            model,
            texts,
            text=text,
            label=label,
            label_map=label_map,
            skip_bad_rows=skip_bad_rows,
            strange=strange,
            answer=answer,
            template=template,
        )
        choices, by_all = methods_to_run(model, methods)
        one_of("rest", rest, get_args(Rest))
        examples = with_fixed_parts(examples, keep)
        one_of("on_error", on_error, get_args(OnError))
        choices, passages = by_message(choices, passages)
        named = named_passages(passages, examples)
        explainable = explained_target(model, target, output)
        question = TextQuestion(choices, by_all, explainable, seed, named is not None, rest, on_error)
        request = question.request(model)
        load = loading_for(workers, model)
        examples = to_explain(model, examples)
        texts_once = equal_texts(examples, by_label=reads_label(target), passages=named)
        of_texts = None if named is None else texts_once.first_of(named)
        start = perf_counter()
        with progress_bar(progress) as show_progress:
            if load is None or len(texts_once.distinct) <= GROUP:
                done = explained(question, request, texts_once.distinct, of_texts, show_progress)
            else:
                done = explained_by_workers(
                    question, load, model.hash, texts_once.distinct, of_texts, workers, show_progress
                )
    failures = texts_once.failures(done.failures)
    by_method = {title: texts_once.results(of_method, failures) for title, of_method in done.by_method.items()}
    if isinstance(question.target, Labels):
        target = question.target
        by_method = {title: by_label(results, target) for title, results in by_method.items()}
    return SideBySide(by_method, left_out(model, request.calls) | done.failed, perf_counter() - start)


# Equal texts are explained once: of several, the first is computed, and each gets a copy under its own name.

Value = TypeVar("Value")


@dataclass(frozen=True)
class EqualTexts:
    """Examples of which some have equal texts. distinct: the first of each; index: [example] its place in distinct."""

    examples: tuple[Example, ...]
    distinct: tuple[Example, ...]
    index: tuple[int, ...]

    def first_of(self, values: Sequence[Value]) -> list[Value]:
        """[distinct example]: the value of the first example of each, from those of all."""
        return [values[self.index.index(place)] for place in range(len(self.distinct))]

    def failures(self, reasons: Mapping[int, str]) -> tuple[Failure, ...]:
        """The rows without explanations, which a notice counts. reasons: place among the distinct ones -> why. Raises
        `ModelCannot` where no row has one.
        """
        rows = [row for row, place in enumerate(self.index) if place in reasons]
        failed = tuple(Failure(row, self.examples[row].id, reasons[self.index[row]]) for row in rows)
        if failed and len(failed) == len(self.examples):
            raise ModelCannot(failed[0].reason)
        if failed:
            notify(f"{failures_in_words(failed)} They are left out; `failures` of the results has all.")
        return failed

    def results(self, explanations: Sequence[Explanation], failures: tuple[Failure, ...]) -> Results:
        """[example]: its explanation, from those of the distinct examples without failures, with its own id, label and
        rationales.
        """
        failed = {failure.row for failure in failures}
        rows = [row for row in range(len(self.examples)) if row not in failed]
        places = dict(zip(sorted({self.index[row] for row in rows}), explanations, strict=True))
        named = (replace(places[self.index[row]], example=self.examples[row]) for row in rows)
        return Results(tuple(named), numbers=tuple(rows), failures=failures)


def equal_texts(
    examples: Sequence[Example], *, by_label: bool, passages: Sequence[tuple[str, ...]] | None = None
) -> EqualTexts:
    """Find examples with equal texts; by_label: they must have the same label too, where the target depends on it.

    passages: those of each example, which must be the same too; None: none are named.
    """
    places: dict[tuple[object, ...], int] = {}
    first: dict[int, Example] = {}
    index = []
    for example, passage in zip(examples, passages or [()] * len(examples), strict=True):
        question = (passage, turns_of(example), place_of(example), fixed_parts_of(example))
        key = (example.segments, example.label if by_label else None, *question)
        place = places.setdefault(key, len(places))
        first.setdefault(place, example)
        index.append(place)
    return EqualTexts(tuple(examples), tuple(first.values()), tuple(index))
