"""What is released: a clean tree, a version without a tag, a changelog, a citation and golden files that name it."""

import re
import subprocess
import tomllib
from pathlib import Path

TAG = "v{}"


def git(root: Path, *words: str) -> str:
    """What git prints; raises `SystemExit` with its own words where it fails."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"git {words[0]} failed: {done.stderr.strip()}")
    return done.stdout


def version_of(root: Path) -> str:
    """The version in pyproject.toml."""
    version: str = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    return version


def check_tree(root: Path) -> None:
    """Raises `SystemExit` where something is not committed."""
    changed = [line[3:] for line in git(root, "status", "--porcelain").splitlines()]
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise SystemExit(f"{changed[0]}{more}: changed and not committed; commit or remove what is to stay out.")


def check_tag(root: Path, version: str) -> None:
    """Raises `SystemExit` where the version was released."""
    tag = TAG.format(version)
    if git(root, "tag", "--list", tag).strip():
        raise SystemExit(f"There is a tag {tag} already; write the next version into pyproject.toml.")


def check_is_tagged(root: Path, version: str) -> None:
    """Raises `SystemExit` where the last commit is not the one of this version's tag."""
    tags = git(root, "tag", "--points-at", "HEAD").split()
    if TAG.format(version) not in tags:
        raise SystemExit(
            f"The last commit has the tags {', '.join(tags) or 'none'}, and pyproject.toml says {version}; tag the "
            f"commit of the version with {TAG.format(version)}."
        )


def notes_of(root: Path, version: str) -> str:
    """What the changelog says of a version; raises `SystemExit` where it does not name it with its day."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(
        rf"^## \[{re.escape(version)}\] - \d{{4}}-\d{{2}}-\d{{2}}\n(.*?)(?=^## \[|\Z)", text, re.MULTILINE | re.DOTALL
    )
    if section is None or not section[1].strip():
        raise SystemExit(
            f"CHANGELOG.md has no section '## [{version}] - YEAR-MONTH-DAY' with what a user can do; write it."
        )
    return section[1].strip() + "\n"


def check_citation(root: Path, version: str) -> None:
    """Raises `SystemExit` where CITATION.cff is of another version."""
    cited = re.search(r'^version: "?([^"\n]+)"?$', (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    if cited is None or cited[1] != version:
        raise SystemExit(f"CITATION.cff has version {cited[1] if cited else 'none'}; write {version} there.")


def check_golden(root: Path, version: str) -> None:
    """Raises `SystemExit` where the files that this version writes are not kept for later ones to read."""
    name = f"version-{version}.tar.xz"
    if not (root / "tests" / "golden" / name).is_file():
        raise SystemExit(f"tests/golden has no {name}; run python -m tests.golden.pack and commit it.")
