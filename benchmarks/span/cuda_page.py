"""docs/span-layer-cuda.md: the Triton route on a GPU."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.span.cases import literal_gigabytes
from benchmarks.span.page import grid, where
from benchmarks.span.targets import memory, named

HEAD = """# The span layer's speed on a GPU

Made by `python -m benchmarks.span_layer --device cuda`; not written by hand. [The same on a processor](span-layer.md).

The whole layer, forward and backward, float32. `triton` is the route that is taken on CUDA; `tiles` is plain PyTorch, and what a GPU gets
where there is no C compiler; "literal" is the formula as published, which holds every span."""
READING = """## How to read it

Shapes are (width, texts, units a text). Time is the median of nine steps on the clock, with the GPU waited for; memory is what PyTorch allocated
at the peak beyond the inputs. No goals were set for a GPU.

Up to 256 units in one text a step of `triton` takes about as long as one of 32 units, so its time is not that of its spans, and the literal
layer takes as long. What Triton gives there is memory, not time. With more spans it is several times as fast, and of the largest shapes
the literal layer was not run. `tiles` is slower than both nearly everywhere: on a GPU it is for what Triton cannot do."""


def write_cuda_page(results: Mapping[str, Any], docs: Path) -> Path:
    """Write it."""
    records = {name: record for name, record in results["records"].items() if "failed" not in record}
    path = docs / "span-layer-cuda.md"
    parts = [HEAD, where(results), _in_short(records), grid(records, "triton"), READING]
    path.write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
    return path


def _in_short(records: Mapping[str, Any]) -> str:
    """The ends of the table in a sentence each."""
    times = {name.split()[1]: record for name, record in records.items() if name.startswith("times ")}
    faster = {shape: one["literal"] / one["triton"] for shape, one in times.items() if "literal" in one}
    peaks = {shape: memory(records, tuple(map(int, shape.split(",")))) for shape in faster}
    smaller = {shape: one["literal"] / one["triton"] for shape, one in peaks.items()}
    needs = literal_gigabytes((1024, 8, 512))
    largest = records[f"times {named((1024, 8, 512))} default"]["triton"]

    def ends(ratios: Mapping[str, float]) -> str:
        low, high = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
        return f"{ratios[low]:.1f} ({low.replace(',', ', ')}) to {ratios[high]:.0f} ({high.replace(',', ', ')})"

    return (
        f"Over {len(faster)} shapes the literal layer's time is {ends(faster)} times Triton's, and its peak memory "
        f"{ends(smaller)} times. Eight texts of 512 units at width 1,024 take {largest:.0f} ms; the literal layer, "
        f"which was not run there, needs about {needs:.0f} GB."
    )
