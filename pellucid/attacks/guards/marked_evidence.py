"""What people marked as the reason for the label stays, so that a reader would still give the same answer."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits
from pellucid.core.foundation.kinds import attack_guards
from pellucid.core.text.edits import Edit


@attack_guards.add()
def marked_evidence(case: AttackCase, before: Edits, edit: Edit) -> bool:
    """Whether an edit touches no marked character; texts without marks allow every edit."""
    return not any(
        mark.segment == edit.segment and mark.start < edit.end and edit.start < mark.end
        for mark in case.example.rationales
    )
