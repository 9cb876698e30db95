"""The numbers of a study that stand in the repository."""

import json
from pathlib import Path

from pellucid.base.files import read_text
from studies.shared.units import Numbers


def result_of(root: Path, study: str) -> Numbers | None:
    """What a study, or a task of it such as "s1_games/sst2", found; None where it was not run."""
    path = root / "studies" / study / "result.json"
    if not path.exists():
        return None
    numbers: Numbers = json.loads(read_text(path))
    return numbers
