"""Time steps of a text that is read, or written, piece by piece: the pieces whose states are explained one after the other."""

from pellucid.core.text.units import SPECIAL, Units

EACH = "each"  # in place of positions: a row for the state at each step


def is_each(positions: object) -> bool:
    """Whether positions stand for every step; they may be anything that a caller gives, an array too."""
    return isinstance(positions, str) and positions == EACH


def steps_of(units: Units) -> tuple[int, ...]:
    """The numbers of the pieces that are steps: all of a text; of a pair the second text's, and the token between the two.

    At the token between the texts a model that writes the second one has read the first and written nothing yet. Other special
    tokens are no steps.
    """
    last = max((units.segment[piece] for piece in units.content), default=SPECIAL)
    steps = [piece for piece in units.content if units.segment[piece] == last]
    before = steps[0] - 1 if steps and last > 0 else SPECIAL
    return (before, *steps) if before >= 0 and units.segment[before] == SPECIAL else tuple(steps)


def step_labels(units: Units) -> tuple[str, ...]:
    """What each step is called where people see it: its number, from 1, and the piece that was read last."""
    return tuple(f"{number} {units.labels[piece]}" for number, piece in enumerate(steps_of(units), 1))
