"""Function words stay as they are."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits
from pellucid.core.foundation.kinds import attack_guards
from pellucid.core.text.content_words import has_content
from pellucid.core.text.edits import Edit


@attack_guards.add()
def content_words(case: AttackCase, before: Edits, edit: Edit) -> bool:
    """Whether what is replaced has a content word."""
    return has_content(edit.before)
