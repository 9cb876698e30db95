"""The doors `methods` and `formats`: lists of everything that can be chosen."""

from typing import Any

from pellucid.core.foundation.kinds import attributions
from pellucid.core.foundation.kinds import formats as known_formats


def methods() -> list[dict[str, Any]]:
    """Every attribution method: its name, what it does, what it needs, its cost, its default settings and its paper.

    usual: whether `explain_all` and `compare` run it without its being named.
    """
    entries = [attributions.get(name) for name in attributions.names()]
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "needs": sorted(entry.facts["needs"]),
            "cost": entry.facts["cost"],
            "signed": entry.facts["signed"],
            "complete": entry.facts["complete"],
            "usual": entry.facts["usual"],
            "settings": entry.defaults,
            "paper": entry.paper,
        }
        for entry in entries
    ]


def formats() -> list[dict[str, Any]]:
    """Every format that data can be read in: its name, what it contains, its files, and its settings with their defaults."""
    entries = [known_formats.get(name) for name in known_formats.names()]
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "data": entry.facts["data"],
            "files": entry.facts["reads"],
            "rationales": entry.facts["rationales"],
            "own_dev": entry.facts["own_dev"],
            "package": entry.facts["package"],
            "settings": entry.defaults,
            "paper": entry.paper,
        }
        for entry in entries
    ]
