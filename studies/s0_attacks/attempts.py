"""One attack on one victim as a unit of work: what it did to each text."""

import time
from functools import partial

import pellucid
from pellucid.attacks.attack_case import Attempt
from pellucid.attacks.record import Attempts
from pellucid.base.json_text import nan_as_none
from pellucid.base.processes import Share
from studies.s0_attacks.tasks import ATTACKS, OWN_SETTINGS, PLAIN, SPANS, parts_of
from studies.s0_attacks.victims import own_spans, trained_victim, victim_about, victim_folder
from studies.shared.study import Settings
from studies.shared.units import Numbers, Unit

SHOWN = 8  # texts fooled that the numbers contain, of our own sentences alone


def attack_unit(settings: Settings, victim: str, attack: str, seed: int) -> Unit:
    """An attack on the victim of a seed."""
    name = attack.replace(", ", "-").replace(" ", "-")
    about = victim_about(settings, victim, seed) | {
        "victim": victim,
        "attack": repr(ATTACKS[attack]),
        "name": attack,
    }
    return Unit(
        f"attack-{victim}-{name}-{seed}",
        about | dict(OWN_SETTINGS.get(attack, {})),
        partial(_attacked, settings, victim, attack, seed),
        device=settings.device,
    )


def _attacked(settings: Settings, victim: str, attack: str, seed: int, share: Share) -> Numbers:
    began = time.perf_counter()
    model, texts = trained_victim(settings, victim, seed), parts_of(settings)["test"]
    spans = own_spans(settings, seed) if victim == PLAIN and attack == SPANS else None
    folder = victim_folder(settings, victim, seed).with_suffix(".attacked") / attack.replace(" ", "")
    attempts = pellucid.attack(
        model,
        texts,
        ATTACKS[attack],
        spans_from=spans,
        seed=seed,
        folder=folder,
        progress=False,
        **OWN_SETTINGS.get(attack, {}),
    )
    return {
        "victim": victim,
        "attack": attack,
        "seed": seed,
        "texts": [attempt_record(one) for one in attempts],
        "shown": _shown(attempts) if settings.own["task"] == "pocket" else [],
        "seconds": time.perf_counter() - began,
    }


def attempt_record(attempt: Attempt) -> Numbers:
    """What the numbers contain of one text: how it ended and what it cost, not the text."""
    return nan_as_none(
        {
            "ending": attempt.ending,
            "queries": attempt.queries,
            "edited": attempt.share_edited,
            "similarity": attempt.similarity,
        }
    )


def _shown(attempts: Attempts) -> list[Numbers]:
    """The first texts that were fooled, before and after."""
    return [
        {
            "before": one.example.text,
            "after": " ".join(one.segments),
            "answers": [one.before.label, one.after.label],
            "edits": [[edit.before, edit.after] for edit in one.edits],
        }
        for one in attempts.successes()[:SHOWN]
    ]
