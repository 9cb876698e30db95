"""Builds the site in build/site: `make site`, which installs Zensical first, or `python -m docs.site` where it is.

Pages are gathered in build/pages, those of Python and of the commands are written there, and Zensical draws them all by
zensical.toml, in strict mode: a link or an anchor that leads nowhere ends the build, and so do a picture that is older
than its command and blocks of code that nobody has run. What was built is then read once more, as a browser reads it.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from docs.pictures import drawn
from docs.site import blocks, commands, python_names
from docs.site.built import check
from docs.site.pages import PICTURES, ROOT, gather

HERE = Path(__file__).parent
BUILD = ROOT / "build"
REFERENCE = {"docs/reference/python.md": python_names.page, "docs/reference/commands.md": commands.page}
ASSETS = ("style.css", "labels.js", "iframe-worker.js")


def main(build: Path = BUILD) -> None:
    """Gather, draw and check; the exit status is 1 where something is wrong."""
    pages = build / "pages"
    gathered = gather(pages)
    texts = markdown(gathered)
    check_sources(gathered, texts)
    for name in REFERENCE:
        (pages / name).parent.mkdir(exist_ok=True)
        (pages / name).write_text(texts[name], encoding="utf-8")
    for name in ASSETS:
        (pages / "assets").mkdir(exist_ok=True)
        shutil.copyfile(HERE / name, pages / "assets" / name)
    (build / "zensical.toml").write_text(configuration(pages), encoding="utf-8")
    shutil.rmtree(build / "site", ignore_errors=True)
    draw = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "--config-file", "zensical.toml"]
    done = subprocess.run(draw, cwd=build)
    if done.returncode:
        raise SystemExit("The site is not built; Zensical says above what is wrong.")
    mend(build / "site")
    number = check(build / "site")
    print(f"{number} pages: {build / 'site' / 'index.html'}")


def markdown(gathered: Iterable[Path]) -> dict[str, str]:
    """Path in the repository -> Markdown, for every page that has been gathered or is written at each build."""
    names = [path.as_posix() for path in gathered if path.suffix == ".md"]
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in names}
    return texts | {name: page() for name, page in REFERENCE.items()}


def check_sources(gathered: Iterable[Path], texts: Mapping[str, str]) -> None:
    """Raises `SystemExit` where a picture is not what its command draws, or blocks of code have not been run."""
    pictures = [path.as_posix() for path in gathered if path.suffix in PICTURES]
    faults = [*drawn.faults(pictures), *blocks.faults(texts)]
    if faults:
        raise SystemExit("\n".join([*faults, f"{len(faults)} faults; the site is not built."]))
    for line in drawn.without_command():
        print(f"No command draws {line}")


def mend(site: Path) -> None:
    """Make the empty heads of tables plain cells: a head without words says nothing to a screen reader."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"<th([^>]*)></th>", r"<td\1></td>", text), encoding="utf-8")


def configuration(pages: Path) -> str:
    """zensical.toml with the version, and with the pages of a folder where it says `*.md`."""
    text = (HERE / "zensical.toml").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return re.sub(r'"([^"\n]*)\*\.md"', lambda name: listed(pages, name[1]), text).replace(
        "VERSION", project["version"]
    )


def listed(pages: Path, start: str) -> str:
    """The pages whose paths begin so, but a README, as parts of a list."""
    paths = sorted(path for path in pages.glob(f"{start}*.md") if path.name != "README.md")
    return ", ".join(f'"{path.relative_to(pages).as_posix()}"' for path in paths)


if __name__ == "__main__":
    main()
