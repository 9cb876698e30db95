"""Decoded saliency: a layer's scores, given to the words that a language head reads in that layer's states.

Hou & Castañón (2023), "Decoding Layer Saliency in Language Transformers", equations 1 to 5 and algorithm 1, whose lines
5 and 9 are read as corrections.md A1.1 and A1.2 say.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from pellucid.attribution.preservation_mask import named_layers
from pellucid.base.checks import listed, quoted, whole
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.kinds import attributions, diagnostics
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import RowFacts, Scores, lacking
from pellucid.run.target import Explainable, LanguageHead, NamedTokens

# A head that always names the commonest piece is right for about one piece in twenty, one that knows the commonest ten
# for about one in five: below that, what it reads says more about the language than about this text.
READABLE = 0.2
PLACES = 1024  # read at once: then memory does not grow with the number of texts
MOST_TYPES = 1_000_000_000


@attributions.add(
    needs={"gradient", "hidden_states", "language_head"},
    cost="1 run of the model, with gradients, and one reading by the language head a layer",
    signed=False,
    shares=False,
)
def decoded_saliency(
    run: ForwardPass,
    target: Explainable,
    *,
    score: str = "grad_cam",
    layer: int | str = "late",
    tau: int | None = None,
) -> Scores:
    """A word's score is the sum over a layer's positions of their scores times the chance that the head names the word
    there.

    score: the method that scores the layer's positions: grad_cam, or any other with a setting `layer`. layer: l = 0
    (the first block's input) to the number of blocks; "late" is two thirds of the way up; "all" gives a row for each.
    tau: a position counts only for the tau words of the text that the head finds likeliest there, 1 or more; None: for
    all.

    Special tokens give their scores to words, but get none themselves (A1.7). Pieces with equal ids have one score,
    which stands at each of them (A1.6); `.types()` shows it once. `tau` counts different pieces of the text, without
    special tokens. Raises `BadSetting` for a score that is no such method.

    Diagnostic `recovery`: the share of the text's pieces that the head names first from the state at their own
    position; of several layers the lowest, and `best_recovery` is the highest.
    """
    if tau is not None:
        whole("tau", tau, 1, MOST_TYPES)
    layers = named_layers(layer, run.model.n_layers)
    head = run.model.language_head
    assert head is not None  # the capability was checked
    by_layer = [
        list(_decoded(run, head, _scores_at(run, target, score, layer_index), layer_index, tau))
        for layer_index in layers
    ]
    several = layer == "all"
    of_examples = list(zip(*by_layer, strict=True))
    recoveries = [[share for _, share in of_layers] for of_layers in of_examples]
    return Scores(
        tuple(
            torch.stack([scores for scores, _ in of_layers]) if several else of_layers[0][0]
            for of_layers in of_examples
        ),
        rows=(("layer", tuple(map(str, layers))),) if several else (),
        diagnostics=tuple(
            {"recovery": min(shares)} | ({"best_recovery": max(shares)} if several else {}) for shares in recoveries
        ),
        caveats=tuple(_caveats(shares, layers) for shares in recoveries),
        of_rows=tuple(_of_rows(shares, layers) for shares in recoveries) if several else (),
    )


@diagnostics.add(worst="lowest")
def recovery(share: float) -> str:
    """The share of the text's pieces that the language head names first from their states; the lowest of several
    layers.
    """
    return f"The language head names {share:.0%} of the text's pieces."


@diagnostics.add(worst="lowest")
def best_recovery(share: float) -> str:
    """The share of the text's pieces that the language head names first, in that of several layers where it is
    highest.
    """
    return f"In the layer that it reads best, the language head names {share:.0%} of the text's pieces."


def _scores_at(run: ForwardPass, target: Explainable, score: str, layer: int) -> tuple[Tensor, ...]:
    """For each example [piece]: the layer's scores alpha."""
    entry = attributions.get(score)
    possible = [name for name in attributions.names() if "layer" in attributions.get(name).defaults]
    possible.remove("decoded_saliency")
    if entry.name not in possible:
        raise BadSetting(
            f"score={quoted(score)} is not possible: it does not score a layer's states. Give one of: "
            f"{listed(possible)}."
        )
    if lacks := lacking(run.model, entry.facts["needs"]):
        raise ModelCannot(f"score={quoted(score)} does not work with {run.model.name}, which {lacks}.")
    (call,) = attributions.calls([(entry.name, {"layer": layer})])
    return call(run, target).values


def _decoded(
    run: ForwardPass, head: LanguageHead, alphas: Sequence[Tensor], layer: int, tau: int | None
) -> Iterator[tuple[Tensor, float]]:
    """For each example its scores [piece] and its recovery, 0 to 1."""
    states = run.state(layer)
    for examples in _groups(run.batch.lengths):
        lengths = [run.batch.lengths[example] for example in examples]
        together = torch.cat([states[e, :length] for e, length in zip(examples, lengths, strict=True)])
        ids = sorted({token_id for example in examples for token_id in run.batch.rows[example].ids})
        column = {token_id: index for index, token_id in enumerate(ids)}
        named = head.name_tokens(together, layer, ids)
        for example, log_chances, best in zip(
            examples, named.log_probabilities.split(lengths), named.most_likely.split(lengths), strict=True
        ):
            own_columns = [column[token_id] for token_id in run.batch.rows[example].ids]
            columns = NamedTokens(log_chances[:, own_columns], best)
            yield _of_example(run, example, columns, alphas[example], tau)


def _groups(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Neighbouring examples of at most so many places together; a longer one is alone."""
    group: list[int] = []
    for example, length in enumerate(lengths):
        if group and sum(lengths[member] for member in group) + length > PLACES:
            yield group
            group = []
        group.append(example)
    if group:
        yield group


def _of_example(
    run: ForwardPass, example: int, named: NamedTokens, alpha: Tensor, tau: int | None
) -> tuple[Tensor, float]:
    """One example's scores [piece] and recovery; named: log-probabilities [place piece] of its own pieces."""
    ids, content = run.batch.rows[example].ids, run.batch.units[example].content
    first = {ids[piece]: piece for piece in reversed(content)}  # a type -> where it stands first
    types = sorted(first.values())
    chances = named.log_probabilities[:, types].exp().to(alpha)
    if tau is not None and tau < len(types):
        lowest = chances.topk(tau, dim=-1).values[:, -1:]
        chances = chances * (chances >= lowest)  # equal chances count alike, whatever their order
    of_types = dict(zip((ids[piece] for piece in types), (alpha @ chances).detach(), strict=True))
    scores = torch.zeros_like(alpha)
    for piece in content:
        scores[piece] = of_types[ids[piece]]
    content_ids = torch.tensor(ids, device=named.most_likely.device)[list(content)]
    hits = named.most_likely[list(content)] == content_ids
    return scores, float(hits.double().mean()) if len(content) else 0.0


def _of_rows(shares: Sequence[float], layers: Sequence[int]) -> tuple[RowFacts, ...]:
    """The recovery of each layer by itself."""
    return tuple(({"recovery": share}, _caveats([share], [layer])) for share, layer in zip(shares, layers, strict=True))


def _caveats(shares: Sequence[float], layers: Sequence[int]) -> tuple[str, ...]:
    unreadable = [layer for share, layer in zip(shares, layers, strict=True) if share < READABLE]
    if not unreadable:
        return ()
    if len(layers) == 1:
        where = f"At layer {layers[0]} the language head names {shares[0]:.0%} of the text's pieces"
    else:
        where = (
            f"In {len(unreadable)} of {len(layers)} layers ({', '.join(map(str, unreadable))}) the language head names "
            f"less than {READABLE:.0%} of the text's pieces"
        )
    return (
        f"{where}: it hardly reads these states, so the scores may stand at words that have nothing to do with them.",
    )
