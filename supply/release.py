"""`make release`: builds, checks and tries the version in pyproject.toml, and says how it is tagged.

Nothing is published and no tag is set: the last lines are the commands that do so. `--quick` leaves out the empty
environment, which takes PyTorch and a quarter of an hour.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from docs.site.__main__ import check_sources, markdown
from docs.site.pages import gather
from supply.archives import built_twice, check_by_twine, check_content, check_metadata
from supply.description import address_of
from supply.lock import ROOT
from supply.release_state import (
    TAG,
    check_citation,
    check_golden,
    check_is_tagged,
    check_tag,
    check_tree,
    git,
    notes_of,
    version_of,
)
from supply.wheel_trial import environment, try_demo, try_front_page, try_version

STEPS = 7
TWINE = ROOT / "build" / "release-tools" / "bin" / "twine"


class Steps:
    """Says which step has begun, of how many, and how long the whole has taken."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.begun = total, 0, time.monotonic()

    def __call__(self, sentence: str) -> None:
        self.done += 1
        print(f"[{self.done}/{self.total}, {time.monotonic() - self.begun:.0f} s] {sentence}", flush=True)


def checked_state(root: Path, tagged: bool) -> tuple[str, str]:
    """The version and its notes, of a repository that may be released."""
    version = version_of(root)
    check_tree(root)
    (check_is_tagged if tagged else check_tag)(root, version)
    notes = notes_of(root, version)
    check_citation(root, version)
    check_golden(root, version)
    return version, notes


def check_pages() -> None:
    """Raises `SystemExit` where the site would not be built: at a stale picture, or blocks of code that nobody ran."""
    with tempfile.TemporaryDirectory() as folder:
        gathered = gather(Path(folder))
        check_sources(gathered, markdown(gathered))


def repository(root: Path, tagged: bool) -> str:
    """The address that links of the description lead to; raises `SystemExit` where a version is published without."""
    address = address_of(root)
    if not address and tagged:
        raise SystemExit("The remote `origin` is no address for a browser, so links would lead nowhere; set it by git.")
    print(f"    Links of the description: {address or 'left out, since origin is no address for a browser'}")
    return address


def build(root: Path, out: Path, version: str, address: str, step: Steps) -> list[Path]:
    """Both archives, checked."""
    step(f"Building version {version} twice; both builds must have the same bytes.")
    archives = built_twice(root, out, int(git(root, "log", "-1", "--format=%ct")), address)
    step("Looking into the archives, and at their metadata.")
    for path in archives:
        print(f"    {path.name}: {check_content(path)} files, {path.stat().st_size / 1e6:.1f} MB")
    check_metadata(archives[0], version)
    if TWINE.exists():
        check_by_twine(archives, TWINE)
    else:
        print(f"    Not checked by twine: there is no {TWINE.relative_to(ROOT)}, which `make release` installs.")
    return archives


def try_wheel(root: Path, wheel: Path, version: str, step: Steps) -> None:
    """The wheel alone does what the front page says."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "empty"
        place.mkdir()
        step("Installing the wheel into an empty environment.")
        python = environment(Path(folder) / "environment", wheel, root / "constraints.txt")
        try_version(python, version, place)
        step("Running the demo from the wheel (some minutes).")
        try_demo(python, place)
        step("Running the lines of README.md from the wheel.")
        print(f"    {try_front_page(python, root, place)} blocks and commands ran.")


def release(root: Path, out: Path, *, quick: bool = False, tagged: bool = False) -> list[Path]:
    """All steps; returns the archives. quick: without the empty environment. tagged: of a commit that has its tag."""
    step = Steps(STEPS - 3 if quick else STEPS)
    step("Is there something to release?")
    version, notes = checked_state(root, tagged)
    check_pages()
    address = repository(root, tagged)
    archives = build(root, out, version, address, step)
    if not quick:
        try_wheel(root, archives[0], version, step)
    step("Writing the notes and the digests.")
    (out / f"notes-{version}.md").write_text(notes, encoding="utf-8")
    digests = "".join(f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in archives)
    (out / "SHA256SUMS").write_text(digests, encoding="utf-8")
    print(digests + f"Now: git tag -a {TAG.format(version)} --cleanup=verbatim -F {out}/notes-{version}.md")
    print(f"     git push origin {TAG.format(version)}    (.github/workflows/release.yml then publishes it)")
    return archives


def main(words: Sequence[str] | None = None) -> None:
    """Release the repository that this file is in."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("dist"), help="the folder for archives and notes")
    parser.add_argument("--quick", action="store_true", help="without the empty environment")
    parser.add_argument("--tagged", action="store_true", help="of the commit that has the tag already, to publish it")
    options = parser.parse_args(words)
    release(ROOT, options.out, quick=options.quick, tagged=options.tagged)


if __name__ == "__main__":
    main()
