"""The description on a package index: README.md, whose links lead from there to the files of this version.

A package index has no files beside the description, so a relative link leads nowhere there. Where the repository's
address is unknown, links to its files become plain words and its pictures are left out.
"""

import re
import subprocess
from pathlib import Path

from docs.site.pages import LINK
from supply.release_state import TAG

REMOTE = re.compile(r"(?:https://|git@|ssh://git@)([\w.-]+)[:/]([\w./-]+?)(?:\.git)?/?")


def address_of(root: Path) -> str:
    """The repository's page, such as https://github.com/OWNER/NAME, from its remote `origin`; "" where there is none
    that a browser reaches.
    """
    done = subprocess.run(["git", "remote", "get-url", "origin"], cwd=root, capture_output=True, text=True)
    remote = REMOTE.fullmatch(done.stdout.strip())
    return f"https://{remote[1]}/{remote[2]}" if remote else ""


def description(text: str, address: str, version: str) -> str:
    """README.md with no relative link. address: the repository's page, or ""."""
    return LINK.sub(lambda link: absolute(link, address, TAG.format(version)), text)


def absolute(link: re.Match[str], address: str, tag: str) -> str:
    """A link to the file as it is under a tag."""
    picture, words, path, anchor = link[1], link[2], link[3] or "", link[4] or ""
    if words is None or not path or re.match(r"[a-z]+:", path):
        return link[0]
    if not address:
        return "" if picture else words
    return f"{picture}[{words}]({address}/{'raw' if picture else 'blob'}/{tag}/{path}{anchor})"


def relative_links(text: str) -> list[str]:
    """The paths of a description that lead nowhere on a package index."""
    paths = [path for _, words, path, _ in LINK.findall(text) if words]
    return [path for path in paths if path and not re.match(r"[a-z]+:", path)]
