"""What attention and GELU are of a pass on one core, and what other ways to compute them would gain.

    python -m benchmarks.pass_parts    # half a minute; prints, and writes nothing

One block of MiniLM's sizes, without gradients: its products by PyTorch and by oneDNN with packed weights, GELU apart and
inside the product, attention over padded rows, over each text alone (no padding at all), and over a nested tensor. What
is printed last is how many times as fast a whole pass by the route onednn would be: 1.1 is worth having.
"""

import statistics
import time
from collections.abc import Callable, Sequence

import torch
from torch.nn import functional as F

from benchmarks.attribution.results import machine_of, machine_words
from pellucid.models.routing.linear_product import linear_product, packed

WIDTH, INNER, HEADS = 384, 1536, 12
TEXTS = {"short": [20, 22, 24, 25, 26, 28, 30, 32, 33, 35], "long": [290, 320]}  # pieces of texts that share a pass
TURNS = 30


def milliseconds(work: Callable[[], object]) -> float:
    """The median of some turns, of which the first is left away."""
    work()
    turns = []
    for _ in range(TURNS):
        start = time.perf_counter()
        work()
        turns.append(time.perf_counter() - start)
    return 1e3 * statistics.median(turns)


def products(rows: int) -> dict[str, float]:
    """The block's six products, and GELU, by PyTorch and by oneDNN."""
    narrow, wide = torch.randn(rows, WIDTH), torch.randn(rows, INNER)
    square, up, down = torch.randn(WIDTH, WIDTH), torch.randn(INNER, WIDTH), torch.randn(WIDTH, INNER)
    bias = torch.randn(INNER)
    reordered = [packed(weight) for weight in (square, up, down)]
    one_dnn = sum(
        times * milliseconds(lambda inputs=inputs, weight=weight: linear_product(inputs, weight))
        for times, inputs, weight in zip((4, 1, 1), (narrow, narrow, wide), reordered, strict=True)
    )
    eager = sum(
        times * milliseconds(lambda inputs=inputs, weight=weight: F.linear(inputs, weight))
        for times, inputs, weight in zip((4, 1, 1), (narrow, narrow, wide), (square, up, down), strict=True)
    )
    fused = torch.ops.mkldnn._linear_pointwise.default
    apart = milliseconds(lambda: F.gelu(linear_product(narrow, reordered[1], bias)))
    inside = milliseconds(lambda: fused(narrow, reordered[1], bias, "gelu", [], "none"))
    gelu = milliseconds(lambda: F.gelu(wide))
    return {
        "products by PyTorch": eager,
        "products by oneDNN": one_dnn,
        "GELU": gelu,
        "GELU inside saves": apart - inside,
    }


def attention(lengths: Sequence[int]) -> dict[str, float]:
    """Attention over texts of these lengths, in three ways."""
    size = WIDTH // HEADS
    rows, mask = torch.randn(len(lengths), HEADS, max(lengths), size), torch.zeros(len(lengths), 1, 1, max(lengths))
    each = [torch.randn(1, HEADS, length, size) for length in lengths]
    nested = torch.nested.nested_tensor([text[0].transpose(0, 1) for text in each], layout=torch.jagged).transpose(1, 2)
    attend = F.scaled_dot_product_attention
    return {
        "attention, padded": milliseconds(lambda: attend(rows, rows, rows, attn_mask=mask)),
        "attention, each text alone": milliseconds(lambda: [attend(text, text, text) for text in each]),
        "attention, nested": milliseconds(lambda: attend(nested, nested, nested)),
    }


def main() -> None:
    """Print milliseconds of each part, and what the other ways gain."""
    torch.set_num_threads(1)
    print(f"{machine_words(machine_of('cpu'))}.\n")
    with torch.no_grad():
        for kind, lengths in TEXTS.items():
            parts = products(len(lengths) * max(lengths)) | attention(lengths)
            whole = parts["products by oneDNN"] + parts["GELU"] + parts["attention, padded"]
            print(f"{kind}: " + ", ".join(f"{name} {value:.2f} ms" for name, value in parts.items()))
            saved = {
                "GELU inside the product": parts["GELU inside saves"],
                "each text alone": parts["attention, padded"] - parts["attention, each text alone"],
                "nested": parts["attention, padded"] - parts["attention, nested"],
            }
            print(
                "  the pass would be "
                + ", ".join(f"{whole / (whole - each):.2f} × ({name})" for name, each in saved.items())
            )


if __name__ == "__main__":
    main()
