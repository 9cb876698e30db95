"""What every composed model promises, whatever its encoder and pooler: asserted for both kinds of contract tests."""

import torch

from pellucid.models.composed.composed import load_composed, save_composed
from pellucid.text.example import as_examples

SHORT, LONG = (
    "A gripping, lovely film.",
    "Long, winding and in the end rather dull, it asks for much patience.",
)
PAIR = ("The café was closed on Monday.", "Nobody could eat there, it seems.")
TEXTS = (SHORT, LONG, PAIR, "fine")


def rows_of(classifier, *texts):
    """The rows of texts."""
    return classifier.encode(as_examples(texts)).rows


def assert_alone_is_together(classifier):
    """A longer neighbour and its padding change nothing."""
    together = classifier.trace(rows_of(classifier, *TEXTS)).logits
    for logits, text in zip(together, TEXTS, strict=True):
        alone = classifier.trace(rows_of(classifier, text)).logits[0]
        torch.testing.assert_close(logits, alone, rtol=1e-4, atol=1e-5)


def assert_reads_an_empty_text(classifier):
    """A text of which nothing is left has finite logits, alone and beside others."""
    batch = classifier.encode(as_examples([SHORT, LONG]))
    empty = batch.edited(0, batch.units[0].content, "absent")
    alone, beside = classifier.trace([empty]).logits, classifier.trace([empty, batch.rows[1]]).logits
    assert alone.isfinite().all()
    torch.testing.assert_close(beside[:1], alone, rtol=1e-4, atol=1e-5)


def assert_survives_a_folder(classifier, plan, folder):
    """A saved model has the weights and the answers of the one that was saved."""
    save_composed(classifier.network, classifier.tokenizer, plan, folder)
    loaded = load_composed(folder)
    assert list(loaded.network.state_dict()) == list(classifier.network.state_dict())
    rows = rows_of(classifier, *TEXTS)
    assert torch.equal(loaded.trace(rows).logits, classifier.trace(rows).logits)
