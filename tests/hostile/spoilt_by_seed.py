"""Spoils files by seeded draws: bytes, JSON values, rows of tables, safetensors headers.

Each function returns what it made of the file, and a recipe that says in words what it changed.
"""

import copy
import gzip
import json
import struct
from io import BytesIO
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

STRANGE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 7, 2**31, 2**63, -(2**63), 10**30, 1.5, 1e308, float("nan"), float("inf"), "",
    "x", "gelu", "<script>window.__ran=1</script>", "../../etc/passwd", "\x1b[31m\u202e", "\ud800", [], [[]], [None], [1, "a"],
    {}, {"": {}}, {"0": None}, "a" * 5000, [0] * 3000,
)  # fmt: skip
SIZES = (-1, 0, 1, 2, 3, 31, 33, 10**6, 2**31, 2**40, 2**62, 2**63, 2**64, 10**30, 1.5, "3", None)
DTYPES = ("F32", "F16", "BF16", "F64", "I64", "U8", "BOOL", "F8_E4M3", "", "X", None, 3)
WORDS = (
    "zzz", "[]", "{}", "null", "word", "piece", "span", "sentence", "higher", "lower", "chance", "hiding", "logit", "predicted",
    "0", "NaN", "1e999", "\ufeff", "\x00", "../x", "hf://x", "nan", "docs", "a,b", "float32", "sdpa", "gelu", "bert", "t5",
)  # fmt: skip
NUMBERS = (
    0,
    1,
    -1,
    2,
    0.5,
    -0.0,
    1e-320,
    1e308,
    -1e308,
    2**31,
    2**53,
    2**63,
    10**30,
    float("nan"),
    float("inf"),
    -float("inf"),
)
VALUES = (*STRANGE, *WORDS, *NUMBERS, [0], [0, 1], ["a"], [[0, 0]], [0.0, float("nan")], [["a", ["b"]]])
DEEP = "@deep@"  # stands where brackets are put, 100,000 deep
NESTS = (
    ('"' + DEEP + '"', "[" * 100_000 + "]" * 100_000),
    ('"' + DEEP + '"', '{"a":' * 100_000 + "1" + "}" * 100_000),
)
BOM = b"\xef\xbb\xbf"


def spoilt_file(rng: Random, name: str, whole: bytes) -> tuple[bytes, str]:
    """The bytes of a file of this name with something wrong, and what was done to it."""
    if name.endswith(".gz") and rng.random() < 0.7:
        content, recipe = spoilt_file(rng, name.removesuffix(".gz"), gzip.decompress(whole))
        return gzip.compress(content), f"{recipe}, zipped again"
    if rng.random() < 0.2:
        return spoilt_bytes(rng, whole)
    ending = name.rpartition(".")[2]
    spoil = {
        "json": spoilt_json,
        "jsonl": spoilt_lines,
        "safetensors": spoilt_safetensors,
        "parquet": spoilt_rows,
    }
    return spoil.get(ending, spoilt_text)(rng, whole)


def spoilt_bytes(rng: Random, whole: bytes) -> tuple[bytes, str]:
    """Up to three changes of bytes anywhere, more often near one of the ends."""
    data, recipe = bytearray(whole), []
    for _ in range(rng.randint(1, 3)):
        size = max(len(data), 1)
        place = rng.choice(
            [rng.randrange(size), rng.randrange(min(size, 256)), size - 1 - rng.randrange(min(size, 256))]
        )
        length = rng.choice([1, 2, 8, 64, 4096])
        act = rng.choice(["flip", "flip", "cut", "remove", "insert", "zero", "again", "mark"])
        if act == "flip" and data:
            data[place] ^= 1 << rng.randrange(8)
        elif act == "cut":
            del data[place:]
        elif act == "remove":
            del data[place : place + length]
        elif act == "insert":
            data[place:place] = rng.randbytes(rng.randint(1, 16))
        elif act == "zero":
            data[place : place + length] = bytes(len(data[place : place + length]))
        elif act == "again":
            data[place:place] = data[place : place + length]
        elif act == "mark":
            data[0:0] = BOM
        recipe.append(f"{act} {length} at byte {place}")
    return bytes(data), ", ".join(recipe)


def spoilt_json(rng: Random, whole: bytes) -> tuple[bytes, str]:
    """Up to three values of a JSON file exchanged, moved, renamed, repeated or removed; or one nested without end."""
    value, recipe = spoilt_value(rng, json.loads(whole))
    return _written(rng, value).encode("utf-8", "surrogatepass"), recipe


def _written(rng: Random, value: Any) -> str:
    text = json.dumps(value)
    return text.replace(*rng.choice(NESTS)) if DEEP in text else text


def spoilt_lines(rng: Random, whole: bytes) -> tuple[bytes, str]:
    """One line of a file of JSON lines spoilt, repeated, or put before a byte order mark."""
    lines = whole.decode("utf-8").splitlines()
    number = rng.randrange(len(lines))
    act = rng.choice(["value", "value", "value", "value", "again", "blank", "mark"])
    recipe = f"{act} in line {number + 1}"
    if act == "value":
        value, change = spoilt_value(rng, json.loads(lines[number]))
        lines[number], recipe = _written(rng, value), f"line {number + 1}: {change}"
    elif act == "again":
        lines.insert(number, lines[number])
    elif act == "blank":
        lines.insert(number, rng.choice(["", " ", "null", "[]", "3", '"x"']))
    else:
        lines[0] = "\ufeff" + lines[0]
    return "\n".join([*lines, ""]).encode("utf-8", "surrogatepass"), recipe


def spoilt_value(rng: Random, whole: Any) -> tuple[Any, str]:
    """A JSON value with up to three of its values spoilt; strings that hold JSON are spoilt inside."""
    value, recipe = copy.deepcopy(whole), []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        position = _position(rng, value)
        if position is None:
            break
        holder, key, path = position
        act = rng.choice(
            ["exchange"] * 3
            + ["alike"] * 4
            + ["all", "all", "remove", "rename", "near", "near", "move", "again", "inside", "inside", "deep"]
        )
        recipe.append(f"{act} {path}: {_spoil(rng, act, holder, key, value)}")
    return value, "; ".join(recipe)


def _position(rng: Random, whole: Any) -> tuple[Any, Any, str] | None:
    """A (holder, key, path) inside; every branch is as likely as its neighbours, however long."""
    holder, path, position = whole, "", None
    while isinstance(holder, dict | list) and holder:
        key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
        path += f"/{key}"
        position = holder, key, path
        holder = holder[key]
        if rng.random() < 0.2:
            break
    return position


def _spoil(rng: Random, act: str, holder: Any, key: Any, whole: Any) -> str:
    """Spoil the value under a key of its holder; returns what stands there then."""
    value = holder[key]
    if act == "remove":
        del holder[key]
        return "removed"
    if act == "rename" and isinstance(holder, dict):
        name = rng.choice(["", "x", "<b>", "form", "model_type", "id"])
        holder[name] = holder.pop(key)
        return name
    if act == "again" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(value))
    elif act == "all" and isinstance(holder, list):
        holder[:] = [rng.choice([rng.choice(NUMBERS), value])] * len(holder)
    else:
        holder[key] = _other_value(rng, act, value, whole)
    return repr(holder[key])[:60]


def _other_value(rng: Random, act: str, value: Any, whole: Any) -> Any:
    """What stands in a value's stead; anything at all where the act does not fit the value."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if act == "near" and is_number:
        return value * rng.choice([-1, 0, 1, 2, 1000, 10**9]) + rng.choice([-1, 0, 1, 0.5])
    if act == "near" and isinstance(value, list | str):
        return value[: rng.randint(0, len(value))]
    if act == "move":
        position = _position(rng, whole)
        return copy.deepcopy(position[0][position[1]] if position else value)
    if act == "inside" and (inner := _inner(value)) is not None:
        return _written(rng, spoilt_value(rng, inner)[0])
    if act == "alike" and (is_number or isinstance(value, str)):
        return rng.choice(WORDS if isinstance(value, str) else NUMBERS)
    if act == "deep" and rng.random() < 0.3:
        return DEEP
    return copy.deepcopy(rng.choice(VALUES))


def _inner(value: Any) -> Any:
    """What a string holds that is JSON itself; None where it is not."""
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def spoilt_text(rng: Random, whole: bytes) -> tuple[bytes, str]:
    """A text file of lines and fields with a line or field repeated, emptied, exchanged or moved."""
    text = whole.decode("utf-8", "surrogateescape")
    lines = text.splitlines(keepends=True) or [""]
    number = 0 if rng.random() < 0.3 else rng.randrange(len(lines))
    separator = rng.choice([",", "\t", " ", "/", ":"])
    fields = lines[number].split(separator)
    field = rng.randrange(len(fields))
    act = rng.choice(["exchange", "repeat line", "repeat field", "drop line", "drop field", "mark", "ends", "quote"])
    _spoil_field(rng, act, fields, field)
    lines[number] = separator.join(fields)
    spoilt = "".join(_lines_after(rng, act, lines, number)).encode("utf-8", "replace")
    return spoilt, f"{act}: line {number + 1}, field {field + 1} by {separator!r}"


def _spoil_field(rng: Random, act: str, fields: list[str], field: int) -> None:
    """Spoil one field of a line; acts on whole lines change nothing here."""
    if act == "exchange":
        fields[field] = str(rng.choice(VALUES))[:6000]
    elif act == "repeat field":
        fields.insert(field, fields[field])
    elif act == "drop field":
        del fields[field]
    elif act == "quote":
        fields[field] = rng.choice(['"', "'", '""']) + fields[field]


def _lines_after(rng: Random, act: str, lines: list[str], number: int) -> list[str]:
    """The lines after an act on a whole line; acts on fields change nothing here."""
    if act == "repeat line":
        return [*lines[:number], lines[number], *lines[number:]]
    if act == "drop line":
        return [*lines[:number], *lines[number + 1 :]]
    if act == "mark":
        return ["\ufeff", *lines]
    if act == "ends":
        return [line.replace("\n", rng.choice(["\r", "\r\n", "\n\n", "\x85", "\u2028"])) for line in lines]
    return lines


def spoilt_safetensors(rng: Random, whole: bytes) -> tuple[bytes, str]:
    """A safetensors file whose header says what is not so, or whose numbers are none."""
    length = struct.unpack("<Q", whole[:8])[0]
    header, body = json.loads(whole[8 : 8 + length]), whole[8 + length :]
    names = [name for name in header if name != "__metadata__"]
    name, other = rng.choice(names), rng.choice(names)
    act = rng.choice(["shape", "dtype", "offsets", "swap", "rename", "drop", "length", "metadata", "nan", "value"])
    if act == "length":
        forged = rng.choice([0, 1, length - 1, length + 1, 2**31, 2**40, 2**63, 2**64 - 1])
        return struct.pack("<Q", forged) + whole[8:], f"header length {forged}"
    if act == "nan":
        start, end = header[name]["data_offsets"]
        wrong = rng.choice([b"\x00\x00\xc0\x7f", b"\x00\x00\x80\x7f", b"\x00\x00\x80\xff", b"\xff\xff\x7f\x7f"])
        body = body[:start] + (wrong * (end - start))[: end - start] + body[end:]
    elif act == "value":
        header, _ = spoilt_value(rng, header)
    else:
        _spoil_header(rng, act, header, (name, other))
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body, f"{act} of {name}"


def _spoil_header(rng: Random, act: str, header: dict[str, Any], names: tuple[str, str]) -> None:
    """Change what a safetensors header says of its first name; swap exchanges it with the second."""
    name, other = names
    if act == "shape":
        header[name]["shape"] = [rng.choice(SIZES) for _ in range(rng.randint(0, 4))]
    elif act == "dtype":
        header[name]["dtype"] = rng.choice(DTYPES)
    elif act == "offsets":
        header[name]["data_offsets"] = [rng.choice(SIZES) for _ in range(rng.randint(0, 3))]
    elif act == "swap":
        header[name], header[other] = header[other], header[name]
    elif act == "rename":
        header[rng.choice(["", "x", "__metadata__x", name + ".x", name[1:]])] = header.pop(name)
    elif act == "drop":
        del header[name]
    elif act == "metadata":
        header["__metadata__"] = rng.choice([None, 3, [], {"format": 3}, {"format": "tf"}, {}, {"a": "b"}])


def spoilt_rows(rng: Random, whole: bytes) -> tuple[bytes, str]:
    """A Parquet file with its values, its types, its form or its pages changed."""
    table = pq.read_table(BytesIO(whole))
    rows, recipe = spoilt_value(rng, table.to_pylist())
    act = rng.choice(["same types", "same types", "other types", "no form", "no column", "column twice", "again"])
    try:
        records = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        spoilt = pa.Table.from_pylist(records, None if act == "other types" else table.schema)
        return _as_file(rng, act, spoilt, table), f"{act}; {recipe}"
    except (ValueError, TypeError, OverflowError, pa.ArrowException):  # values that no column can hold
        return _as_file(rng, "column twice", table, table), "column twice"


def _as_file(rng: Random, act: str, spoilt: pa.Table, table: pa.Table) -> bytes:
    if act == "no column" and spoilt.column_names:
        spoilt = spoilt.drop_columns([rng.choice(spoilt.column_names)])
    elif act == "column twice" and spoilt.column_names:
        spoilt = spoilt.append_column(rng.choice(spoilt.column_names), spoilt.column(0))
    elif act == "again":
        spoilt = rng.choice([spoilt.slice(0, 0), pa.concat_tables([spoilt] * 2), pa.concat_tables([spoilt] * 20)])
    if act != "no form":
        spoilt = spoilt.replace_schema_metadata(table.schema.metadata)
    file = BytesIO()
    pq.write_table(spoilt, file, compression=rng.choice(["zstd", "none", "snappy"]), use_dictionary=rng.random() < 0.5)
    return file.getvalue()
