"""Attempts that were saved: a file, or the folder of one attack or of several."""

from pathlib import Path

from pellucid.api.attacks.attack_folder import ATTEMPTS
from pellucid.core.corpus.attempt_storage import holds_attempts, read_attempts
from pellucid.core.corpus.attempts import Attempts


def attempts_at(path: Path) -> Attempts | None:
    """The attempts in a file or folder, attack by attack; None where it holds none."""
    files = [path / ATTEMPTS, *sorted(path.glob(f"*/{ATTEMPTS}"))] if path.is_dir() else [path]
    files = [file for file in files if holds_attempts(file)]
    return Attempts([one for file in files for one in read_attempts(file)]) if files else None
