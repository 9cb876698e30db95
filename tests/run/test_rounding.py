"""The resolution of scores: rounding is measured in every precision, and no view takes it for a score."""

import csv
import re
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch

import pellucid
from pellucid.data.exports.tables import write_csv
from pellucid.explaining.views.terminal_explanation import terminal_text
from pellucid.results.class_words import class_words
from pellucid.run.packing import scheduler_for
from pellucid.run.rounding import rounding_of
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.shared.asking import ask
from tests.shared.tiny import save_tiny, tiny_classifier
from tests.shared.tiny_writing import tiny_writing

TEXTS = (
    "A gripping, lovely film that nobody should miss, however late it is.",
    "The café was closed and nobody could eat there, which was a pity.",
    "fine film",
    "I had no hope left, but the ending was good.",
)
FIRST = Target(0)
PRECISIONS = ("bfloat16", "float16", "autocast", "wrapped", "float32")


def tiny(family, precision="float32"):
    """A tiny model whose weights bfloat16 can write, computing in a precision; and the context in which it does."""
    model = tiny_classifier(family)
    model.network.to(torch.bfloat16).to(torch.float32)
    if precision in ("bfloat16", "float16", "float64"):
        model.network.to(getattr(torch, precision))
    if precision == "wrapped":
        wrap_as_accelerate_does(model.network)
    context = torch.autocast("cpu", torch.bfloat16) if precision == "autocast" else nullcontext()
    return model, context


def wrap_as_accelerate_does(network):
    """Autocast inside of forward, answers in float32: from outside nothing shows that anything is rounded."""
    own = network.forward

    def forward(*args, **kwargs):
        with torch.autocast("cpu", torch.bfloat16):
            output = own(*args, **kwargs)
        output.logits = output.logits.float()
        return output

    forward.__wrapped__ = own
    network.forward = forward


def errors_and_limits(family, precision, method):
    """[score] each: how far scores are from those in float64, and their resolution."""
    (model, context), (exact, _) = tiny(family, precision), tiny(family, "float64")
    with context:
        ours = ask(model, TEXTS, method, target=FIRST)
    right = ask(exact, TEXTS, method, target=FIRST)
    errors = [np.abs(one.scores - other.scores) for one, other in zip(ours, right, strict=True)]
    limits = [np.full(one.scores.shape, one.resolution) for one in ours]
    return np.concatenate(errors), np.concatenate(limits)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("method", ("occlusion", "gradient_x_input"))
@pytest.mark.parametrize("family", ("bert", "modernbert", "llama"))
def test_the_resolution_covers_what_rounding_changes(family, method, precision):
    errors, limits = errors_and_limits(family, precision, method)
    assert (errors <= limits).mean() >= 0.85
    assert np.median(limits) < 0.1 * 2 ** (0 if precision != "float32" else -12)  # and is no excuse for everything


@pytest.mark.parametrize("precision", PRECISIONS[:4])
def test_a_caution_says_what_is_rounding(precision):
    model, context = tiny("bert", precision)
    with context:
        explanations = ask(model, TEXTS, "occlusion", target=FIRST)
    name = {"float16": "float16", "wrapped": "numbers coarser than float32"}.get(precision, "bfloat16")
    for one in explanations:
        below = (np.abs(one.scores) < one.resolution) & (one.scores != 0)
        assert any(f"are rounding here: the model computes in {name}" in each for each in one.caveats) == below.any()
    assert any("rounding" in caveat for one in explanations for caveat in one.caveats)


def test_float32_has_nothing_to_say():
    for one in ask(tiny("bert")[0], TEXTS, "occlusion", target=FIRST):
        assert 0 < one.resolution < 1e-5
        assert not any("rounding" in caveat for caveat in one.caveats)


@pytest.mark.parametrize("family", ("modernbert", "llama"))
def test_edited_texts_are_subtracted_before_the_last_rounding(family):
    """Where answers are far larger than their differences, most of what bfloat16 changes comes from the end of the
    pass.
    """
    (model, _), (exact, _) = tiny(family, "bfloat16"), tiny(family, "float64")
    batch = model.encode(as_examples(TEXTS))
    rows = [row for n, row in enumerate(batch.rows) for row in (row, batch.edited(n, [1], "absent"))]
    right = evaluate_rows(exact, scheduler_for(exact), rows)
    gaps = []
    for wide_head in (False, True):
        errors = evaluate_rows(model, scheduler_for(model), rows, wide_head=wide_head) - right
        gaps.append((errors[::2] - errors[1::2]).square().mean().sqrt())
    assert rounding_of(model).wide_head
    assert gaps[1] < 0.9 * gaps[0]


def test_a_hidden_autocast_is_no_padding_that_is_read():
    """Alone or together, its answers differ by bfloat16's rounding, and that is what the guard allows."""
    explanations = ask(tiny("bert", "wrapped")[0], TEXTS, "occlusion")
    assert len(explanations) == len(TEXTS)


def test_the_resolution_is_the_same_alone_and_beside_others():
    model, _ = tiny("bert", "bfloat16")
    alone = [ask(tiny("bert", "bfloat16")[0], text, "occlusion")[0].resolution for text in TEXTS]
    assert [one.resolution for one in ask(model, TEXTS, "occlusion")] == alone


def test_weights_that_are_shortened_later_are_tried_again():
    model, _ = tiny("bert")
    assert rounding_of(model).dtype == torch.float32
    model.network.to(torch.bfloat16)
    assert rounding_of(model).dtype == torch.bfloat16


def with_resolution(explanation, size):
    return replace(explanation, diagnostics={"resolution": size})


def test_no_view_takes_rounding_for_a_score(tmp_path):
    """Words below the resolution have no colour, no sign and no line, and count for no class; the scores stay."""
    model = pellucid.from_function(
        lambda texts: [
            [0.1, 0.9] if "good" in text else [0.5 - 0.001 * len(text), 0.5 + 0.001 * len(text)] for text in texts
        ],
        ["no", "yes"],
    )
    plain = pellucid.explain(model, "some good old film", "occlusion", target="yes")[0]
    below = replace(plain, scores=np.array([0.003, 2.0, -0.002, 0.004], dtype=np.float32))
    some = with_resolution(below, 0.0039)
    assert some.above_rounding().scores.tolist() == pytest.approx([0, 2, 0, 0.004])
    assert some.scores.tolist() == below.scores.tolist()
    one = with_resolution(below, 0.01)
    assert re.findall(r'class="(pl-u[^"]*)"', one._repr_html_()) == [
        "pl-u",
        "pl-u pl-p16 pl-for",
        "pl-u",
        "pl-u",
    ]
    text = terminal_text(one, colour=False)
    assert "[+++]good" in text and text.count("[+") + text.count("[-") == 1 + text.count("[+] stands") + text.count(
        "[-] before"
    )
    write_csv([one], tmp_path / "one.csv")
    (row,) = csv.DictReader((tmp_path / "one.csv").read_text("utf-8-sig").splitlines())
    assert (row["words_for"], row["words_against"]) == ("good +2", "")
    assert "film +0.004" in row["words_and_scores"]
    assert [word.word for word in class_words([one], min_texts=1).words if word.mean] == ["good"]


def test_a_user_s_own_functions_may_refuse_the_trial_s_texts():
    ids = {"a": 1, "good": 2, "film": 3}

    def tokenize(text):
        assert set(text.split()) <= ids.keys(), "unknown words"
        ends = [match.span() for match in re.finditer("[a-z]+", text)]
        return [(ids[text[start:end]], start, end) for start, end in ends]

    embedding, head = torch.nn.Embedding(4, 3), torch.nn.Linear(3, 2)
    model = pellucid.from_network(
        torch.nn.ModuleList([embedding, head]),
        tokenize=tokenize,
        logits=lambda ids, real: head((embedding(ids) * real[..., None]).sum(1)),
        embedding=embedding,
        labels=["no", "yes"],
    )
    assert pellucid.explain(model, "a good film", "occlusion")[0].resolution > 0


def test_a_sure_answer_s_loss_is_known_to_a_step_at_1():
    """Of log-softmax in float32 nothing below 1e-7 is left, however small the loss is."""
    for bias, nothing in ((8.0, False), (40.0, True)):
        model = tiny_classifier("bert")
        with torch.no_grad():
            model.network.classifier.bias[0] += bias
        one = ask(model, TEXTS[0], "occlusion", target=Target(0, output="loss"))[0]
        assert one.resolution >= 1e-7
        assert not one.above_rounding().scores.any() or not nothing
        assert any("found nothing" in caveat for caveat in one.caveats) is False
        assert any("rounding" in caveat for caveat in one.caveats) or not nothing


def test_gradients_of_models_that_write_go_through_autocast():
    with torch.autocast("cpu", torch.bfloat16):
        (one,) = pellucid.explain(tiny_writing("gpt2"), [("fine film", "good")], "gradient_x_input")
    assert one.scores.any() and one.resolution > 0


def test_special_tokens_and_windows_do_not_coarsen_words():
    """The start token's gradient is a hundred times a word's; a word in one of nine windows has a ninth of its
    effect.
    """
    model, _ = tiny("bert", "bfloat16")
    gradient = ask(model, TEXTS[0], "gradient")[0]
    assert (gradient.above_rounding().scores != 0).mean() > 0.9
    windows = replace(model, window=8)
    one = ask(windows, " ".join(TEXTS), "occlusion")[0]
    single = min(text.resolution for text in ask(model, TEXTS, "occlusion"))
    assert one.diagnostics["windows"] > 4 and one.resolution < single / 2


def test_a_sum_of_scores_is_less_certain_than_each():
    one = ask(tiny("bert", "bfloat16")[0], TEXTS[0], ("occlusion", {"unit": "piece"}))[0]
    assert one.resolution < one.words().resolution < one.sentences().resolution
    assert one.words().words().resolution == one.words().resolution


@pytest.mark.whole
def test_workers_compute_under_the_caller_s_autocast(tmp_path):
    model = pellucid.load(save_tiny(tmp_path / "model", "bert"))
    texts = [f"{number} good films and one bad" for number in range(70)]
    with torch.autocast("cpu", torch.bfloat16):
        here = pellucid.explain(model, texts, "gradient_x_input")
        there = pellucid.explain(model, texts, "gradient_x_input", workers=2)
    assert [one.resolution for one in there] == [one.resolution for one in here]
    for ours, others in zip(here, there, strict=True):
        assert np.abs(ours.scores - others.scores).max() <= ours.resolution
