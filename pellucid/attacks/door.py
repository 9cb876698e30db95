"""The door `attack`: edits of texts that change the model's answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pellucid.attacks.apertium.tagged_words import Tagger
from pellucid.attacks.attack_steps import method_of, parts_of
from pellucid.attacks.cases import goal_call, stored_scores, stored_spans
from pellucid.attacks.dictionaries import Dictionaries, NameCounts, name_counts
from pellucid.attacks.folder import AttackFolder, earlier_attempts
from pellucid.attacks.named import AttackPlan
from pellucid.attacks.question import AttackQuestion
from pellucid.attacks.record import Attempts
from pellucid.base.catalogue import Choice
from pellucid.base.checks import in_syntax, listed, whole
from pellucid.base.errors import BadSetting, ModelCannot, notify
from pellucid.base.files import possible_path
from pellucid.base.kinds import attacks
from pellucid.base.leases import Share, share_of
from pellucid.base.processes import Progress
from pellucid.corpus.slices import crew_of
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import model_from, translator_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.explaining.read import read_explanations
from pellucid.models.word_neighbours import (
    FileNeighbours,
    SentenceVectors,
    installed_sentence_vectors,
    word_neighbours,
)
from pellucid.models.writing.continuing import ModelPivot
from pellucid.results.explanation import Explanation
from pellucid.results.extraction import Extraction
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.model import Model, lacking
from pellucid.text.example import Example
from pellucid.text.label_map import LabelMap
from pellucid.text.wordnet import wordnet_folder

SPANISH = ("spanish",)


def attack(
    model: ModelSource,
    examples: Data,
    attack: str | AttackPlan = "pwws",
    *,
    goal: Choice = "flip",
    max_queries: int | None = None,
    extractor: str | None = None,
    order_from: Sequence[Explanation] | str | Path | None = None,
    spans_from: Sequence[Extraction] | str | Path | None = None,
    train: Data | None = None,
    wordnet: str | Path | None = None,
    vectors: str | Path | None = None,
    pivots: Sequence[str] | None = None,
    translators: Sequence[ModelSource] | None = None,
    n_best: int = 1,
    seed: int = 0,
    folder: str | Path | None = None,
    slice: str | None = None,
    workers: int = 1,
    engine: Choice = "local",
    reuse: str | Path | None = None,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    progress: bool | Progress | None = None,
    **settings: Any,
) -> Attempts:
    """Edit texts, a few words or a span, in the order that an explanation gives, until the model's answer changes.

    model: from `load`, `train` or another door; or a folder, a hub name, a text-classification pipeline of transformers
        or a fitted one of scikit-learn.
    examples: a string, a pair, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a
        `pathlib.Path`. Texts with a label are attacked where the model's answer is right, others in any case.
    attack: its name, or an `AttackPlan` of your own. settings: the attack's own.
    goal: "flip", any other class; the name of a class that the model shall predict; `("value", {"distance": 0.5})`, a
        regression model's value moves by 0.5 or more; `("label", {"label": "toxic"})`, one of several labels is
        switched; or "explanation", the class stays and other words become those with the highest scores (`method`, `k`
        and `most_overlap` are its settings).
    max_queries: for each text at most so many edited texts are given to the model, the passes of the order included;
        None: no limit. An order by another method than occlusion is paid in full.
    extractor: for attacks on spans, what finds them: an extractor or an attribution method; None: "span_attention" for
        models that have it, else "occlusion".
    order_from: explanations of the same texts by one method, from `explain`, or the file that they were saved in: their
        scores stand for those of the method that the attack's order reads, and cost no query.
    spans_from: for attacks on spans: extractions of the same texts, from `extract` (of another model too), or the file
        that `write_json_lines` or `pellucid extract` wrote: their spans are edited, and finding them costs no query.
    train: labelled texts, in any form that `examples` can have, in which the candidates `named_entities` count names;
        others do not read them.
    wordnet: the folder with Princeton's files; None: the installed one.
    pivots: languages of back-translation by rules: "spanish", "catalan", "galician"; None: "spanish", or none where
        there are translators.
    vectors: a text file of word vectors (GloVe, fastText, counter-fitted), whose near words the candidates `neighbours`
        are; None: the model's own.
    translators: two models that write, or their folders or hub names: one translates a text, the other translates back.
    n_best: how many of the likeliest translations are translated back, 1 to 32.
    seed: a whole number; the seed of random parts. The same seed makes the same edits, whatever other texts are
        attacked.
    folder: keeps the attempts part by part, in a folder in it with the attack's name; the same call goes on where it
        was interrupted, and makes again what is missing or was changed. Several attacks on the same texts may share it,
        and `pellucid.read` reads all. None: they are kept in memory.
    slice: "i/n", such as "3/64", for one of n calls that share a folder, on one machine or several: each computes parts
        that no other one has, and the last one joins them.
    workers: processes that compute parts at once, each with a model of its own and its share of the threads; more than
        one need a folder, and a model that was loaded from files. In a script, such a call stands under `if __name__ ==
        "__main__":`.
    engine: what computes: "local", processes of this machine; "ray", actors of Ray, with settings
        ("ray", {"address": "auto"}); or one that another package registers. Others than local need a folder.
    reuse: the folder of an earlier call with the same model, attack and settings: its attempts on equal texts are
        copied.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label -> class of the model, for labels under other names.
    skip_bad_rows: leave out rows without a text, or that cannot be read, with a warning that counts them.
    progress: draw a progress bar; None: when a terminal is watching. A function is called with the stage, how much is
        done, and of how much.

    Returns one `Attempt` a text. Every success is confirmed by a call of the model with the edited text alone. Raises
    `UnknownName` for an attack, class or part that does not exist, `ModelCannot` for a model that the goal does not fit
    or that lacks what the order needs, `BadFile`, with the package that brings it, where WordNet or a language is not
    installed, or for a folder with the attempts of other texts, models or settings.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> attempts = pellucid.attack(model, [("A good film.", "positive"), ("Dull.", "positive")], "deepwordbug")
    >>> attempts
    <Attempts: 1 of 1 texts fooled by deepwordbug>
    >>> attempts[0].edits[0].before, attempts[0].queries
    ('good', 7)
    >>> attempts[1].ending
    'wrong before'
    """
    model = model_from(model)
    columns: dict[str, Any] = {"text": text, "label": label, "label_map": label_map, "skip_bad_rows": skip_bad_rows}
    data = examples_for(model, examples, strange="allowed", **columns)
    whole("seed", seed, 0, HIGHEST_SEED)
    if max_queries is not None:
        whole("max_queries", max_queries, 1, 2**31)
    share, crew = share_of(slice), crew_of(model, workers, engine, slice, folder)
    ask = partial(
        _folder_of,
        data=data,
        attack=attack,
        settings=settings,
        goal=goal,
        max_queries=max_queries,
        extractor=extractor,
        order_from=order_from,
        spans_from=spans_from,
        train=train,
        columns=columns,
        wordnet=wordnet,
        vectors=vectors,
        pivots=pivots,
        translators=translators,
        n_best=n_best,
        seed=seed,
        folder=folder,
        reuse=reuse,
    )
    in_folder = ask(model)
    if reuse is not None:
        notify(f"{in_folder.n_copied:,} of {len(data):,} texts have an attempt in {reuse}, which is copied.")
    with progress_bar(progress) as show_progress:
        if crew is not None:
            return in_folder.attempts_by_crew(crew, partial(_compute_share, ask), show_progress)
        if slice is None:
            return in_folder.attempts(show_progress)
        return in_folder.attempts_by_slices(share, show_progress)


def _compute_share(ask: Callable[[Model], AttackFolder], model: Model, share: Share) -> None:
    """In a worker."""
    ask(model).compute_share(share)


def _folder_of(
    model: Model,
    *,
    data: Sequence[Example],
    attack: str | AttackPlan,
    settings: dict[str, Any],
    goal: Choice,
    max_queries: int | None,
    extractor: str | None,
    order_from: Sequence[Explanation] | str | Path | None,
    spans_from: Sequence[Extraction] | str | Path | None,
    train: Data | None,
    columns: dict[str, Any],
    wordnet: str | Path | None,
    vectors: str | Path | None,
    pivots: Sequence[str] | None,
    translators: Sequence[ModelSource] | None,
    n_best: int,
    seed: int,
    folder: str | Path | None,
    reuse: str | Path | None,
) -> AttackFolder:
    """The texts and what is asked of them; arguments as of `attack`."""
    name, plan, unit = _plan(model, attack, settings, has_vectors=vectors is not None)
    wanted = goal_call(model, goal)
    meaning = SentenceVectors() if _needs_similarity(plan) else installed_sentence_vectors()
    names = _name_counts(model, plan, train, columns)
    by_models = model_pivot(translators, n_best)
    languages = tuple(pivots) if pivots is not None else SPANISH if by_models is None else ()
    folder_of_wordnet = wordnet_folder() if wordnet is None else possible_path(wordnet)
    near = word_neighbours(model) if vectors is None else FileNeighbours(possible_path(vectors))
    dictionaries = Dictionaries(folder_of_wordnet, languages, meaning, near, names, by_models)
    stored = None if order_from is None else _stored(order_from, plan, name, data)
    spans = stored_spans(spans_from, unit, name, data)
    question = AttackQuestion(
        model, name, plan, unit, extractor, wanted, dictionaries, seed, max_queries, stored, spans
    )
    inside = name.partition("(")[0]
    earlier = {} if reuse is None else earlier_attempts(possible_path(reuse) / inside, question)
    return AttackFolder(None if folder is None else possible_path(folder) / inside, question, data, earlier)


def _plan(
    model: Model, attack: str | AttackPlan, settings: dict[str, Any], has_vectors: bool
) -> tuple[str, AttackPlan, str]:
    """The attack's title, its plan, and what it edits; raises `ModelCannot` where the model lacks what it needs.

    has_vectors: whether the user gives vectors of words, so that the model's own are not needed.
    """
    if isinstance(attack, AttackPlan):
        parts = parts_of(attack)
        if settings:
            raise BadSetting(f"An AttackPlan has its settings in its parts; {listed(settings)} came besides.")
        search = parts.search.entry
        if lacks := lacking(model, search.facts["needs"]):
            raise ModelCannot(f"The search {search.name} does not work with {model.name}, which {lacks}; use greedy.")
        of_head = [
            candidate.entry.name for candidate in parts.candidates if "language_head" in candidate.entry.facts["needs"]
        ]
        if of_head and (lacks := lacking(model, {"language_head"})):
            raise ModelCannot(f"The candidates {of_head[0]} do not work with {model.name}, which {lacks}.")
        return "plan", attack, "word"
    (call,) = attacks.calls([(attack, settings)])
    needs = call.entry.facts["needs"]
    if has_vectors:
        needs = needs & parts_of(call()).search.entry.facts["needs"]
    if lacks := lacking(model, needs):
        possible = [name for name in attacks.names() if attacks.get(name).facts["needs"] <= model.capabilities]
        raise ModelCannot(
            f"{attack} does not work with {model.name}, which {lacks}. Attacks that work with it: {listed(possible)}."
        )
    return call.title, call(), call.entry.facts["unit"]


def _stored(
    order_from: Sequence[Explanation] | str | Path, plan: AttackPlan, name: str, examples: Sequence[Example]
) -> dict[tuple[str, ...], Explanation]:
    """Texts -> their stored explanation; raises `BadSetting` for an attack whose order reads no scores."""
    if method_of(plan) is None:
        raise BadSetting(f"The order of {name} reads no scores, so order_from changes nothing; leave it out.")
    results = read_explanations(order_from) if isinstance(order_from, str | Path) else order_from
    return stored_scores(results, examples)


def _name_counts(model: Model, plan: AttackPlan, train: Data | None, columns: dict[str, Any]) -> NameCounts | None:
    """The names in the training texts where a candidate reads them; raises `BadSetting` where there are none, `BadFile`
    without a tagger.
    """
    readers = [call.entry.name for call in parts_of(plan).candidates if "train" in call.entry.facts["needs"]]
    if not readers:
        return None
    if train is None:
        raise BadSetting(
            f"The candidates {readers[0]} are counted in labelled texts; give some by {in_syntax('train=', '--train')}."
        )
    tagger = Tagger()
    try:
        texts = examples_for(model, train, names_data=True, split="train", **columns)
        return name_counts(texts, tagger, several=model.problem == "multi_label")
    finally:
        tagger.close()


def _needs_similarity(plan: AttackPlan) -> bool:
    """Whether a guard of the plan compares texts."""
    return "similarity" in [guard if isinstance(guard, str) else guard[0] for guard in plan.guards]


# The two models that paraphrase texts for an attack, from what the user named.

MOST_TRANSLATIONS = 32


def model_pivot(translators: Sequence[ModelSource] | None, n_best: int) -> ModelPivot | None:
    """The models that translate there and back; None without any. Raises `BadSetting` for another number than two,
    `ModelCannot` for a model that does not translate.
    """
    whole("n_best", n_best, 1, MOST_TRANSLATIONS)
    if translators is None:
        return None
    if isinstance(translators, str) or len(translators) != 2:
        raise BadSetting(
            f"{in_syntax('translators=', '--translators')} needs two models: one that translates, and one that "
            f"translates back."
        )
    models = [translator_from(translator) for translator in translators]
    return ModelPivot(models[0], models[1], n_best)
