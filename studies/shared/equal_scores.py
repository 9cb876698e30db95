"""Studies that rank words by scores: which of their numbers follow the rule for equal scores, and what a page says
where they do not.

Numbers that were measured before the rule have no record of it, so a study that is run anew loses the sentence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pellucid.text.ranges import TIES

RECORD = "equal_scores"  # its name in records and results


@dataclass(frozen=True)
class EqualScores:
    """What of a study depended on the order of equal scores before the rule.

    before: which numbers, and how they took equal scores, in words. concerned: which methods that concerns, a sentence.
    stage: of the units that rank; "" where the work leaves one record.
    """

    before: str
    concerned: str
    stage: str = ""

    def follows_rule(self, records: Mapping[str, Any]) -> bool:
        """Whether all that the work left was measured by the rule."""
        return follows_rule(list(records[self.stage].values()) if self.stage else records)

    @property
    def sentence(self) -> str:
        """Markdown, one paragraph."""
        return f"Measured before numbers were means over the orders of equal scores: {self.before}. {self.concerned}"


def follows_rule(result: Any) -> bool:
    """Whether a result or a unit's record, or all of a list of them, says that it was measured by the rule."""
    if isinstance(result, list):
        return all(map(follows_rule, result))
    return TIES in (result.get(RECORD), result.get("computed", {}).get(RECORD))
