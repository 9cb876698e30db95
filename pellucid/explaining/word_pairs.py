"""Which words make two texts alike: the similarity that a bi-encoder gives, as a sum over pairs of words."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, cast, get_args

import torch
from torch import Tensor

from pellucid.attribution.shared.paths import nodes_of
from pellucid.base.checks import one_of, whole
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.memory import is_memory_error
from pellucid.base.processes import Progress
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.models import any_model_from
from pellucid.models.classifiers.bi_encoder import TwoTexts
from pellucid.models.classifiers.network_layers import RecordedAttention
from pellucid.models.classifiers.several_readings import ReadRow, SeveralReadings
from pellucid.results.word_map import WordPairs
from pellucid.run.batch import Batch
from pellucid.run.blank import Baseline, blank_vector
from pellucid.run.parity import check_parity
from pellucid.run.scheduler import default_budget
from pellucid.run.trace import Trace, Want, no_block
from pellucid.text.example import as_examples
from pellucid.text.units import KINDS, Kind, coarsen

Form = Literal["integrated", "first_order"]
USUAL_STEPS, MOST_STEPS = 16, 1024
TRUSTED_GAP = 0.05  # of what the pairs should add up to
WANT = Want(eager=True, gradients=True)


def word_pairs(
    model: Any,
    pair: Any,
    *,
    form: Form = "integrated",
    n_steps: int | None = None,
    baselines: Baseline = "pad",
    unit: Kind = "word",
    progress: bool | None = None,
) -> WordPairs:
    """The similarity of two texts, shared among the pairs of their words.

    With e the encoder's vector, of length 1 for the cosine, and r a text of blanks, the number of words i and j is
    A_ij = ((a - r_a)_i J_a) . ((b - r_b)_j J_b), where J is the mean of de/dx on the straight line from r to the text.
    Their sum is e(a).e(b) - e(a).e(r_b) - e(r_a).e(b) + e(r_a).e(r_b). Source: Moeller, Nikolaev & Padó (2023), "An
    Attribution Method for Siamese Encoders", section 2. At each point the work is a backward pass through each encoder
    for each word of the text with fewer words, or for each number of the vector where these are fewer.

    model: a `SentenceTransformer`, or what `similarity` returned.
    pair: two texts in a tuple, or an `Example` of two.
    form: "integrated", or "first_order": J is de/dx at the text itself. That takes one point instead of many, and the
        sum is what the similarity would be if e were linear from r to the text; `completeness_gap` says how far off.
        With r = 0 it is "Hessian x product" in Eberle et al. (2020), "Building and Interpreting Deep Similarity
        Models".
    n_steps: points of the Gauss-Legendre rule on each line, 1 to 1024; None: 16. Not for the first order.
    baselines: what a blank text is made of: "pad", "mask", "zero", or the "mean" of the vocabulary. Special tokens
        stay.
    unit: "word", "piece", "sentence" or "paragraph"; of long texts, pairs of sentences take far less time.
    progress: draw a progress bar; None: when a terminal is watching.

    Returns the matrix with words, value and constant. Raises `ModelCannot` for a model that compares no two vectors,
    `BadInput` for a single text, `BadSetting` for n_steps beside the first order.

    >>> model = pellucid.similarity("minilm")
    >>> pairs = pellucid.word_pairs(model, ("A man plays a guitar.", "Someone makes music on a guitar."))
    >>> pairs
    <WordPairs 6 x 7 words, cosine similarity 0.75>
    >>> pairs.top(1)[0][:2]
    ('guitar', 'guitar')
    """
    model = _two_texts_of(any_model_from(model))
    points = _line_points(form, n_steps)
    one_of("unit", unit, KINDS)
    (example,) = as_examples([pair])
    with torch.inference_mode(False), progress_bar(progress) as show:
        batch = model.encode([example])
        sides = [_Side(model, batch, read, baselines, unit, points) for read in model.form.readings(batch.rows[0])]
        (a, r_a), (b, r_b) = (side.ends() for side in sides)
        plain = model.plain_logits(example).cpu()
        parity = check_parity(model, [example], (a @ b)[None, None], plain[None])[0]
        matrix = _matrix(sides[0], sides[1], len(a), show)
    value, constant = float(plain), float(a @ r_b + r_a @ b - r_a @ r_b)
    gap = float(abs(matrix.sum() + constant - value) / max(abs(value - constant), 1e-6))
    steps = {} if form == "first_order" else {"n_steps": len(points[0])}
    advice = LINEAR if form == "first_order" else RAISE.format(more=4 * len(points[0]))
    return WordPairs(
        example,
        (sides[0].labels, sides[1].labels),
        (sides[0].places, sides[1].places),
        matrix.numpy(),
        value,
        constant,
        model.form.function,
        model.name,
        {"completeness_gap": gap, "parity": parity},
        (GAP.format(gap=gap, advice=advice),) if gap > TRUSTED_GAP else (),
        {"form": form, **steps, "baselines": baselines, "unit": unit},
    )


GAP = "The pairs miss {gap:.1%} of what they should add up to; {advice}."
RAISE = "raise n_steps before trusting any: n_steps={more}"
LINEAR = "the first order follows the encoder at these texts alone, form='integrated' the whole way from blank ones"


def _two_texts_of(model: Any) -> SeveralReadings:
    """The model; raises `ModelCannot` for one without the gradients of two vectors."""
    if not isinstance(model, SeveralReadings) or not isinstance(model.form, TwoTexts):
        raise ModelCannot(
            f"{model.name} compares no vectors of two texts; give a SentenceTransformer, or what pellucid.similarity "
            f"returned."
        )
    if "gradient" not in model.capabilities:
        raise ModelCannot(f"{model.name} gives no gradients; explain it by occlusion.")
    return model


def _line_points(form: Form, n_steps: int | None) -> tuple[Tensor, Tensor]:
    """[point] in [0, 1], from the blank text to the text, and their weights."""
    one_of("form", form, get_args(Form))
    if form == "integrated":
        return nodes_of("gauss_legendre", whole("n_steps", USUAL_STEPS if n_steps is None else n_steps, 1, MOST_STEPS))
    if n_steps is not None:
        raise BadSetting("n_steps= belongs to form='integrated'; the first order is taken at the texts themselves.")
    return torch.ones(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)


def _matrix(first: "_Side", second: "_Side", width: int, show: Progress) -> Tensor:
    """[unit of the first text, unit of the second] in float64: the products of the shares of both.

    The shares [unit width] of the text with fewer units in the change of its vector go backwards through the other
    encoder in the place of its vector's numbers: as many passes as units, instead of one a number.
    """
    short, long = sorted((first, second), key=lambda side: len(side.places))
    few = len(short.places) < width
    passes = min(len(short.places), width)
    report = _Passes(show, passes * (short.n_packs + long.n_packs))
    forwards = short.shares_of_units(report) if few else None
    if forwards is None:
        every = torch.eye(width, dtype=torch.float64)
        report.total += (width - passes) * short.n_packs
        forwards = short.products(every, report).T
    products = long.products(forwards, report) if few else forwards @ long.products(every, report)
    return products if short is first else products.T


class _Passes:
    """How many passes are done, of how many."""

    def __init__(self, show: Progress, total: int) -> None:
        self.show, self.total, self.done = show, total, 0

    def one_more(self) -> None:
        """Count a pass and show it."""
        self.done += 1
        self.show("Comparing words", self.done, self.total)


class _Side:
    """One text of a pair: its units, and the line from its blanks to it. points: on the line, and their weights."""

    def __init__(
        self,
        model: SeveralReadings,
        batch: Batch,
        read: ReadRow,
        baselines: Baseline,
        unit: Kind,
        points: tuple[Tensor, Tensor],
    ) -> None:
        self.reader, self.row, self.form = model.reader, read.row, cast(TwoTexts, model.form)
        segments = batch.examples[0].segments
        units, index = coarsen(batch.units[0], unit, segments)
        here = [each for each in units.content if each in {index[place] for place in read.places}]
        members = torch.tensor([[index[place] == each for place in read.places] for each in here])
        self.places = tuple((units.segment[each], units.start[each], units.end[each]) for each in here)
        self.labels = tuple(segments[segment][start:end] for segment, start, end in self.places)
        self.end = self.reader.embed(torch.tensor([self.row.ids], device=model.device))[0]
        self.members = members.reshape(len(here), len(read.places)).to(self.end)
        blank = blank_vector(model, baselines, self.end[0])
        self.start = torch.where(self.members.any(0)[:, None], blank, self.end)
        self.points = [each.to(self.end) for each in points]
        self.at_once = max(1, default_budget(self.end.device) // len(self.row))

    @property
    def n_packs(self) -> int:
        """Packs of points that share a pass."""
        return -(-len(self.points[0]) // self.at_once)

    def ends(self) -> Sequence[Tensor]:
        """[width] in float64: the vectors of the text and of its blanks."""
        with torch.no_grad():
            trace = self._run(torch.stack([self.end, self.start]), Want(eager=True))
            return self.form.vectors(trace.logits).double().cpu().unbind()

    def products(self, cotangents: Tensor, report: _Passes) -> Tensor:
        """[product width] -> [product unit] in float64: each unit's share of that product with the vector's change."""
        sums = torch.zeros(len(cotangents), len(self.end), dtype=torch.float64)
        for points, weights in self._packs():
            trace = self._run(points, WANT)
            vectors = self.form.vectors(trace.logits)
            for row, cotangent in zip(sums, cotangents.to(vectors), strict=True):
                upstream = weights[:, None] * cotangent
                (by_word,) = torch.autograd.grad(vectors, trace.embeddings, upstream, retain_graph=True)
                row += (by_word * (self.end - self.start)).sum(-1).double().sum(0).cpu()
                report.one_more()
        return sums @ self.members.T.double().cpu()

    def shares_of_units(self, report: _Passes) -> Tensor | None:
        """[unit width] in float64: each unit's share of the vector's change; None where the encoder has no derivatives
        of its derivatives.

        The product of J with a unit's way is the derivative of (way . J c) by c, which needs one pass for each unit.
        """
        shares = torch.zeros(0)
        for points, weights in self._packs():
            try:
                of_pack = self._derivatives(points, report)
            except ModelCannot:  # its attention cannot be written out
                return None
            except RuntimeError as error:
                if is_memory_error(error):
                    raise
                return None
            if of_pack is None:
                return None
            weighted = torch.einsum("p,upw->uw", weights.double().cpu(), of_pack)
            shares = weighted if not len(shares) else shares + weighted
        return shares

    def _derivatives(self, points: Tensor, report: _Passes) -> Tensor | None:
        """[unit point width] in float64: J times the way of each unit; None where a function's derivative has itself
        a wrong one.
        """
        with RecordedAttention(keep=no_block):  # written out: fused attention has no second derivative
            trace = self._run(points, WANT)
            vectors = self.form.vectors(trace.logits)
        trial = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(0)).to(vectors)
        (plain,) = torch.autograd.grad(vectors, trace.embeddings, trial, retain_graph=True)
        cotangents = torch.zeros_like(vectors).requires_grad_()
        (by_word,) = torch.autograd.grad(vectors, trace.embeddings, cotangents, create_graph=True)
        derivatives = []
        for member in self.members:
            way = ((self.end - self.start) * member[:, None]).expand_as(by_word)
            (derivative,) = torch.autograd.grad(by_word, cotangents, way, retain_graph=True)
            expected, product = (plain * way).double().sum(), (trial * derivative).double().sum()
            if abs(expected - product) > SAME * (plain * way).abs().double().sum():
                return None
            derivatives.append(derivative.double().cpu())
            report.one_more()
        return torch.stack(derivatives)

    def _packs(self) -> Iterator[tuple[Tensor, Tensor]]:
        """[point piece width] on the line, and their weights, so many as share a pass."""
        for nodes, weights in zip(*(each.split(self.at_once) for each in self.points), strict=True):
            yield torch.lerp(self.start, self.end, nodes[:, None, None]), weights

    def _run(self, points: Tensor, want: Want) -> Trace:
        return self.reader.trace([self.row] * len(points), want, points)


SAME = 1e-2  # of the sum without signs: of derivatives that are wrong, not rounded
