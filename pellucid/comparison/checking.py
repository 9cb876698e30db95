"""The checks of a comparison: looked up and refused before any work, and run after the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from tempfile import mkdtemp
from typing import Any

from pellucid.base.catalogue import ALL, Call, Choice
from pellucid.base.checks import choices, every, in_syntax, listed
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.json_text import json_digest
from pellucid.base.kinds import checks as known_checks
from pellucid.base.processes import Progress
from pellucid.comparison.check_case import CheckCase, TextIntervals, Train
from pellucid.comparison.comparison import Comparison
from pellucid.comparison.folder import TRAINED
from pellucid.comparison.run_checks import CheckFolder, PlannedCheck, run_checks
from pellucid.comparison.scored_text import Explained, by_method
from pellucid.data.shared.part_files import split_parts
from pellucid.explaining.inputs.loading import distinct_names
from pellucid.explaining.inputs.models import is_model, model_from
from pellucid.explaining.inputs.readings import ModelSource
from pellucid.models.changed_networks import with_random_weights, with_shifted_vectors, without_first_word
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import example_record
from pellucid.results.interval import CheckOutcome
from pellucid.run.explaining import Request
from pellucid.run.model import Model, lacking
from pellucid.text.example import Example
from pellucid.training.objectives.other_models import retrainer

# Explanations of other data sets, which stand beside those of a comparison.

Read = Callable[[Path], Sequence[Explanation]]
WAY = "give what explain or read returned, or a file or folder"


def corpora_of(corpora: Any, methods: Sequence[str], read: Read) -> dict[str, Explained]:
    """Name -> method's title -> the texts of a data set; raises `BadInput` for one without a method of the comparison.

    corpora: what `compare` got: files, folders of comparisons or results in a list, or by name in a dictionary, or one
        of them.
    read: reads a file or folder.
    """
    named = corpora if isinstance(corpora, Mapping) else _numbered(corpora)
    read_in = {str(name): _texts(name, corpus, read) for name, corpus in named.items()}
    for name, texts in read_in.items():
        if not set(texts) & set(methods):
            raise BadInput(
                f"{name} is explained by {listed(texts) or 'no method'}, and this comparison has {listed(methods)}; "
                f"explain it by one of these."
            )
    return read_in


def corpora_digests(corpora: Mapping[str, Explained]) -> dict[str, str]:
    """Name -> a digest of all words and scores."""
    return {
        name: json_digest(
            {method: [[scored.words, scored.scores.tolist()] for scored in text] for method, text in texts.items()}
        )
        for name, texts in corpora.items()
    }


def _numbered(corpora: Any) -> dict[str, Any]:
    is_one = isinstance(corpora, str | PurePath) or (
        isinstance(corpora, Sequence) and bool(corpora) and isinstance(corpora[0], Explanation)
    )
    members = [corpora] if is_one else list(corpora)
    names = [
        str(member) if isinstance(member, str | PurePath) else f"data set {n}" for n, member in enumerate(members, 2)
    ]
    if len(set(names)) < len(names):
        raise BadInput(f"The same data set is named twice among {listed(names)}; name each once.")
    return dict(zip(names, members, strict=True))


def _texts(name: str, saved: Any, read: Read) -> Explained:
    if isinstance(saved, str | PurePath):
        return by_method(read(Path(saved)))
    return by_method(every(f"The data set {name}", saved, Explanation, WAY))


OPTIONS = {  # what a check needs -> what it is, and which option gives it
    "twins": "twins, further trainings of the model with other seeds: give twins=[…], or --twin on the command line",
    "trainer": "texts to train on: give train=, or --train on the command line",
    "corpora": "explanations of other data sets: give corpora=[…], or --corpus on the command line",
}
UNREAD = {  # what came without a check that reads it -> what it is, and such a check
    "twins": ("Twins", "seed_agreement"),
    "trainer": ("Texts to train on", "label_randomisation"),
    "corpora": ("Other data sets", "corpus_agreement"),
}


@dataclass(frozen=True)
class Checking:
    """calls: the checks; named: the titles of those that the user named. The others are what checks read, by need."""

    calls: tuple[Call, ...] = ()
    named: frozenset[str] = frozenset()
    twins: Mapping[str, Model] = field(default_factory=dict)
    train: tuple[Example, ...] = ()
    trained: Train | None = None
    corpora: Mapping[str, Explained] = field(default_factory=dict)
    digests: Mapping[str, object] = field(default_factory=dict)

    def outcomes(
        self,
        comparison: Comparison,
        explained: Callable[[], Explained],
        folder: CheckFolder | None,
        progress: Progress,
    ) -> tuple[CheckOutcome, ...]:
        """The outcomes of all checks, in order. explained: the comparison's explanations, read when a check runs."""

        def case() -> CheckCase:
            request = comparison.request
            return CheckCase(
                request,
                comparison.examples,
                explained(),
                TextIntervals(comparison.resamples, request.seed),
                OurChanges(),
                self.twins,
                self.train,
                self.trained,
                self.corpora,
                comparison.calls,
                None if folder is None else folder.path,
                progress,
            )

        return run_checks(tuple(map(self._planned, self.calls)), case, folder, progress)

    def _planned(self, call: Call) -> PlannedCheck:
        inputs = {need: self.digests[need] for need in sorted(call.entry.facts["needs"] & self.digests.keys())}
        return PlannedCheck(call, inputs, call.title in self.named)


NO_CHECKS = Checking()


def checking_of(
    comparison: Comparison,
    checks: Iterable[Choice] | None,
    *,
    twins: Any = (),
    corpora: Any = (),
    read: Read,
    train: Sequence[Example] = (),
    trainer: Callable[[], Train] | None = None,
) -> Checking:
    """What a call of `compare` asks to be checked; raises `BadSetting` for a check without what it needs.

    read: reads saved explanations. train: labelled texts; trainer: makes what trains on them, where a check needs it.
    """
    came = {"twins": not is_empty(twins), "trainer": bool(train), "corpora": not is_empty(corpora)}
    named = [] if checks is None else choices("checks", checks)
    if not named and any(came.values()):
        what, check = UNREAD[next(name for name, is_there in came.items() if is_there)]
        way = in_syntax(f"give checks=[{check!r}]", f"add --checks {check}")
        raise BadSetting(f"{what} are read by checks, and none was named; {way}.")
    calls = check_calls(named, frozenset({"explainer", *(name for name, is_there in came.items() if is_there)}))
    named_titles = frozenset(call.title for call in calls if ALL not in named or call.title in _titles(named))
    models = twins_of(comparison.request, twins, comparison.examples) if came["twins"] else {}
    titles = [call.title for call in comparison.request.calls]
    others = corpora_of(corpora, titles, read) if came["corpora"] else {}
    digests = {
        "twins": {name: twin.hash for name, twin in models.items()},
        "corpora": corpora_digests(others),
        "trainer": json_digest([example_record(example) for example in train]),
    }
    trains = any("trainer" in call.entry.facts["needs"] for call in calls)
    trained = trainer() if trains and trainer is not None else None
    return Checking(calls, named_titles, models, tuple(train), trained, others, digests)


def is_empty(several: Any) -> bool:
    """Whether a list, a tuple or a dictionary has no members."""
    return isinstance(several, list | tuple | Mapping) and not several


def check_calls(named: Sequence[Choice], available: frozenset[str]) -> tuple[Call, ...]:
    """Look checks up, "all" among them; available: what there is of their needs. Raises `BadSetting` for one that lacks
    something.
    """
    named_singly = [choice for choice in named if choice != ALL]
    calls = known_checks.calls(named_singly)
    for call in calls:
        for need in sorted(call.entry.facts["needs"] - available):
            raise BadSetting(f"{call.entry.name} needs {OPTIONS[need]}.")
    if ALL not in named:
        return tuple(calls)
    usual = [name for name in known_checks.names() if name not in {call.entry.name for call in calls}]
    return (*known_checks.calls(name for name in usual if _runs(name, available)), *calls)


def _runs(name: str, available: frozenset[str]) -> bool:
    facts = known_checks.get(name).facts
    return not facts["long"] and facts["needs"] <= available


def _titles(named: Sequence[Choice]) -> set[str]:
    return {call.title for call in known_checks.calls(choice for choice in named if choice != ALL)}


# Twins: further trainings of a model, with the same classes and pieces.


def twins_of(request: Request, twins: Any, examples: Sequence[Example]) -> dict[str, Model]:
    """Name -> twin; raises `BadInput` for one with other classes, another tokenizer, or without what a method needs.

    twins: what `compare` got: a list of models, folders or names, or one of them.
    """
    models = [model_from(twin) for twin in _several(twins)]
    for twin in models:
        _check_twin(request, twin, examples)
    return dict(zip(distinct_names(models), models, strict=True))


def _several(twins: Any) -> list[ModelSource]:
    is_one = isinstance(twins, str | PurePath) or is_model(twins) or not isinstance(twins, list | tuple)
    return [twins] if is_one else list(twins)


def _check_twin(request: Request, twin: Model, examples: Sequence[Example]) -> None:
    model = request.model
    if sorted(twin.labels) != sorted(model.labels):
        raise BadInput(
            f"{twin.name} has the classes {listed(twin.labels)}, and {model.name} has {listed(model.labels)}; give "
            f"twins of the same classes: trainings of the same model with another seed."
        )
    pairs = zip(model.encode(examples).rows, twin.encode(examples).rows, strict=True)
    if any(row.ids != twin_row.ids for row, twin_row in pairs):
        raise BadInput(
            f"{twin.name} cuts texts into other pieces than {model.name}; give twins with the same tokenizer: "
            f"trainings of the same model with another seed."
        )
    for call in request.calls:
        if lacks := lacking(twin, call.entry.facts["needs"]):
            raise BadInput(
                f"{call.entry.name} does not work with {twin.name}, which {lacks}; give twins of the same kind as "
                f"{model.name}."
            )


# The changed copies of a model that checks ask for, from the room of models.


class OurChanges:
    """Implements `evaluation.checking.check_case.ModelChanges` for the models that we have."""

    def with_random_weights(self, model: Model, first: float, last: float, seed: int) -> Model:
        """See `models.changed.random_weights`."""
        return with_random_weights(model, first, last, seed)

    def with_shifted_vectors(self, model: Model, size: float, seed: int) -> Model:
        """See `models.changed.shifted_vectors`."""
        return with_shifted_vectors(model, size, seed)

    def without_first_word(self, model: Model, examples: Sequence[Example]) -> tuple[Model, list[Example]]:
        """See `models.changed.unread_word`."""
        return without_first_word(model, examples)


# Trains further models as the judged one was, for checks that need them.


def trainer_of(source: Any, model: Model, folder: Path | None) -> Train:
    """Texts and a name -> a model trained on them by the judged one's recipe; some of the texts choose the epoch.

    source: what `compare` got as the model. folder: the comparison's, where the models stay; None: one for the time
    being. Raises `BadSetting` for a model that is no folder with a recipe.
    """
    place = source if isinstance(source, str | Path) else model.name  # that of a loaded model is its folder
    if not Path(place).is_dir():
        raise BadSetting(
            "train= trains models by the recipe of the one in question, which stands in its folder; give the folder's "
            "path as the model."
        )
    out = Path(mkdtemp(prefix="pellucid-")) if folder is None else folder / TRAINED
    train = retrainer(place, out, device=str(model.device))

    def trained(texts: Sequence[Example], name: str) -> Model:
        parts = split_parts(texts)
        return train({"train": [*parts["train"], *parts["test"]], "dev": parts["dev"]}, name)

    return trained
