"""Why a line misses what it must reach, where we know it."""

# By a part of the line.
WHY: dict[str, str] = {
    "literal / tiles, time": (
        "A tile takes some thirty calls of PyTorch, forward and backward; in a profile about a third of the time was "
        "the calls themselves. Larger tiles mean fewer calls, but more memory, and they leave the core's cache."
    ),
    "tiles, peak memory": "Two tiles, and copies of the units of the text that is at work, come on top of what must be "
    "kept.",
    "tiles, % of a training step": (
        "The calls of PyTorch, and its passes over each tile, take the time. The fast route meets it."
    ),
    "tiles, legal spans in ms": (
        "The tiles keep which spans are legal as a square for each text, and a list of where each tile lies; next to "
        "the seconds of such a batch's step it does not matter."
    ),
    "tiles / floor": (
        "The target was set on another processor. Each of PyTorch's twenty calls reads or writes a whole tile; the "
        "floor counts neither these passes nor the calls. Fewer passes and larger tiles were tried and gained little; "
        "fused by torch.compile tiles would take about four times the floor, with a compiler of C++ and ten seconds in "
        "every process."
    ),
    "numba / floor": (
        "Two rows and two columns share what they read and one division among four tanh. What remains above the floor "
        "is reading and writing span vectors and gradients, which the floor leaves out; other work on the machine adds "
        "to it."
    ),
}


def why(what: str) -> str:
    """The reason for a line; empty if nothing is known."""
    return next((reason for part, reason in WHY.items() if part in what), "")
