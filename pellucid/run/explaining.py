"""From texts to explanations: pack the texts, check parity, run the methods, store everything in the result."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from pellucid.base.catalogue import Call, Choice, Entry
from pellucid.base.checks import in_syntax, quoted, whole
from pellucid.base.errors import BadSetting, ModelCannot, ParityBroken
from pellucid.base.kinds import STATE_VECTOR, attributions
from pellucid.base.packages import cached_property
from pellucid.base.processes import Progress, silent
from pellucid.base.torch_state import check_computes
from pellucid.results.explanation import Explained, Explanation, Prediction
from pellucid.run.batch import Batch
from pellucid.run.blank import HIGHEST_SEED, baseline_names
from pellucid.run.diagnostics import (
    NOTHING,
    draw_caveats,
    draw_facts,
    route_record,
    score_resolution,
    with_caveat_on_rounding,
    with_facts_on_reading,
)
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import HiddenState, StateTarget
from pellucid.run.labels import Labels, ResolvedLabels, scores_of_labels
from pellucid.run.model import WRITING, Model, RowFacts, Scores, lacking
from pellucid.run.parity import CheckedLogits, Guard
from pellucid.run.readout import LOGITS, WindowAnswers
from pellucid.run.rounding import rounding_of
from pellucid.run.scheduler import Scheduler
from pellucid.run.stitching import in_passages, stitched
from pellucid.run.target import (
    Explainable,
    Target,
    class_logits,
    class_probabilities,
    head_settings,
)
from pellucid.run.windows import in_windows
from pellucid.run.word import Word, scores_of
from pellucid.text.example import Example
from pellucid.text.passages import place_of
from pellucid.text.reading import read_words
from pellucid.text.units import Spans, Units, caveats_on_words

MOST_CLASSES, LIKELIEST = 1_000, 20  # classes that a prediction names, and how many of more than that
GOLDEN = (5**0.5 - 1) / 2  # its multiples modulo 1 are spread evenly, however many there are

FIXED_CHOICE = (
    "The words that the model chose to read are held fixed: the choice is a step, and has no gradient. Words that it "
    "did not read have none either."
)


def method_calls(choices: Iterable[Choice], model: Model) -> list[Call]:
    """Look methods up; raises `UnknownName`, or `ModelCannot` with the methods that would work."""
    calls = attributions.calls(choices)
    for call in calls:
        if lacks := lacking(model, call.entry.facts["needs"]):
            possible = [name for name in attributions.names() if _works(attributions.get(name), model)]
            raise ModelCannot(
                f"{call.entry.name} does not work with {model.name}, which {lacks}. Methods that work with it: "
                f"{', '.join(possible)}."
            )
    return calls


def left_out(model: Model, calls: Iterable[Call]) -> dict[str, str]:
    """Every method that is not among the calls -> why: the model lacks something, or the method was not named."""
    run = {call.entry.name for call in calls}
    entries = [attributions.get(name) for name in attributions.names() if name not in run]
    return {entry.name: _why_left_out(entry, model) for entry in entries}


def _works(entry: Entry, model: Model) -> bool:
    return entry.facts["needs"] <= model.capabilities


def _why_left_out(entry: Entry, model: Model) -> str:
    if lacks := lacking(model, entry.facts["needs"]):
        return f"{model.name} {lacks}"
    if entry.facts["usual"]:
        return "not among the methods that were named"
    return 'not part of "all methods"; add it by name'


@dataclass(frozen=True)
class Request:
    """One model, the methods to run on it with their settings, and the target; for any number of examples."""

    model: Model
    calls: Sequence[Call]
    target: Target | StateTarget | Word | Labels
    seed: int

    @cached_property
    def model_hash(self) -> str:
        """The model's digest at the time of the request."""
        return self.model.hash

    @property
    def reads_gradients(self) -> bool:
        """Whether a method needs passes with a graph."""
        return any("gradient" in call.entry.facts["needs"] for call in self.calls)

    @property
    def reads_text_graph(self) -> bool:
        """Whether the text's own pass, which all methods share, shall have a graph.

        A method that reads hidden states gets them and the answer from one pass, and that is the one with a graph.
        """
        of_states = isinstance(self.target, StateTarget)
        return self.reads_gradients and any(
            of_states or call.entry.facts["at_text"] or call.settings.get("layer") is not None
            for call in self.calls
            if "gradient" in call.entry.facts["needs"]
        )

    @property
    def reads_points(self) -> bool:
        """Whether a method reads gradients of other passes than the text's own, and leaves it to the guard to compare
        such a pass.
        """
        facts = [call.entry.facts for call in self.calls]
        return any(
            "gradient" in method_facts["needs"] and not method_facts["at_text"] and not method_facts["compares"]
            for method_facts in facts
        )

    @property
    def leader(self) -> Call | None:
        """The only method, where its own pass reads the texts too, so that they need no other one; else None."""
        leads = len(self.calls) == 1 and self.calls[0].entry.facts["leads"]
        stops = "hidden_states" in self.model.capabilities  # a run can end at the words, which that pass begins with
        return self.calls[0] if leads and stops and isinstance(self.target, Target) else None

    @property
    def opens_attention(self) -> bool:
        """Whether attention weights shall be part of that graph."""
        return any(opens_attention(call) for call in self.calls)


def opens_attention(call: Call) -> bool:
    """Whether a method reads gradients by attention weights from the text's own pass."""
    facts = call.entry.facts
    return facts["at_text"] and {"gradient", "attention"} <= facts["needs"]


OnFailure = Callable[[Call, ModelCannot | ParityBroken], None]


def _raise_error(call: Call, error: ModelCannot | ParityBroken) -> None:
    raise error


def explain_batch(
    request: Request,
    batch: Batch,
    scheduler: Scheduler,
    progress: Progress,
    on_failure: OnFailure = _raise_error,
) -> dict[str, list[Explanation]]:
    """For each method's title, one explanation an example, in order; several methods share their passes.

    Texts longer than the model reads are explained window by window and stitched. on_failure: called with a method that
    turns out, while it runs, not to work for the model; where it does not raise, the method is left out.
    """
    whole("seed", request.seed, 0, HIGHEST_SEED)
    check_computes()
    _check_readers(request)
    if isinstance(request.target, StateTarget):
        request.target.check(request.model, batch)
        request = replace(request, target=request.target.in_model(request.model))
        _check_readers(request)  # what the head reads may be many vectors
    if isinstance(request.target, Word):
        request.target.check(request.model, batch)
    if not len(batch):
        return {call.title: [] for call in request.calls}
    windows, owners = in_windows(batch)
    rows, explained = _rows(request, windows)
    packs = [[rows[n] for n in pack] for pack in scheduler.packs_of_texts([windows.rows[row] for row in rows])]
    guard = Guard(request.model, windows, owners, packs, scheduler.tokens)
    by_row: dict[str, dict[int, Explanation]] = {call.title: {} for call in request.calls}

    def run(indices: list[int]) -> None:
        with torch.inference_mode(False):  # gradients work whatever mode the caller is in
            for title, explanations in _explain_group(request, guard, indices, scheduler, on_failure):
                by_row[title] |= zip(indices, explanations, strict=True)

    exponent = 2 if any(GROWING.search(call.entry.facts["cost"]) for call in request.calls) else 1
    work = {index: windows.rows[index].length ** exponent for pack in packs for index in pack}
    run_packs(packs, run, scheduler, progress, work)
    complete = [call for call in request.calls if len(by_row[call.title]) == len(rows)]
    whole_texts = {
        call.title: _stitched(
            call,
            {row: by_row[call.title][row] for row in (explained if call.entry.facts["of_class"] else rows)},
            owners,
            batch,
            guard.worst,
        )
        for call in complete
    }
    rounding = rounding_of(request.model)
    reads = [read_words(units, example) for units, example in zip(batch.units, batch.examples, strict=True)]
    return {
        title: [
            with_facts_on_reading(with_caveat_on_rounding(text, rounding), read)
            for text, read in zip(texts, reads, strict=True)
        ]
        for title, texts in whole_texts.items()
    }


def _check_readers(request: Request) -> None:
    """Raises `BadSetting` for a method that reads vectors of states and a class, or one of numbers and many vectors."""
    of_states = isinstance(request.target, HiddenState)
    several = isinstance(request.target, HiddenState) and not request.target.is_one_vector
    for call in request.calls:
        name, facts = call.entry.name, call.entry.facts
        if facts["reads"] == STATE_VECTOR and not of_states:
            way = in_syntax(
                "give target=HiddenState(layer), or 'all' as layer",
                "give --layer and a layer's number, or all",
            )
            what = "concept" if isinstance(request.target, StateTarget) else "class"
            raise BadSetting(f"{name} explains hidden states, not a {what}; {way}.")
        if facts["reads"] != STATE_VECTOR and several and facts["of_class"]:
            every = (attributions.get(method) for method in attributions.names())
            readers = [entry.name for entry in every if entry.facts["reads"] == STATE_VECTOR]
            raise BadSetting(
                f"{name} explains one number, and this target is many states. Name one layer and positions such as "
                f"pooled or first, or choose a method that reads vectors: {', '.join(readers)}."
            )


def run_packs(
    packs: Sequence[list[int]],
    run: Callable[[list[int]], None],
    scheduler: Scheduler,
    progress: Progress,
    work: Mapping[int, int],
) -> None:
    """Run all packs. work: row -> what it costs beside others, by which texts count as done: so that the time of the
    rest follows from the time of what was done, although texts differ in length.
    """
    count, total, done = sum(map(len, packs)), max(1, sum(work.values())), 0
    with _edits_reported(scheduler, progress if count == 1 else silent):
        for pack in evenly_mixed(packs):
            scheduler.halving(pack, run)
            done += sum(work[index] for index in pack)
            progress("explaining", count * done // total, count)


GROWING = re.compile(r"of the model a (word|piece)")  # in the cost of a method that needs more runs for longer texts


@contextmanager
def _edits_reported(scheduler: Scheduler, progress: Progress) -> Iterator[None]:
    """While active, the edited texts are reported: of one long text there may be thousands, which take minutes."""
    scheduler.progress = progress
    try:
        yield
    finally:
        scheduler.progress = silent


def evenly_mixed(packs: Sequence[list[int]]) -> list[list[int]]:
    """The packs, longest texts first, in an order whose every beginning is like the whole.

    So the texts explained by then say how long the others take: packs take about equally long, and one of short texts
    has many more texts. The longest still come first, so that memory runs out early or never.
    """
    return [packs[index] for index in sorted(range(len(packs)), key=lambda index: index * GOLDEN % 1)]


def _rows(request: Request, windows: Batch) -> tuple[Sequence[int], Sequence[int]]:
    """The rows that run, and the rows among them that contain what is explained.

    The two differ where one method depends on the target and another one does not, which scores the whole text.
    """
    everything = range(len(windows))
    if not isinstance(request.target, StateTarget):
        return everything, everything
    explained = request.target.rows_read(windows)
    return (explained if all(call.entry.facts["of_class"] for call in request.calls) else everything), explained


def _stitched(
    call: Call, parts: Mapping[int, Explanation], owners: Sequence[int], batch: Batch, worst: float
) -> list[Explanation]:
    """One explanation a text, from those of its windows.

    parts: row -> its explanation. owners: for each row the number of its text. worst: the largest residual of the
    guard's sample, for texts that were not in the sample.
    """
    by_text: list[list[Explanation]] = [[] for _ in range(len(batch))]
    for row, part in parts.items():
        of_sample: dict[str, float] = {} if "parity" in part.diagnostics else {"parity_of_sample": worst}
        by_text[owners[row]].append(replace(part, diagnostics=of_sample | dict(part.diagnostics)))
    shares = call.entry.facts["shares"]
    return [
        stitched(windows, units, shares, len(row.windows) or 1)
        for windows, units, row in zip(by_text, batch.units, batch.rows, strict=True)
    ]


@dataclass(frozen=True)
class _Group:
    """Rows that run together, and what their explanations need besides the scores."""

    request: Request
    forward: ForwardPass
    logits: CheckedLogits
    target: Explainable

    @cached_property
    def explained(self) -> list[Explained]:
        """[row]: the explained value with its name, by what is read off the pass for the target; logits are the checked
        ones.
        """
        readout, labels = self.target.readout, self.request.model.labels
        answers = self.logits.rows if readout is LOGITS else self.forward.answers(readout).cpu()
        return [self.target.explained(row, answer, labels) for row, answer in enumerate(answers)]

    @cached_property
    def value_roundings(self) -> list[float]:
        """[row]: what rounding may change of the difference of two explained values."""
        readout = self.target.readout
        answers = self.logits.rows if readout is LOGITS else self.forward.answers(readout).cpu()
        return self.forward.rounding.of_values(self.target, answers).tolist()

    @cached_property
    def draws(self) -> list[dict[str, float]]:
        """[row]: how far the draws decide that stand for what is taken out; {} for models without draws."""
        examples = self.forward.batch.examples
        values = [partial(self.target.values_of, index) for index in range(len(examples))]
        return [draw_facts(self.request.model, *pair) for pair in zip(examples, values, strict=True)]

    @cached_property
    def predictions(self) -> list[Prediction]:
        """[row]: the prediction of the whole text."""
        examples = self.forward.batch.examples
        pairs = zip(self.logits.texts, examples, strict=True)
        return [predict(logits, self.request.model, example) for logits, example in pairs]


def _explain_group(
    request: Request, guard: Guard, indices: list[int], scheduler: Scheduler, on_failure: OnFailure
) -> Iterator[tuple[str, list[Explanation]]]:
    batch = guard.windows.select(indices)
    forward = ForwardPass(request.model, batch, scheduler, request.seed, open_attention=request.opens_attention)
    if (leader := request.leader) is not None:
        try:
            forward.lead(leader.entry.facts["leads"], baseline_names(leader.settings["baselines"]))
        except ModelCannot as error:
            on_failure(leader, error)
            return
    has_graph = request.reads_text_graph or (request.reads_points and guard.samples_all(indices))
    if has_graph:
        _ = forward.trace  # one pass with a graph serves all methods; the guard then checks that very pass
    logits = guard.check(indices, forward.logits)
    if request.reads_points and not has_graph:
        logits = guard.check_with_graph(indices, logits)
    group = _Group(request, forward, logits, _resolved(request, forward, logits))
    readout = group.target.readout
    scheduler.remember(batch.rows, forward.answers(readout).cpu(), readout.key)
    for call in request.calls:
        try:
            target = group.target
            if isinstance(target, ResolvedLabels):
                scores = scores_of_labels(call, forward, target)
            else:
                scores = scores_of(call, forward, target)
            scores = in_passages(scores, batch)
            settings = _settings(request.model, call)
            explanations = [_explanation(group, call, settings, scores, n) for n in range(len(batch))]
        except (ModelCannot, ParityBroken) as error:  # a method's own pass may differ from the model's answer
            on_failure(call, error)
        else:
            yield call.title, explanations


def _resolved(request: Request, forward: ForwardPass, logits: CheckedLogits) -> Explainable:
    """The target, fixed for each example by the model's own answer."""
    target, model = request.target, request.model
    if isinstance(target, StateTarget):
        return target.resolve(forward.answers(target.readout_in(model)), model)
    if isinstance(target, Word):
        return target.resolve(forward.batch, model)
    resolved = target.resolve(forward.batch.examples, logits.texts, model.labels, model.problem)
    counts = [len(row.windows) or 1 for row in forward.batch.whole_rows]
    if max(counts) == 1:
        return resolved
    return replace(resolved, windows=WindowAnswers(logits.texts, logits.rows, torch.tensor(counts)))


def _explanation(group: _Group, call: Call, settings: str, scores: Scores, index: int) -> Explanation:
    """The explanation of one row of the group; raises `ModelCannot` for scores that are not finite."""
    request, batch = group.request, group.forward.batch
    model, values = request.model, scores.values[index].detach().float().cpu().numpy()
    if not np.isfinite(values).all():
        raise ModelCannot(
            f"{call.title} gave scores that are not finite numbers for example {quoted(batch.examples[index].id)}."
        )
    units = batch.units[index] if scores.units is None else scores.units[index]
    diagnostics, caveats = _facts(group, call, index, scores.facts(index), values, units)
    of_rows = scores.of_rows[index] if scores.of_rows else ()
    of_rows = tuple(_facts(group, call, index, row_facts, values[row], units) for row, row_facts in enumerate(of_rows))
    return Explanation(
        example=batch.examples[index],
        units=units,
        scores=values,
        rows=scores.rows_of[index] if scores.rows_of else scores.rows,
        target=group.explained[index],
        prediction=group.predictions[index],
        method=call.title,
        settings=json.loads(settings),  # lists of its own in each explanation
        seed=request.seed,
        model=model.name,
        model_hash=request.model_hash,
        diagnostics=diagnostics,
        caveats=caveats,
        row_diagnostics=tuple(diagnostics for diagnostics, _ in of_rows),
        row_caveats=tuple(caveats for _, caveats in of_rows),
    )


def _settings(model: Model, call: Call) -> str:
    """The method's settings as files have them, and what its scores owe to a language head or to the route; JSON."""
    return json.dumps(dict(call.settings) | _head_settings(model, call) | route_record(model))


def _head_settings(model: Model, call: Call) -> dict[str, str]:
    """The language head of a method that reads states through one: its scores are as much the head's as the model's."""
    head = model.language_head
    return {} if head is None or "language_head" not in call.entry.facts["needs"] else head_settings(head)


def _facts(
    group: _Group, call: Call, index: int, of_method: RowFacts, values: np.ndarray, units: Units | Spans
) -> RowFacts:
    """The method's own diagnostics and caveats of these scores, and those that hold of every method."""
    model, residual = group.request.model, group.logits.residuals[index]
    parity = {} if residual is None else {"parity": residual}
    diagnostics, caveats = of_method
    draws = {} if call.entry.facts["floor"] else group.draws[index]
    rationale = [FIXED_CHOICE] if "rationale" in model.capabilities and "gradient" in call.entry.facts["needs"] else []
    nothing = [] if values.any() else [NOTHING]
    of_words = caveats_on_words(group.forward.batch.examples[index].segments)
    of_value, of_text = group.value_roundings[index], values[..., ~units.special]
    limit = score_resolution(call.entry, group.forward.rounding, of_value, of_text)
    limit = max(limit, diagnostics.get("resolution", 0.0))  # a method may know more of its own sums
    facts = parity | diagnostics | draws | {"resolution": limit}
    return facts, (*caveats, *rationale, *nothing, *of_words, *draw_caveats(draws, of_text))


def predict(logits: Tensor, model: Model, example: Example) -> Prediction:
    """The prediction of logits [logit]: the highest class, and one probability a class; of a model that writes, the
    text; of one that answers by a part of the text, that part. Of very many classes the likeliest are kept.
    """
    logits = logits.double()
    if WRITING in model.capabilities:
        text = example.segments[-1]
        return Prediction(text, (text,), tuple(logits.tolist()), ())
    if model.problem == "log_probability":
        place = place_of(example)
        text = model.labels[0] if place is None else place.text
        return Prediction(text, (text,), (float(logits[0]),), (float(logits[0].exp()),))
    best = int(class_logits(logits, model.problem).argmax())
    if model.problem == "regression":
        return Prediction(model.labels[best], model.labels, tuple(logits.tolist()), ())
    chances = class_probabilities(logits, model.problem)
    if len(model.labels) <= MOST_CLASSES:
        return Prediction(model.labels[best], model.labels, tuple(logits.tolist()), tuple(chances.tolist()))
    likeliest = chances.topk(LIKELIEST).indices.tolist()  # of a vocabulary
    labels = tuple(model.labels[index] for index in likeliest)
    return Prediction(labels[0], labels, tuple(logits[likeliest].tolist()), tuple(chances[likeliest].tolist()))
