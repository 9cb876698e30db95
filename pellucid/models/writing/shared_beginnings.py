"""Edited prompts of a language model, read one after another: what two of them begin with alike is computed once.

An edit changes nothing before its first piece, since a causal network reads no later piece. So rows run in the order of
a dictionary, and of each only what follows its common beginning with the row before; keys and values of the beginning
stay in the library's cache. All rows together then compute each beginning once, and only one row is in memory. Pieces
that are absent are not computed at all: the others keep their positions.

Pope et al. (2023), "Efficiently Scaling Transformer Inference", on caches of keys and values. Whether a network gives
the same so is tried once for each size of text, and for rows with absent pieces.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from pellucid.models.classifiers.buffer_copies import undisturbed
from pellucid.models.classifiers.hooks import head_at, wide_after
from pellucid.models.families.probes import parameter_names
from pellucid.models.writing.tracks import writing_places
from pellucid.run.batch import Row
from pellucid.run.parity import residuals
from pellucid.run.rounding import number_type, tolerance
from pellucid.run.trace import Trace, Want, WrittenTrace

SHORT = 256  # places of a row: shorter ones share passes beside each other
START = 1 / 12  # the cost of starting a pass, as a share of the cost of a full pack (`run/scheduler.py`)
GAIN = 0.8  # of the cost of packs: so much or less is worth a way of its own
SORTED = 2**22  # places of rows that are sorted together
NEAR = {torch.float64: 1e-6, torch.float32: 1e-5}  # relative to an answer, or to 1
SAME = 0.5  # of the guard's tolerance, in shorter number types
ID, POSITION = range(2)  # the columns of what a row reads


def keeps_keys(network: Any) -> bool:  # Any: see `WritingModel`
    """Whether a causal network goes on from keys and values of all pieces that it has read; one that forgets some, by a
    sliding window or a state of its own, does not.
    """
    names = parameter_names(network)
    if network.config.is_encoder_decoder or not {"past_key_values", "use_cache"} <= names:
        return False
    try:
        layers = DynamicCache(config=network.config).layers
    except (AttributeError, KeyError, TypeError, ValueError):  # a configuration that the library's cache does not know
        return False
    return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)


def same_answers(model: Any, answers: Tensor, plain: Tensor) -> bool:
    """Whether two passes of a `WritingModel` give the same answers [row answer], but for rounding."""
    near = NEAR.get(number_type(model, plain.dtype), SAME * tolerance(model, plain.dtype))
    return bool((residuals(answers, plain) <= near).all())


@dataclass(frozen=True, eq=False)
class _Places:
    """What a row reads. columns: [place column], the places that are read. writing: [piece], the
    numbers of those that write. ids: [1 piece], the pieces that they write.
    """

    columns: np.ndarray
    writing: Tensor
    ids: Tensor

    def alike(self, read: np.ndarray) -> int:
        """How many places at the beginning are the same as what was read, those that write left away."""
        most = min(len(read), int(self.writing.min()))
        differs = (self.columns[:most] != read[:most]).any(1)
        return int(differs.argmax()) if differs.any() else most


@dataclass(eq=False)
class SharedBeginnings:
    """Rows of a model that run one after another.

    want: what their traces shall contain. read: what the cache holds, a line a place [place column]. cache: its keys
    and values.
    """

    model: Any  # a `WritingModel`, whose file reads this one
    want: Want
    read: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int32))
    cache: Any = None

    def packs(self, rows: Sequence[Row], usual: Sequence[Sequence[int]], budget: int) -> list[list[int]] | None:
        """The order in which rows run, each by itself; None where it gains nothing or changes an answer.

        usual: the packs in which they would run otherwise. budget: tokens of a full pack.
        """
        if len(rows) < 2 or max(row.extent for row in rows) < SHORT:
            return None
        order, alike, left = self._order(rows)
        cost = sum(left) + len(rows) * START * budget
        sizes = [max(rows[index].extent for index in pack) * len(pack) for pack in usual]
        if cost > GAIN * (sum(sizes) + len(usual) * START * budget):
            return None
        gaps = [part + rest < rows[index].extent for index, part, rest in zip(order, alike, left, strict=True)]
        kind = (1 << (max(row.extent for row in rows) - 1).bit_length(), any(gaps))
        if kind not in self.model.beginnings:
            most = max(range(1, len(order)), key=lambda turn: (gaps[turn], alike[turn]))
            self.model.beginnings[kind] = self._by_trial(rows[order[most - 1]], rows[order[most]])
        return [[index] for index in order] if self.model.beginnings[kind] else None

    def _order(self, rows: Sequence[Row]) -> tuple[list[int], list[int], list[int]]:
        """The rows' numbers as in a dictionary, and for each how many places are alike and how many are left."""
        at_once = max(1, SORTED // max(row.extent for row in rows))
        order, alike, left = [], [], []
        before = self.read[:0]
        for first in range(0, len(rows), at_once):
            places = {index: self._places(rows[index]) for index in range(first, min(first + at_once, len(rows)))}
            for index in sorted(places, key=lambda index: places[index].columns.astype(">i4").tobytes()):
                order.append(index)
                alike.append(places[index].alike(before))
                before = places[index].columns
                left.append(len(before) - alike[-1])
        return order, alike, left

    def _places(self, row: Row) -> _Places:
        on_processor, form = torch.device("cpu"), self.model.form
        rows = self.model.as_read([row])
        (track,) = form.tracks(rows, on_processor)
        ids, places = writing_places(rows, form.places, on_processor)
        is_read = track.attended[0].bool()
        positions = is_read.nonzero()[:, 0]
        columns = torch.stack([track.ids[0, positions], positions], 1)
        writing = (is_read.cumsum(0) - 1)[places[0]]
        return _Places(columns.int().numpy(), writing, ids)

    def _by_trial(self, before: Row, row: Row) -> bool:
        """Whether a row gets the answers that it gets by itself."""
        alone = self.model.trace([row], self.want)
        try:
            self.trace([before])
            ours = self.trace([row])
        except Exception:  # a network may not take what the library's own take
            return False
        ours_written, plain_written = ours.written, alone.written
        assert ours_written is not None and plain_written is not None
        answers, plain = (each.log_probabilities(each.ids) for each in (ours_written, plain_written))
        return same_answers(self.model, answers, plain)

    def trace(self, rows: Sequence[Row], want: Want | None = None) -> Trace:
        """Run one row, after whatever its beginning shares with the row before; logits and what is written alone."""
        (row,) = rows
        places = self._places(row)
        first = places.alike(self.read)
        logits = undisturbed(
            self.model.network, self.model.name, lambda: self._logits(places, first), lambda numbers: [numbers]
        )
        written = WrittenTrace(logits, places.ids.to(logits.device))
        answer = written.log_probabilities(written.ids).sum(-1, keepdim=True)
        return Trace(answer, logits.new_zeros(1, 0, 0), written=written)

    @torch.no_grad()
    def _logits(self, places: _Places, first: int) -> Tensor:
        """[1 piece id]; first: the place from which on the network reads."""
        model, device = self.model, self.model.device
        columns = torch.from_numpy(places.columns.astype(np.int64)).to(device)
        cache, self.cache = self._cut(first), None
        arguments = {"position_ids": columns[None, first:, POSITION]}
        if "position_ids" not in parameter_names(model.network):  # it counts the places that are read
            arguments = {}
        with ExitStack() as stack:
            stack.enter_context(head_at(model.head, (places.writing - first)[None].to(device)))
            if self.want.wide_head and model.layers.decoder is not None:
                stack.enter_context(wide_after(model.layers.decoder.modules, model.layers.decoder.count))
            output = model.network(
                input_ids=columns[None, first:, ID],
                attention_mask=torch.ones_like(columns[None, :, ID]),
                past_key_values=cache,
                use_cache=True,
                return_dict=True,
                **arguments,
            )
        self.read, self.cache = places.columns, cache
        return output.logits

    def _cut(self, first: int) -> Any:
        """The cache with its first places alone; a new one where there are none."""
        if self.cache is None or not first:
            return DynamicCache(config=self.model.network.config)
        self.cache.crop(first - len(self.read))
        return self.cache
