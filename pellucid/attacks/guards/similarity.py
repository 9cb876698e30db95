"""The edited text still says about the same."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits
from pellucid.core.foundation.checks import between
from pellucid.core.foundation.kinds import attack_guards
from pellucid.core.text.edits import Edit, edited_segments


@attack_guards.add()
def similarity(case: AttackCase, before: Edits, edit: Edit, *, least: float = 0.9) -> bool:
    """Whether the cosine of the texts' MiniLM vectors is at least this high afterwards, of a pair's texts the lower one.

    least: -1 to 1; 0.9 is the median of texts translated to Spanish and back, 0.22 that of two texts that have nothing to do with each other. Raises `BadFile`,
    which says how to install it, where there is no MiniLM.
    """
    between("least", least, -1, 1)
    edited = edited_segments(case.example.segments, (*before, edit))
    return case.dictionaries.similarity(case.example.segments, edited) >= least
