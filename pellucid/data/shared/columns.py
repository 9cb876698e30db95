"""Which columns of a table are its texts and its label: by the user's word, by usual names in many languages, by
content.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from pellucid.base.checks import clipped, in_syntax, known, listed, quoted
from pellucid.base.errors import BadSetting, InputReading, notify
from pellucid.data.shared.rows import (
    FORMS,
    MARKS,
    MarkColumn,
    called_as_marks,
    evidence_field,
    is_filled,
    mark_columns,
    plainly,
)
from pellucid.text.example import Rationale

SAMPLE = 200  # rows whose content is looked at
TEXT_NAMES = frozenset(
    "text texts sentence review reviews reviewtext reviewbody content comment comments body message msg tweet post "
    "document description feedback answer response utterance abstract texte avis commentaire commentaires critique "
    "phrase contenu kommentar rezension satz inhalt nachricht texto comentario reseña opinión opinion mensaje testo "
    "recensione commento frase comentário resenha avaliação tekst recensie zin recenzja komentarz zdanie text_recenze "
    "komentář anmeldelse omdöme recension yorum metin inceleme отзыв текст комментарий "
    "сообщение відгук 评论 文本 内容 评价 評論 "
    "內容 レビュー 本文 テキスト コメント 리뷰 텍스트 댓글 내용 نص تعليق مراجعة समीक्षा पाठ ข้อความ רשימה ביקורת".split()
)
LABEL_NAMES = frozenset(
    "label labels class category sentiment stars star rating ratings polarity gold target score stance emotion topic "
    "étiquette etiquette classe sentiment étoiles catégorie klasse kategorie sterne stimmung etiqueta clase estrellas "
    "categoría sentimiento etichetta stelle categoria sentimento estrelas rótulo etykieta klasa ocena gwiazdki štítek "
    "hodnocení etikett betyg sınıf etiket puan duygu метка класс оценка тональность 标签 类别 "
    "情感 评分 標籤 ラベル 評価 感情 "
    "라벨 레이블 평점 감정 تصنيف लेबल".split()
)
NO_LABELS = frozenset(  # columns of few distinct values that are about a text, not an answer to it
    "id date time year month lang language country city place shop store brand product model source author user name "
    "gender age page split part group fold title file url".split()
)
BY_NAME = "its name is a usual one"  # which is plain from the name
MOST_LABELS = 20  # distinct values of a column that is taken for labels by its content
LONGEST_LABEL = 40  # characters


_expected_labels: ContextVar[frozenset[str]] = ContextVar("expected_labels", default=frozenset())
_features: ContextVar[tuple[str | None, frozenset[str]]] = ContextVar("features", default=(None, frozenset()))


@contextmanager
def expected_labels(labels: Collection[str], text: str | None = None, features: Collection[str] = ()) -> Iterator[None]:
    """Within it, a column whose values are all among these labels, such as a model's classes, is taken for the labels.

    It is no argument of a format, because how a file is read does not depend on a model, except here. text, features:
    the columns that a model of rows reads; the features are no texts and no labels.
    """
    before = _expected_labels.set(frozenset(labels)), _features.set((text, frozenset(features)))
    try:
        yield
    finally:
        _expected_labels.reset(before[0])
        _features.reset(before[1])


class SeveralColumns(ValueError):
    """The texts could be in several columns."""


@dataclass(frozen=True)
class Columns:
    """The columns that are read: texts, one or a pair, the label and the marks; with why, where that has to be said.

    text_reason, label_reason: why a column was taken; empty where the user named it, or where it has the usual name.
    possible_labels: columns that could be the label where none was taken because there are several. unread_marks:
    columns that are called as marks are, and are not read as such.
    """

    texts: tuple[str, ...]
    label: str | None
    text_reason: str = ""
    label_reason: str = ""
    possible_labels: tuple[str, ...] = ()
    marks: tuple[MarkColumn, ...] = ()
    unread_marks: tuple[str, ...] = ()

    @property
    def is_recognised(self) -> bool:
        """Whether a column was taken that neither the user named nor has the one usual name."""
        of_marks = self.unread_marks or any(column.unusual for column in self.marks)
        return bool(self.text_reason or self.label_reason or self.possible_labels or of_marks)

    def rationales(self, row: Mapping[str, Any], segments: Sequence[str]) -> tuple[Rationale, ...]:
        """The marks of a row; raises `ValueError` for values that are none."""
        return tuple(mark for column in self.marks for mark in column.marks(row, segments))

    def in_words(self) -> str:
        """Which columns were taken, and why where it is not plain."""
        texts = " and ".join(map(quoted, self.texts))
        sentence = f"texts from the column{'s' if len(self.texts) > 1 else ''} {texts}{_because(self.text_reason)}"
        if self.marks:
            sentence += f", marked evidence from {listed(quoted(column.name) for column in self.marks)}"
        return sentence + self._label_in_words() + self._unread_in_words()

    def _label_in_words(self) -> str:
        if self.label is not None:
            return f", labels from {quoted(self.label)}{_because(self.label_reason)}"
        if not self.possible_labels:
            return ", no labels"
        name = in_syntax(f"label={quoted(self.possible_labels[0])}", f"--label-column {self.possible_labels[0]}")
        return f", no labels: they could be in {listed(map(quoted, self.possible_labels))}; name one, such as {name}"

    def _unread_in_words(self) -> str:
        if not self.unread_marks:
            return ""
        names, verb = listed(map(quoted, self.unread_marks)), "are" if len(self.unread_marks) > 1 else "is"
        way = f"call the marks of each text {listed(map(evidence_field, self.texts))}"
        return f"; {names} {verb} kept in meta and not read as marks: {FORMS if len(self.texts) == 1 else way}"


def _because(reason: str) -> str:
    return "" if reason in ("", BY_NAME) else f" ({reason})"


def columns_of(
    names: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    text: str | None,
    second: str | None,
    label: str | None,
    evidence: str | None = None,
) -> Columns:
    """The columns to read.

    names: all columns. rows: the first ones, whose content decides where names do not. text, second, label, evidence:
    those that the user names.

    Raises `SeveralColumns` where the texts could be in several columns, `ValueError` where they are in none,
    `UnknownName` for a column that is not there.
    """
    text_of_rows, features = _features.get()
    names = [name for name in names if name not in features]
    texts, text_reason = _texts(names, rows, text or (text_of_rows if text_of_rows in names else None), second)
    marks = tuple(column for column in mark_columns(names, rows, texts, evidence) if column.name != label)
    others = [name for name in names if name not in (*texts, *(column.name for column in marks))]
    columns = _with_label(others, rows, Columns(texts, None, text_reason, marks=marks), label)
    if len(marks) == len(texts):
        return columns
    unread = [name for name in called_as_marks(others, texts) if name != columns.label]
    filled = tuple(name for name in unread if any(is_filled(row.get(name)) for row in rows))
    return replace(columns, unread_marks=filled)


def _with_label(
    names: Sequence[str], rows: Sequence[Mapping[str, Any]], columns: Columns, label: str | None
) -> Columns:
    """The same columns with that of the label, or with those that it could be in."""
    if label is not None or "label" in names:
        return replace(columns, label=label_field({*names, *columns.texts}, label))
    expected = [name for name in names if _is_expected(rows, name)]
    if len(expected) == 1:
        return replace(columns, label=expected[0], label_reason="its values are known labels")
    named = [name for name in names if plainly(name) in LABEL_NAMES and _fills(rows, name)]
    by_content = [name for name in names if plainly(name) not in NO_LABELS and _could_be_label(rows, name)]
    alike = expected or named or by_content
    if len(alike) == 1:
        return replace(columns, label=alike[0], label_reason=BY_NAME if named else "it has few distinct values")
    return replace(columns, possible_labels=tuple(alike))


def _texts(
    names: Sequence[str], rows: Sequence[Mapping[str, Any]], text: str | None, second: str | None
) -> tuple[tuple[str, ...], str]:
    """The columns of the texts, and why where it has to be said."""
    if named := named_fields(names, text, second):
        return named, ""
    if usual := usual_fields(names):
        return usual, ""
    by_case = {name.casefold(): name for name in reversed(names)}
    if usual := usual_fields(by_case):
        return tuple(by_case[name] for name in usual), BY_NAME
    lengths = {name: _mean_length(rows, name) for name in names}
    names = [name for name in names if plainly(name) not in MARKS] or names
    alike = [name for name in names if plainly(name) in TEXT_NAMES and (not rows or lengths[name] > 0)]
    reason = BY_NAME
    if not alike:
        alike = [name for name in names if _could_be_text(rows, name)]
        alike = alike or [name for name in names if _could_be_text(rows, name, words=2)]
        reason = "its texts are the longest"
    if not alike:
        alike = [name for name in names if _has_letters(rows, name)]
        alike = alike if len(alike) == 1 else []
        reason = "no other column holds words"
    longest = sorted(alike, key=lambda name: -lengths[name])
    if not longest:
        raise ValueError(no_text_column(names))
    if len(longest) > 1 and not lengths[longest[0]] > 2 * lengths[longest[1]]:
        raise SeveralColumns(f"its texts could be in {listed(map(quoted, longest))}; {_how_to_name(longest)}")
    return (longest[0],), reason


def no_text_column(names: Sequence[str]) -> str:
    """That a file or a row has no field for its text, and how to name one."""
    half = next((usual for usual in TEXTS if {*usual} & {*names} and len(usual) == 2), None)
    if half is not None:
        (there,), (missing,) = {*half} & {*names}, {*half} - {*names}
        return f"the field {missing} is not there, which goes with {there} to make a pair"
    return f"no field is plainly a text, as text or review would be; {_how_to_name(names)}"


def _how_to_name(names: Sequence[str]) -> str:
    first = clipped(names[0]) if names else "NAME"
    return in_syntax(
        f"name yours with text=, such as text={quoted(first)}",
        f"name yours with --text-column, such as --text-column {quoted(first)} (of a pair also --read second=…)",
    )


def _values(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """The filled values of a column, as strings."""
    values = (row.get(name) for row in rows)
    return [text for value in values if isinstance(value, str | int | float) and (text := str(value).strip())]


def _fills(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether the column has values that can be labels: any, but no long texts."""
    values = _values(rows, name)
    return not rows or (bool(values) and max(map(len, values)) <= LONGEST_LABEL)


def _mean_length(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    values = _values(rows, name)
    return sum(map(len, values)) / len(rows) if rows else 0.0


def _could_be_text(rows: Sequence[Mapping[str, Any]], name: str, words: int = 3) -> bool:
    """Whether most values differ and are of so many words or more, or as long as a sentence in writing without
    spaces.
    """
    values = _values(rows, name)
    prose = [value for value in values if len(value.split()) >= words or (len(value) >= 8 and not value.isascii())]
    return bool(values) and 2 * len(prose) > len(values) and 2 * len(set(values)) > len(values)


def _has_letters(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether a column holds strings with letters, not the same in all rows."""
    values = [value for row in rows if isinstance(value := row.get(name), str)]
    worded = any(character.isalpha() for value in values for character in value)
    return worded and (len(set(values)) > 1 or len(values) == 1)


def _is_expected(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether all values of a column are among the labels that are expected."""
    values = set(_values(rows, name))
    return bool(values) and values <= _expected_labels.get()


def _could_be_label(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether a column has between two and twenty short values, each of them several times on average."""
    values = _values(rows, name)
    distinct: Collection[str] = set(values)
    return (
        2 <= len(distinct) <= min(MOST_LABELS, len(values) // 3)
        and max(map(len, distinct)) <= LONGEST_LABEL
        and 2 * len(values) > len(rows)
    )


# How data were read is said in one sentence: a file's form and encoding, and which columns were taken.


def say_how_read(name: str, form: str, columns: Columns) -> None:
    """Warn with one sentence, if anything was recognised that does not go without saying.

    name: what was read, such as "reviews.csv". form: what is unusual of a file ("a table with ';' between fields,
    UTF-16"); empty where nothing is.
    """
    if form or columns.is_recognised:
        notify(f"Read {name}{f' as {form}' if form else ''}; {columns.in_words()}.", InputReading)


# Fields with the names that published data use: the text or the pair, and the label.

TEXTS = (
    ("text",),
    ("sentence",),
    ("review",),
    ("premise", "hypothesis"),
    ("text_a", "text_b"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("source", "target"),
    ("en", "de"),
)


def named_fields(there: Collection[str], text: str | None, second: str | None) -> tuple[str, ...]:
    """The fields that the user names for the texts; none where no name came.

    there: all fields. Raises `UnknownName` for a field that is not there, `BadSetting` for a second text without a
    first.
    """
    if text is None and second is not None:
        raise BadSetting(f"second={second!r} names the second text of a pair; name the first with text=.")
    if text is None:
        return ()
    names = (text,) if second is None else (text, second)
    for name in names:
        known("field", name, there)
    return names


def usual_fields(there: Collection[str]) -> tuple[str, ...]:
    """The first of the usual fields for a text or a pair that is there; none where none is."""
    return next((names for names in TEXTS if all(name in there for name in names)), ())


def label_field(there: Collection[str], label: str | None) -> str | None:
    """The field that holds the label: the one that the user names, else "label" where the row has it, else None."""
    if label is not None:
        known("field", label, there)
        return label
    return "label" if "label" in there else None
