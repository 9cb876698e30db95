"""Files spoilt: bits flipped, ends cut off, JSON values exchanged, safetensors headers that lie."""

import copy
import json
import struct
from typing import Any

from hypothesis import strategies as st

STRANGE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 7, 2**31, 2**63, -(2**63), 10**30, 1.5, 1e308, float("nan"), float("inf"), "",
    "x", "gelu", "<script>window.__ran=1</script>", "../../etc/passwd", "\x1b[31m\u202e", "\ud800", [], [[]], [None], [1, "a"],
    {}, {"": {}}, {"0": None}, "a" * 5000, [0] * 3000,
)  # fmt: skip
SIZES = (-1, 0, 1, 2, 3, 31, 33, 10**6, 2**31, 2**40, 2**62, 2**63, 2**64, 10**30, 1.5, "3", None)
DTYPES = ("F32", "F16", "BF16", "F64", "I64", "U8", "BOOL", "F8_E4M3", "", "X", None, 3)


@st.composite
def spoilt_bytes(draw: st.DrawFn, whole: bytes) -> bytes:
    """A file's bytes with something wrong: up to three changes of any kind."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        size = draw(st.sampled_from([1, 2, 8, 64, 4096]))
        match draw(st.sampled_from(["flip", "cut", "remove", "insert", "zero", "again", "near the start"])):
            case "flip" if data:
                data[place] ^= 1 << draw(st.integers(0, 7))
            case "near the start" if data:
                data[place % min(len(data), 256)] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del data[place:]
            case "remove":
                del data[place : place + size]
            case "insert":
                data[place:place] = draw(st.binary(min_size=1, max_size=16))
            case "zero":
                data[place : place + size] = bytes(len(data[place : place + size]))
            case "again":
                data[place:place] = data[place : place + size]
    return bytes(data)


@st.composite
def spoilt_json(draw: st.DrawFn, whole: Any) -> Any:
    """A JSON value with up to three of its values exchanged, renamed or removed."""
    held = copy.deepcopy(whole)
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(held))
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        match draw(st.sampled_from(["exchange", "exchange", "exchange", "remove", "rename", "nearly"])):
            case "exchange":
                holder[key] = copy.deepcopy(draw(st.sampled_from(STRANGE)))
            case "remove":
                del holder[key]
            case "rename" if isinstance(holder, dict):
                holder[draw(st.sampled_from(["", "x", "<b>", "form", "model_type"]))] = holder.pop(key)
            case "nearly" if isinstance(holder[key], int | float):
                holder[key] = holder[key] * draw(st.sampled_from([-1, 0, 2, 1000, 10**9])) + draw(
                    st.integers(-1, 1)
                )
    return held


def _places(held: Any) -> Any:
    """Every (holder, key) inside."""
    inside = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    for key, value in list(inside):
        yield held, key
        if isinstance(value, dict) or (isinstance(value, list) and len(value) < 50):
            yield from _places(value)


@st.composite
def spoilt_safetensors(draw: st.DrawFn, whole: bytes) -> bytes:
    """A safetensors file whose header says what is not so."""
    length = struct.unpack("<Q", whole[:8])[0]
    header, body = json.loads(whole[8 : 8 + length]), whole[8 + length :]
    names = [name for name in header if name != "__metadata__"]
    name = draw(st.sampled_from(names))
    match draw(
        st.sampled_from(["shape", "dtype", "offsets", "swap", "rename", "drop", "length", "metadata", "nan"])
    ):
        case "shape":
            header[name]["shape"] = [draw(st.sampled_from(SIZES)) for _ in range(draw(st.integers(0, 4)))]
        case "dtype":
            header[name]["dtype"] = draw(st.sampled_from(DTYPES))
        case "offsets":
            header[name]["data_offsets"] = [
                draw(st.sampled_from(SIZES)) for _ in range(draw(st.integers(0, 3)))
            ]
        case "swap":
            other = draw(st.sampled_from(names))
            header[name], header[other] = header[other], header[name]
        case "rename":
            header[draw(st.sampled_from(["", "x", "__metadata__x", name + ".x", name[1:]]))] = header.pop(
                name
            )
        case "drop":
            del header[name]
        case "metadata":
            header["__metadata__"] = draw(
                st.sampled_from([None, 3, [], {"format": 3}, {"format": "tf"}, {}, {"a": "b"}])
            )
        case "length":
            forged = draw(st.sampled_from([0, 1, length - 1, length + 1, 2**31, 2**40, 2**63, 2**64 - 1]))
            return struct.pack("<Q", forged) + whole[8:]
        case "nan":
            start, end = header[name]["data_offsets"]
            wrong = draw(
                st.sampled_from(
                    [b"\x00\x00\xc0\x7f", b"\x00\x00\x80\x7f", b"\x00\x00\x80\xff", b"\xff\xff\x7f\x7f"]
                )
            )
            every = draw(st.sampled_from([4, 64, 4 * max((end - start) // 4, 1)]))
            changed = bytearray(body)
            for place in range(start, end, every):
                changed[place : place + 4] = wrong
            body = bytes(changed)
    told = json.dumps(header).encode()
    return struct.pack("<Q", len(told)) + told + body
