"""Training the reversing network on random strings; strings to judge it by are chosen by their digest and never trained
on.
"""

import random
import time
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from pellucid.base.processes import Share
from pellucid.base.torch_state import OwnDraws
from pellucid.models.folders.weight_files import save_tensors
from studies.s3_steps.network import END, LABELS, LETTERS, PAD, START, ReversingNetwork
from studies.shared.units import Numbers

ONE_IN = 8  # one string in so many
EVERY = 50  # steps between reports


@dataclass(frozen=True)
class Size:
    """How much is trained and explained.

    width: of states. steps, batch: of training. shortest, longest: letters of a string. tested: held-out strings for
    the accuracy. explained, letters: held-out strings that are explained, and their length. method, settings: what
    explains a state. rate: the highest learning rate. seeds: networks.
    """

    width: int
    steps: int
    batch: int
    tested: int
    explained: int
    method: str
    settings: Numbers
    letters: int = 8
    shortest: int = 4
    longest: int = 10
    rate: float = 3e-3
    seeds: int = 3


def is_held_out(string: str) -> bool:
    """Whether a string is for judging alone: its digest decides, so no run can mix it up."""
    return blake2b(string.encode(), digest_size=4).digest()[0] % ONE_IN == 0


def strings(count: int, seed: int, *, held_out: bool, shortest: int, longest: int) -> list[str]:
    """So many random strings, all held out or none of them."""
    draws, drawn = random.Random(seed), list[str]()
    while len(drawn) < count:
        string = "".join(draws.choices(LETTERS, k=draws.randint(shortest, longest)))
        if is_held_out(string) == held_out:
            drawn.append(string)
    return drawn


def train(size: Size, seed: int, path: Path, share: Share) -> Numbers:
    """Train a network, write its weights to the path, and return its accuracy on held-out strings and the time it
    took.
    """
    began = time.perf_counter()
    with OwnDraws(seed):
        network = ReversingNetwork(size.width)
    optimizer = torch.optim.AdamW(network.parameters(), lr=size.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, size.rate, total_steps=size.steps)
    for step in range(size.steps):
        batch = strings(
            size.batch, seed * 1_000_003 + step, held_out=False, shortest=size.shortest, longest=size.longest
        )
        optimizer.zero_grad()
        _loss(network, batch).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % EVERY == 0:
            share(step / size.steps)
    save_tensors(network.state_dict(), path)
    seconds = time.perf_counter() - began
    tested = strings(size.tested, seed, held_out=True, shortest=size.shortest, longest=size.longest)
    answers = reversed_by(network.eval(), tested)
    right = [answer == string[::-1] for answer, string in zip(answers, tested, strict=True)]
    letters = [
        [one == other for one, other in zip(answer.ljust(len(string)), string[::-1], strict=False)]
        for answer, string in zip(answers, tested, strict=True)
    ]
    return {"right": right, "letters": sum(map(sum, letters)) / sum(map(len, letters)), "seconds": seconds}


def load(size: Size, path: Path) -> ReversingNetwork:
    """A network that `train` wrote."""
    with OwnDraws(0):
        network = ReversingNetwork(size.width)
    network.load_state_dict(load_file(path))
    return network.eval()


def _loss(network: ReversingNetwork, batch: list[str]) -> Tensor:
    """Cross-entropy of every letter of the targets, and of their ends; each step reads the right letters before it."""
    ids, attended = columns([(string, string[::-1]) for string in batch])
    logits = network.every_step(ids, attended)
    expected = torch.full_like(ids, -100)  # what cross_entropy leaves out
    for row, string in enumerate(batch):
        after = [LABELS.index(letter) for letter in string[::-1]] + [LABELS.index(END)]
        expected[row, len(string) : 2 * len(string) + 1] = torch.tensor(after)
    return nn.functional.cross_entropy(logits.flatten(0, 1), expected.flatten())


def columns(pairs: list[tuple[str, str]]) -> tuple[Tensor, Tensor]:
    """Ids and what is attended [batch piece] of pairs of a source and a target so far."""
    rows = [
        [1 + LETTERS.index(one) for one in source] + [START] + [1 + LETTERS.index(one) for one in target]
        for source, target in pairs
    ]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
    return ids, torch.tensor([[True] * len(row) + [False] * (longest - len(row)) for row in rows])


@torch.no_grad()
def reversed_by(network: ReversingNetwork, sources: list[str]) -> list[str]:
    """What the network writes, letter by letter, each step reading its own letters; it ends two letters late at the
    latest.
    """
    targets, running = [""] * len(sources), list(range(len(sources)))
    while running:
        logits = network(*columns([(sources[number], targets[number]) for number in running]))
        for number, answer in zip(list(running), logits.argmax(-1).tolist(), strict=True):
            targets[number] += "" if LABELS[answer] == END else LABELS[answer]
            if LABELS[answer] == END or len(targets[number]) > len(sources[number]) + 1:
                running.remove(number)
    return targets
