"""Which encoding a file of texts has: UTF-8, UTF-16 or UTF-32, or Windows' western one where nothing else can be meant."""

import codecs
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.files import disk_errors

UTF_8 = "utf-8-sig"
MARKS = (  # the byte order marks; that of UTF-32 begins as UTF-16's does
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
NAMES = {"utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "cp1252": "Windows-1252 (Western European)"}
HEAD, CHUNK = 4096, 1 << 20
TWO_BYTES = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
# What cp1252 has besides letters and that stands in ordinary prose.
SIGNS = set("€‚„…‘’“”•–—™ ¡¢£§©ª«®°´·º»¿‹›")
# The letters of one language besides a to z, and those of common loan words. Other languages' texts, read as cp1252, show
# letters of several of these at once, or signs between letters.
LANGUAGES = tuple(
    set(letters + letters.upper() + "éèàñïç")
    for letters in (
        "äöüß",
        "àâæçéèêëîïôœùûüÿ",
        "áéíñóúü",
        "àèéìíîòóùú",
        "áâãàçéêíóôõú",
        "äëéïöüó",
        "åäöæø",
        "àéèíïóòúüç",
    )
)


def encoding_of(path: Path) -> str:
    """The codec to read a file with; UTF-8 also for a file of mixed bytes, whose rows are then bad ones.

    The file is read once to its end. "cp1252" is returned only where no byte belongs to UTF-8, every byte is a letter or a
    usual sign, and all letters are of one western language.
    """
    with disk_errors("read", path), _opened(path) as file:
        try:
            head = file.read(HEAD)
            marked = next((codec for mark, codec in MARKS if head.startswith(mark)), None)
            if marked or (wide := _wide(head)):
                return marked or wide
            if _is_utf8(head, file):
                return UTF_8
            file.seek(0)
            return "cp1252" if _is_western(iter(lambda: file.read(CHUNK), b"")) else UTF_8
        except EOFError:
            return UTF_8  # a broken archive, which reading reports


def encoding_in_words(codec: str) -> str:
    """An encoding's usual name; empty for UTF-8, which goes without saying."""
    return "" if codec == UTF_8 else NAMES.get(codec, codec.upper())


def checked_encoding(name: str) -> str:
    """The name, if a codec for text is called that; else raises `BadSetting`."""
    try:
        "a".encode(name).decode(name)
    except (LookupError, ValueError, TypeError, UnicodeError):
        raise BadSetting(
            f"encoding={name!r} is not known; give for example utf-8, utf-16, cp1252 or cp1250."
        ) from None
    return name


def _opened(path: Path) -> IO[bytes]:
    if not path.is_file():
        raise BadFile(f"There is no file {path}.")
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _wide(head: bytes) -> str:
    """UTF-16 without a mark: of letters as in ASCII every second byte is zero."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if half > 1 and odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    return "utf-16-be" if half > 1 and even > 0.4 * half and odd < 0.05 * half else ""


def _is_utf8(head: bytes, file: IO[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(head)
        while chunk := file.read(CHUNK):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _is_western(chunks: Iterator[bytes]) -> bool:
    seen: set[str] = set()
    for chunk in chunks:
        if TWO_BYTES.search(chunk):
            return False
        try:
            seen |= set(chunk.translate(None, bytes(range(128))).decode("cp1252"))
        except UnicodeDecodeError:
            return False
    letters = seen - SIGNS
    return bool(seen) and any(letters <= own for own in LANGUAGES)
