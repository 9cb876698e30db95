"""The door `verify`: whether a folder is as the command left it that made it."""

from pathlib import Path

from pellucid.base.verification import Verification, verify_folder


def verify(folder: str | Path) -> Verification:
    """Check a folder that a command made, and folders of that kind inside it, against their manifests.

    It needs neither the model nor a network, and runs and draws nothing of the folder: sizes and SHA-256 digests are compared. A
    folder that was moved or mailed can be checked. Digests find accidents and careless changes. They do not find a forger, who
    rewrites the manifest too.

    folder: what `compare`, `attack`, `train` and their like left.

    Returns which files are `missing`, `changed` or `foreign`, and whether the folder `is_whole`. Foreign files, which no manifest
    lists, are no damage; what stands in a file's place and is none, or is a link that leads out of the folder, is changed.
    Raises `BadFile` where there is no folder, or none with a manifest.

    >>> parts = pellucid.plant("token", n=100, out="mailed")
    >>> pellucid.verify("mailed").is_whole
    True
    >>> _ = open("mailed/dev.jsonl", "a").write("{}")
    >>> pellucid.verify("mailed").changed
    ('dev.jsonl',)
    """
    return verify_folder(folder)
