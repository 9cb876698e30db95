"""Whatever is explained, trained and judged gives the same on another device as on the CPU: on a pretended one, and on
a GPU if there is one.
"""

import json

import pytest
import torch

from tests.devices.pretended import NAME
from tests.shared.warm_python import ROOT, run

SAME, AMPLIFIED = 1e-4, 0.02
# Many steps of an optimiser, and many layers of division by small numbers, amplify rounding; trainings most.
AMPLIFY = (
    "train",
    "preservation_mask",
    "information_bottleneck",
    "relevance",
    "wu_ong_lrp",
    "guan_relevance",
)


def differences(device, folder):
    done = run(ROOT / "tests" / "devices" / "everything.py", device, cwd=folder)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.whole
@pytest.mark.parametrize("device", [NAME, "cuda"])
def test_a_device_changes_no_number(device, tmp_path):
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    by_title = differences(device, tmp_path)
    assert len(by_title) > 80
    other = {
        title: value
        for title, value in by_title.items()
        if not value <= (AMPLIFIED if device == "cuda" and title.startswith(AMPLIFY) else SAME)
    }
    assert not other


@pytest.mark.whole
def test_the_pretended_device_refuses_what_a_gpu_refuses(tmp_path):
    program = f"""
import torch
from tests.devices.pretended import switch_on
library = switch_on()
here, there = torch.ones(3, device="{NAME}"), torch.ones(3)
for act in (lambda: here + there, here.numpy, lambda: there[here.long()], lambda: torch.nn.Linear(3, 2)(here)):
    try:
        act()
    except (RuntimeError, TypeError):
        print("refused")
assert (here * 2 + torch.tensor(1.0)).tolist() == [3, 3, 3] and here[torch.tensor([0])].cpu().numpy() == 1
"""
    done = run(program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["refused"] * 4
