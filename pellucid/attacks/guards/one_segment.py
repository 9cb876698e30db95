"""Of a pair, one text alone is edited."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits
from pellucid.core.foundation.kinds import attack_guards
from pellucid.core.text.edits import Edit


@attack_guards.add()
def one_segment(case: AttackCase, before: Edits, edit: Edit, *, segment: int | None = None) -> bool:
    """Whether an edit is in the segment: the one with this number, or, for None, that of the first edit."""
    wanted = segment if segment is not None else (before[0].segment if before else edit.segment)
    return edit.segment == wanted
