"""No edit glues words to each other."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits
from pellucid.core.foundation.kinds import attack_guards
from pellucid.core.text.edits import Edit, edited_segments
from pellucid.core.text.units import text_units


@attack_guards.add()
def whole_words(case: AttackCase, before: Edits, edit: Edit) -> bool:
    """Whether what is put in begins and ends between words of the edited text, also where it is nothing at all."""
    text = edited_segments(case.example.segments, (*before, edit))[edit.segment]
    earlier = (one for one in before if one.segment == edit.segment and one.end <= edit.start)
    start = edit.start + sum(len(one.after) - (one.end - one.start) for one in earlier)
    end = start + len(edit.after)
    return not any(first < start < last or first < end < last for first, last in text_units(text, "word"))
