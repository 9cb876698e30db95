"""Any torch network as a classifier, from three small functions: tokenize, logits, embedding.

For networks that are no Hugging Face classifiers: recurrent, convolutional, your own.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor, nn

from pellucid.base.checks import of_class, one_of, quoted, reason, whole
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, PellucidError
from pellucid.base.memory import is_memory_error
from pellucid.models.classifiers.buffer_copies import reading, shared_numbers, undisturbed
from pellucid.models.classifiers.hooks import Enough, wide_after, word_embeddings
from pellucid.models.classifiers.in_memory import check_network, losses, network_digest
from pellucid.models.classifiers.network_layers import LayerRun, checked_layers, layer_names
from pellucid.models.classifiers.running import class_names, closed_up, collate
from pellucid.models.families.probes import device_of, rows_of_table
from pellucid.results.explanation import Prediction
from pellucid.run.batch import Batch, Row, SpecialIds
from pellucid.run.model import Packing, Parts
from pellucid.run.predicting import predictions
from pellucid.run.rounding import Rounding
from pellucid.run.target import Problem
from pellucid.run.trace import NOTHING, Trace, Want
from pellucid.run.windows import windows_of
from pellucid.text.example import Example, Texts
from pellucid.text.units import SPECIAL, Reading, Units, coarse_index

Piece = tuple[int, int | None, int | None]
Gaps = Literal["close", "mask"]
NO_LIMIT = 10**9


@dataclass(frozen=True, eq=False, kw_only=True)  # three ids beside each other could swap unseen
class NetworkClassifier:
    """A torch network with the user's own functions; implements `core.Model`. See `from_network` for the fields."""

    network: nn.Module
    tokenize: Callable[[str], Sequence[Piece]]
    logits: Callable[[Tensor, Tensor], Tensor]
    embedding: nn.Module | None
    labels: tuple[str, ...]
    problem: Problem
    name: str
    pad: int
    mask: int | None
    separator: int | None
    max_length: int
    gaps: Gaps
    layers: tuple[nn.Module, ...] = ()
    unknown: int | None = None
    packings: dict[int, Packing] = field(default_factory=dict, init=False, repr=False)  # filled by trials
    roundings: dict[tuple[object, ...], Rounding] = field(default_factory=dict, init=False, repr=False)
    _read: set[tuple[int, ...]] = field(default_factory=set, init=False, repr=False)  # shapes of ids
    _followed: list[bool] = field(
        default_factory=list, init=False, repr=False
    )  # filled when a gradient has come back to the words
    unpadded: ClassVar[Packing] = "equal"
    state_parts: ClassVar[Mapping[int, Parts]] = {}
    language_head: ClassVar[None] = None

    @property
    def n_layers(self) -> int:
        """How many modules were named as layers."""
        return len(self.layers)

    @property
    def capabilities(self) -> frozenset[str]:
        """Gradients where the embedding is known, hidden states where layers are named."""
        states = {"hidden_states"} if self.layers else set()
        return frozenset() if self.embedding is None else frozenset({"gradient"} | states)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return device_of(self.network)

    @property
    def hash(self) -> str:
        """A digest of weights, classes, named layers and what the network is called; it does not see the user's
        functions.
        """
        layers = [layer_names(self.network, self.layers)] if self.layers else []
        return network_digest(self.network, [self.labels, self.problem, type(self.network).__name__, *layers])

    def blank_ids(self) -> dict[str, int | None]:
        """Ids of the pad and mask tokens."""
        return {"pad": self.pad, "mask": self.mask}

    def embed(self, ids: Tensor) -> Tensor:
        """The word embeddings of ids."""
        assert self.embedding is not None  # the capability was checked
        try:
            with torch.no_grad():
                return self.embedding(ids)
        except Exception as error:  # anything can happen in a user's network
            raise ModelCannot(
                f"{self.name}: the embedding cannot read the ids {quoted(ids.flatten().tolist())}: {reason(error)}; "
                f"give pad= and mask= as it knows them."
            ) from error

    def predict(self, texts: Texts) -> list[Prediction]:
        """One prediction a text, in order, as explanations report it; see `pellucid.predict` for tables and files.

        texts: a string, a pair, an `Example`, or a list of them.
        """
        return predictions(self, texts)

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Tokenise; a row longer than max_length gets windows. Raises `BadInput` for texts without pieces."""
        pairs = [self._encode_one(example) for example in examples]
        rows, units = tuple(row for row, _ in pairs), tuple(unit for _, unit in pairs)
        return Batch(tuple(examples), rows, units, SpecialIds(self.mask, self.pad))

    def _encode_one(self, example: Example) -> tuple[Row, Units]:
        pieces: list[tuple[int, int, int, int, str]] = []  # id, segment, start, end, label
        for segment, text in enumerate(example.segments):
            if segment:
                pieces.append((self._between(example), SPECIAL, 0, 0, "[SEP]"))
            pieces += [_checked(piece, segment, text, example) for piece in self._tokenized(text)]
        ids, segments, starts, ends, labels = zip(*pieces, strict=True) if pieces else ((),) * 5
        readings: tuple[Reading, ...] = ()
        if self.unknown is not None and self.unknown in ids:
            readings = tuple("none" if piece_id == self.unknown else "whole" for piece_id in ids)
        units = Units("piece", labels, segments, starts, ends, readings=readings)
        if not units.content:
            raise BadInput(f"Example {example.id!r}: tokenize leaves nothing of {example.text[:40]!r}.")
        word_of = coarse_index(units, "word", example.segments)
        words = tuple(SPECIAL if units.special[n] else word for n, word in enumerate(word_of))
        types = tuple(max(0, segment) for segment in segments)
        row = Row(ids, types, tuple(range(len(ids))), words, segments)
        return replace(row, windows=windows_of(row, self.max_length)), units

    def _tokenized(self, text: str) -> list[Piece]:
        try:
            return list(self.tokenize(text))
        except Exception as error:  # anything can happen in a user's function
            raise ModelCannot(f"{self.name}: tokenize failed on {quoted(text)}: {reason(error)}.") from error

    def _between(self, example: Example) -> int:
        if self.separator is None:
            raise BadInput(f"Example {example.id!r} is a pair; to read pairs, give from_network the id of a separator.")
        return self.separator

    @property
    def vocabulary(self) -> Tensor:
        """[piece]: the ids of the embedding, without pad, mask and separator."""
        rows = rows_of_table(self.embedding)
        if rows is None:
            raise ModelCannot(f"{self.name}: the embedding has no weight, so its ids are not known.")
        special = {self.pad, self.mask, self.separator}
        return torch.tensor([index for index in range(rows) if index not in special])

    def trace(
        self,
        rows: Sequence[Row],
        want: Want = NOTHING,
        embeddings: Tensor | None = None,
        layer: int | None = None,
    ) -> Trace:
        """Run rows, padded together; embeddings [example unit width] replace the word embeddings, or a layer's
        states.
        """
        if want.gradients and not self._followed:
            self._follow_gradient(rows[:1])
        run = lambda: self._trace_once(rows, want, embeddings, layer)  # noqa: E731
        return undisturbed(self.network, self.name, run, shared_numbers)

    def _trace_once(self, rows: Sequence[Row], want: Want, embeddings: Tensor | None, layer: int | None) -> Trace:
        """The run; where the user's function cannot read a row without pieces, as one of one `pad`."""
        columns = collate(rows, pad=self.pad, first_position=0, spread=self.gaps == "mask", device=self.device)
        ids, attended = columns["input_ids"], columns["attention_mask"].bool()
        empty = ~attended.any(1, keepdim=True)
        filled = attended | (empty & (torch.arange(ids.shape[1], device=ids.device) == 0))
        try:
            return self._trace_of(rows, ids, attended, want, embeddings, layer)
        except ModelCannot:
            if empty.any():
                with suppress(ModelCannot):
                    return self._trace_of(rows, ids, filled, want, embeddings, layer)
            raise

    def _trace_of(
        self,
        rows: Sequence[Row],
        ids: Tensor,
        attended: Tensor,
        want: Want,
        embeddings: Tensor | None,
        layer: int | None,
    ) -> Trace:
        words = embeddings if not layer else None
        seen: list[Tensor] = []
        states = self._layer_run(want, ids, embeddings, layer)
        with ExitStack() as stack:
            stack.enter_context(torch.enable_grad() if want.gradients else nullcontext())
            if self.embedding is not None:
                stack.enter_context(word_embeddings(self.embedding, seen, instead=words, gradients=want.gradients))
            if want.under is not None:
                stack.enter_context(want.under(self.network))
            if want.wide_head and self.layers:
                stack.enter_context(wide_after(self.layers[-1:], 1))
            try:
                with states.recording() if states else nullcontext():
                    logits = self._answer(ids, attended)
                if want.gradients and not logits.requires_grad:
                    raise ModelCannot(self._no_gradient("logits gives numbers that have no gradient"))
            except Enough:
                logits = seen[0].new_zeros(len(rows), 0)
        self._check_seen(seen, ids.shape)
        hidden = (seen[0], *states.states) if states else ()
        if self.gaps == "mask" and any(row.extent > row.length for row in rows):
            hidden = tuple(closed_up(state, rows) for state in hidden)
        return Trace(logits, seen[0] if seen else logits.new_zeros(*ids.shape, 0), hidden)

    def _check_seen(self, seen: Sequence[Tensor], shape: Sequence[int]) -> None:
        """Raise `ModelCannot` where the embedding did not give one vector a piece, once; shape: rows and pieces."""
        if self.embedding is None:
            return
        if len(seen) != 1:
            raise ModelCannot(
                f"{self.name}: logits used the embedding {len(seen)} times; it must use it once, for all ids together."
            )
        came = tuple(seen[0].shape)
        if len(came) != 3 or came[0] != shape[0] or came[1] < shape[1]:
            raise ModelCannot(
                f"{self.name}: the embedding must give one vector a piece, here {shape[0]} x {shape[1]} x width; "
                f"{came} came. Leave embedding= away to use methods that edit the text."
            )

    def _follow_gradient(self, rows: Sequence[Row]) -> None:
        """Raise `ModelCannot` where no gradient leads from the logits of these rows back to the words, or one that
        leaves modules out.
        """
        with reading(self.network), losses(self.network) as lost:
            self._trace_once(rows, Want(gradients=True), None, None)
        if lost:
            raise ModelCannot(self._no_gradient(f"no gradient goes through {lost[0]}"))
        self._followed.append(True)

    def _no_gradient(self, what: str) -> str:
        return (
            f"{self.name}: {what}; take no_grad, detach, numpy and quantised layers out of it, or leave embedding= "
            f"away and use methods that edit the text."
        )

    def _layer_run(self, want: Want, ids: Tensor, instead: Tensor | None, layer: int | None) -> LayerRun | None:
        """What shall be read off the named layers and put there; None where a run asks for nothing of them."""
        if not self.layers or self.embedding is None or not (want.hidden or layer):
            return None
        shape = (len(ids), ids.shape[1])
        return LayerRun(self.embedding, self.layers, self.name, shape, want.deepest, layer, instead)

    def plain_logits(self, example: Example) -> Tensor:
        """[logit]: the user's functions on the single text."""
        return self.plain_window_logits(example, [range(len(self.encode([example]).rows[0]))])[0]

    def plain_window_logits(self, example: Example, windows: Sequence[Sequence[int]]) -> Tensor:
        """[window logit]: the user's functions on these pieces of the text, window by window."""
        ids = torch.tensor([self.encode([example]).rows[0].ids], device=self.device)
        cut = [ids[:, list(pieces)] for pieces in windows]

        def logits() -> Tensor:
            return torch.cat([self._answer(part, torch.ones_like(part, dtype=torch.bool)) for part in cut])

        with torch.no_grad():
            return undisturbed(self.network, self.name, logits, lambda answer: [answer])

    def _answer(self, ids: Tensor, attended: Tensor) -> Tensor:
        shape = tuple(ids.shape)
        try:
            logits = self.logits(ids, attended)
        except Exception as error:  # anything can happen in a user's function
            if is_memory_error(error) or isinstance(error, PellucidError):
                raise
            raise ModelCannot(self._failure(shape, error)) from error
        expected = (shape[0], 1 if self.problem == "one_logit" else len(self.labels))
        if not isinstance(logits, Tensor) or tuple(logits.shape) != expected or not logits.is_floating_point():
            came = str(tuple(logits.shape)) if isinstance(logits, Tensor) else type(logits).__name__
            came += f" of {logits.dtype}" if isinstance(logits, Tensor) and not logits.is_floating_point() else ""
            raise ModelCannot(
                f"{self.name}: logits must give a tensor of floating-point numbers of shape {expected} for "
                f"{shape[0]} texts and {len(self.labels)} classes; {came} came.{self._of_tokens(logits)}"
            )
        self._read.add(shape)
        return logits

    def _of_tokens(self, logits: object) -> str:
        """What is said of logits for each token."""
        if not isinstance(logits, Tensor) or logits.ndim != 3:
            return ""
        return (
            " A network that tags tokens is explained with its tokenizer: pellucid.load(network, tokenizer), where it "
            "has a config with id2label, and get_input_embeddings(), as the library's networks have."
        )

    def _failure(self, shape: tuple[int, ...], error: Exception) -> str:
        """What is said of ids of this shape, beside one that the user's function has read."""
        sentence = f"{self.name}: logits failed on ids of shape {shape}: {reason(error)}"
        if not self._read:
            return f"{sentence}."
        return (
            f"{sentence}; it has read ids of shape {max(self._read, key=lambda read: read[::-1])}. Fill up inside "
            f"logits what is too short for it, or let masked words keep their places (mask=, and operator='mask' where "
            f"a method has it); gradients are taken of whole texts."
        )


def from_network(
    network: nn.Module,
    *,
    tokenize: Callable[[str], Sequence[Piece]],
    logits: Callable[[Tensor, Tensor], Tensor],
    embedding: nn.Module | None = None,
    labels: Sequence[str],
    problem: Problem | None = None,
    name: str | None = None,
    pad: int = 0,
    mask: int | None = None,
    separator: int | None = None,
    max_length: int | None = None,
    gaps: Gaps = "close",
    layers: Sequence[nn.Module] | None = None,
    unknown: int | None = None,
) -> NetworkClassifier:
    r"""Any torch network as a classifier that can be explained, judged and compared.

    network: the module; its weights are never changed.
    tokenize: text -> one (id, start, end) a piece, with its characters [start, end); (id, None, None) for a special
        token.
    logits: (ids [batch piece], attended [batch piece] bool) -> [batch class], padded on the right with `pad`. A text
        without pieces is a row of `pad` that is not attended to; where logits fails on it, its first `pad` is.
    embedding: the module that turns ids into vectors; without it, only methods that need no gradient work.
    labels: the classes' names, in the logits' order.
    problem: what the logits mean; None: "single_label", or "one_logit" for one label.
    name: what results call the model; None: the network's class.
    pad: the id that fills rows up.
    mask, separator: ids of the mask token and of what stands between the texts of a pair; None: there is none.
    max_length: pieces that the network reads at once; None: any number.
    gaps: what "absent" means. "close": the rest closes up (recurrent, convolutional networks, bags of words). "mask":
        absent pieces keep their positions, and attended is False there (networks with attention).
    layers: modules, first to last, that `logits` runs once each and that return [batch piece width] (or that first of
        several outputs): the model's hidden states, for methods with `layer=` and for `HiddenState`. Layer 0 are the
        word embeddings, so `embedding` must be named too. None: the model shows no hidden states.
    unknown: the id that `tokenize` gives what the network does not know; results say which words these are. None: there
        is none.

    Returns the classifier. Raises `BadSetting` for settings that do not fit; a layer that turns out to return something
    else is a `ModelCannot`.

    >>> import re, torch
    >>> embedding, head = torch.nn.Embedding(100, 8), torch.nn.Linear(8, 2)
    >>> model = pellucid.from_network(
    ...     torch.nn.ModuleList([embedding, head]),
    ...     tokenize=lambda text: [(1 + len(word[0]), *word.span()) for word in re.finditer(r"\w+", text)],
    ...     logits=lambda ids, attended: head((embedding(ids) * attended[..., None]).sum(1)),
    ...     embedding=embedding,
    ...     labels=["negative", "positive"],
    ... )
    >>> [word for word, score in pellucid.explain(model, "A good film.", "integrated_gradients")[0]]
    ['A', 'good', 'film']
    """
    one_of("gaps", gaps, ("close", "mask"))
    if problem is not None:
        one_of("problem", problem, get_args(Problem))
    names = class_names("labels", labels)
    of_class("The name", name, str | NoneType, "give a string")
    if max_length is not None:
        max_length = whole("max_length", max_length, 1, NO_LIMIT)
    if unknown is not None:
        unknown = whole("unknown", unknown, 0, NO_LIMIT)
    kind: Problem = problem if problem is not None else ("one_logit" if len(names) == 1 else "single_label")
    if kind == "one_logit" and len(names) == 1:
        names = (f"not {names[0]}", names[0])
    if not names or len(set(names)) < len(names):
        raise BadSetting(f"labels must be different names, one a class; {', '.join(names) or 'none'} came.")
    states = checked_layers(layers, embedding)
    check_network(network, logits, embedding, states)
    return NetworkClassifier(
        network=network,
        tokenize=tokenize,
        logits=logits,
        embedding=embedding,
        labels=names,
        problem=kind,
        name=name or type(network).__name__,
        pad=pad,
        mask=mask,
        separator=separator,
        max_length=max_length or NO_LIMIT,
        gaps=gaps,
        layers=states,
        unknown=unknown,
    )


def _checked(piece: Piece, segment: int, text: str, example: Example) -> tuple[int, int, int, int, str]:
    """(id, segment, start, end, label) of one piece that tokenize returned."""
    try:
        piece_id, start, end = piece
        if start is None and end is None:
            return int(piece_id), SPECIAL, 0, 0, f"[{piece_id}]"
        if not 0 <= start < end <= len(text):  # type: ignore[operator]
            raise ValueError("the place lies outside the text")
        return int(piece_id), segment, int(start), int(end), text[start:end]  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"Example {example.id!r}: tokenize must give (id, start, end) with 0 <= start < end <= {len(text)}, or "
            f"(id, None, None) for a special token; {piece!r} came ({error})."
        ) from None
