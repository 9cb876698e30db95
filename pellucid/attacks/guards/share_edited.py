"""No more than a share of the text's words is edited."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits
from pellucid.core.foundation.checks import between
from pellucid.core.foundation.kinds import attack_guards
from pellucid.core.text.edits import Edit


@attack_guards.add()
def share_edited(case: AttackCase, before: Edits, edit: Edit, *, most: float = 0.25) -> bool:
    """Whether at most this share of the words is edited afterwards, one word in any case. most: 0 to 1."""
    between("most", most, 0, 1)
    n_words = sum(len(segment.split()) for segment in case.example.segments)
    edited = sum(len(one.before.split()) for one in (*before, edit))
    return edited <= max(1, most * n_words)
