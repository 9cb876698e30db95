"""The doors `methods`, `checks`, `formats`, `routes` and `attack_list`: lists of everything that can be chosen."""

from typing import Any

from pellucid.attacks.named import AttackPlan
from pellucid.base.entry import Choice
from pellucid.base.kinds import attacks, attributions
from pellucid.base.kinds import checks as known_checks
from pellucid.base.kinds import formats as known_formats
from pellucid.base.kinds import routes as known_routes


def methods() -> list[dict[str, Any]]:
    """Every attribution method, by name, as a dictionary.

    Its keys: name; summary; needs (capabilities of a model); cost; signed (scores for and against); complete (scores
    add up to what is explained); usual (`explain_all` and `compare` run it without its being named); settings with
    their defaults; paper.

    >>> [method["name"] for method in pellucid.methods() if method["needs"] == [] and method["complete"]]
    ['gaussian_process_shapley', 'kernel_shap', 'shapley_sampling', 'thermostat_shapley_sampling']
    >>> next(method["settings"] for method in pellucid.methods() if method["name"] == "occlusion")
    {'unit': 'word', 'window': 1, 'max_width': 4, 'operator': 'absent'}
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


def checks() -> list[dict[str, Any]]:
    """Every check that `compare` can run beside metrics, by name, as a dictionary.

    Its keys: name; summary; needs (what it cannot do without: "twins", "trainer", "corpora"); cost; long ("all" leaves
    it out); rule (when a method passes, or ""); settings with their defaults; paper.

    >>> [check["name"] for check in pellucid.checks() if "twins" in check["needs"]]
    ['seed_agreement']
    """
    entries = [known_checks.get(name) for name in known_checks.names()]
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "needs": sorted(entry.facts["needs"] - {"explainer"}),
            "cost": entry.facts["cost"],
            "long": entry.facts["long"],
            "rule": entry.facts["rule"],
            "settings": entry.defaults,
            "paper": entry.paper,
        }
        for entry in entries
    ]


def formats() -> list[dict[str, Any]]:
    """Every format that data can be read in, by name, as a dictionary.

    Its keys: name; summary; data (what it contains); files (what is read); rationales (whether it has marked evidence);
    own_dev (whether it has a dev part of its own); package (needed besides ours, or None); settings with their
    defaults; paper.

    >>> [format["name"] for format in pellucid.formats() if format["rationales"]]
    ['e_snli', 'eraser', 'excel', 'hatexplain', 'hugging_face', 'json_lines', 'table']
    """
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


def routes() -> list[dict[str, Any]]:
    """Every route of a pass, by name, as a dictionary: how a network's passes can be computed.

    Its keys: name; summary; devices (kinds of them, such as "cpu"; empty: any); trains (whether it computes steps of
    training); mixes (whether it computes in mixed precision too); lacks (why it cannot compute on this machine, or "").

    >>> [route["name"] for route in pellucid.routes()]
    ['eager', 'first_position', 'onednn', 'openvino']
    """
    entries = [known_routes.get(name) for name in known_routes.names()]
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "devices": sorted(entry.facts["devices"]),
            "trains": entry.facts["trains"],
            "mixes": entry.facts["mixes"],
            "lacks": _lacks(entry.make),
        }
        for entry in entries
    ]


def _lacks(route: Any) -> str:  # the class of a route, whose file is imported here alone
    return str(route.lacks())


def attack_list() -> list[dict[str, Any]]:
    """Every attack, by name, as a dictionary.

    Its keys: name; summary; unit (what it edits, "word" or "span"); needs (capabilities of a model); order, candidates,
    guards and search (its parts); settings with their defaults; source (where it was published).

    >>> [attack["name"] for attack in pellucid.attack_list() if attack["unit"] == "span"]
    ['span_paraphrase']
    """
    entries = [attacks.get(name) for name in attacks.names()]
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "unit": entry.facts["unit"],
            "needs": sorted(entry.facts["needs"]),
            **_parts(entry.make()),
            "settings": entry.defaults,
            "source": entry.facts["source"],
        }
        for entry in entries
    ]


def _parts(plan: AttackPlan) -> dict[str, Any]:
    return {
        "order": _name(plan.order),
        "candidates": [_name(candidate) for candidate in plan.candidates],
        "guards": [_name(guard) for guard in plan.guards],
        "search": _name(plan.search),
    }


def _name(choice: Choice) -> str:
    return choice if isinstance(choice, str) else choice[0]
