"""What is measured, by name, in the order of use: the shapes that targets name come first."""

from dataclasses import dataclass, field
from typing import Any

from benchmarks.span.layer import Shape
from benchmarks.span.training import ENCODERS

FAST = {"cpu": "numba", "cuda": "triton"}
TARGETED: list[Shape] = [
    (384, 8, 32), (768, 8, 32), (768, 1, 128), (384, 8, 128), (384, 1, 256), (768, 1, 256),
    (384, 8, 256), (768, 1, 512), (768, 8, 256), (768, 8, 512),
]  # fmt: skip
GRID: list[Shape] = [
    (width, batch, units) for units in (32, 64, 128, 256, 512) for batch in (1, 8) for width in (384, 768, 1024)
]
# glibc gives large blocks back to the system and pays for them anew in every step, unless a variable says otherwise.
ALLOCATORS: dict[str, dict[str, str]] = {
    "default": {},
    "tuned": {
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_TRIM_THRESHOLD_": "1000000000000",
        "MALLOC_TOP_PAD_": "1000000000",
    },
}
LITERAL_COPIES = 10  # tensors of spans x width that the literal side holds at its peak


@dataclass(frozen=True)
class Case:
    """One process. request: for `task`. environment: variables that it runs under."""

    name: str
    request: dict[str, Any]
    environment: dict[str, str] = field(default_factory=dict)


def all_cases(device: str, most_gigabytes: float) -> list[Case]:
    """Everything; the literal side only where it needs less than so much memory."""
    fast = FAST[device]
    shapes = TARGETED + [shape for shape in GRID if shape not in TARGETED]
    cases = [Case("floor", {"what": "floor"})] if device == "cpu" else []
    if device == "cpu":
        cases.append(Case("errors", {"what": "errors", "shape": (768, 1, 256), "routes": [fast, "tiles"]}))
    cases += [Case(what, {"what": what, "routes": [fast, "tiles"], "device": device}) for what in ("masks", "padded")]
    for shape in shapes:
        cases += _layer(shape, fast, device, most_gigabytes)
        if shape == TARGETED[-1]:
            cases += _shares(fast, device) + _narrow(fast, device)
    return cases


def _layer(shape: Shape, fast: str, device: str, most_gigabytes: float) -> list[Case]:
    routes = [fast, "tiles", *(["literal"] if literal_gigabytes(shape) < most_gigabytes else [])]
    request = {"shape": shape, "device": device}
    allocators = {"default": {}} if device == "cuda" or shape not in TARGETED else ALLOCATORS
    return [
        *(
            Case(f"times {_name(shape)} {name}", {"what": "times", "routes": routes, **request}, environment)
            for name, environment in allocators.items()
        ),
        *(Case(f"memory {_name(shape)} {route}", {"what": "memory", "routes": [route], **request}) for route in routes),
        *(
            [Case(f"core {_name(shape)}", {"what": "core", "routes": [fast, "tiles"], **request})]
            if shape in TARGETED
            else []
        ),
    ]


def _shares(fast: str, device: str) -> list[Case]:
    if device == "cuda":
        return []
    cases = []
    for units in (256, 32, 128, 512):
        for name, (_, width, _) in ENCODERS.items():
            runs = 5 if units == 32 else 1 if width == 768 else 2
            request = {"what": "encoder", "name": name, "units": units, "runs": runs}
            cases.append(Case(f"encoder {name} {units}", request))
            if (width, 8, units) not in TARGETED:
                request = {
                    "what": "times",
                    "shape": (width, 8, units),
                    "routes": [fast, "tiles"],
                    "device": device,
                }
                cases.append(Case(f"share {_name((width, 8, units))}", request))
    return cases


def _narrow(fast: str, device: str) -> list[Case]:
    request = {"what": "narrow", "routes": [fast, "tiles"], "device": device}
    return [
        Case(f"narrow 768,8,{units} {width}", {**request, "shape": (768, 8, units), "span_width": width})
        for units in (32, 128)
        for width in (64, 128, 256)
    ]


def literal_gigabytes(shape: Shape) -> float:
    """What the literal side needs at its peak."""
    width, batch, units = shape
    return LITERAL_COPIES * batch * units * (units + 1) / 2 * width * 4 / 2**30


def _name(shape: Shape) -> str:
    return ",".join(map(str, shape))
