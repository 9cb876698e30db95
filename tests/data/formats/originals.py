"""A small file or folder in each original format, written for these tests, and what it must be read as."""

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from pellucid.text.example import Example, Rationale


@dataclass(frozen=True)
class Original:
    """Files of one format, the examples of their test part, and one row that is spoilt.

    files: path in the folder -> content; objects become JSON, lists JSON lines. bad: (path, content with a wrong row,
    its line, the reason). settings: of the format. source: what is read in the folder. gzipped: whether the files may
    be gzipped; plain_only: names of files that may not.
    """

    files: dict[str, Any]
    examples: list[Example]
    bad: tuple[str, Any, int, str]
    settings: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    gzipped: bool = True
    plain_only: tuple[str, ...] = ()

    def write(self, folder: Path, spoilt: bool = False) -> Path:
        """Write the files into a folder, with the wrong row or without, and return what to read."""
        path, content, _, _ = self.bad
        for name, file_content in (self.files | ({path: content} if spoilt else {})).items():
            write(folder / name, file_content)
        return folder / self.source


def write(path: Path, content: Any) -> Path:
    """Write bytes, text, an object as JSON, or rows as JSON lines; .gz is zipped .parquet a table and .xlsx a
    spreadsheet.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.table(content), path)
        return path
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in content:
            book.active.append(row)
        book.save(path)
        return path
    if isinstance(content, list):
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
    elif isinstance(content, dict):
        content = json.dumps(content, indent=1, ensure_ascii=False)
    raw = content if isinstance(content, bytes) else content.encode("utf-8")
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


def example(text, label=None, id="", marks=(), **meta):
    """An example of one text or a pair; marks: (segment, words) that stand there once."""
    segments = (text,) if isinstance(text, str) else text
    rationales = []
    for segment, words in marks:
        assert segments[segment].count(words) == 1
        start = segments[segment].index(words)
        rationales.append(Rationale(segment, start, start + len(words)))
    return Example(segments, label, tuple(rationales), id, meta)


CLEVER = r"(3 (2 (2 A) (2 clever)) (3 (3 plot) (2 -LRB- 1\/2)))"
TREES = "(4 (2 The) (4 (4 tune) (4 glows)))\n\n(2 (2 It) (2 ends))\n(1 (2 Flat) (1 -LRB-))\n"
NLI = {"sentence1": "A dog runs.", "sentence2": "An animal moves.", "annotator_labels": ["entailment"] * 3}
SNLI_ROWS = [
    {**NLI, "gold_label": "entailment", "pairID": "p1", "captionID": "c1"},
    {**NLI, "gold_label": "-", "pairID": "p2", "captionID": "c1"},
    {**NLI, "gold_label": "neutral", "sentence2": "It is late.", "pairID": "p3", "captionID": "c1"},
]
E_SNLI_HEADER = (
    "pairID,gold_label,Sentence1,Sentence2,Explanation_1,WorkerId_1,"
    "Sentence1_marked_1,Sentence2_marked_1,Explanation_2,Sentence1_marked_2,Sentence2_marked_2,"
    "Explanation_3,Sentence1_marked_3,Sentence2_marked_3\r\n"
)
E_SNLI_ROW = (
    'q1,contradiction,"A man, asleep, snores.",Nobody sleeps.,He sleeps.,w1,'
    '"A man, *asleep,* *snores.*",*Nobody* sleeps.,"So, ""asleep"".","A man, *asleep,* snores.",*Nobody* *sleeps.*,'
    'Yes.,"A man, asleep, snores.",*Nobody* sleeps.\r\n'
)
POSTS = {
    "1_gab": {
        "post_id": "1_gab",
        "annotators": [
            {"label": "offensive", "annotator_id": 1, "target": ["Gulls"]},
            {"label": "offensive", "annotator_id": 2, "target": ["Gulls"]},
            {"label": "normal", "annotator_id": 3, "target": ["None"]},
        ],
        "rationales": [[0, 1, 1, 0, 0], [0, 0, 1, 0, 1]],
        "post_tokens": ["all", "greedy", "gulls", "must", "leave"],
    },
    "2_twitter": {
        "post_id": "2_twitter",
        "annotators": [
            {"label": label, "annotator_id": n, "target": []}
            for n, label in enumerate(["normal", "offensive", "hatespeech"])
        ],
        "rationales": [[1, 0]],
        "post_tokens": ["grey", "gulls"],
    },
    "3_gab": {
        "post_id": "3_gab",
        "annotators": [{"label": "normal", "annotator_id": n, "target": ["None"]} for n in range(3)],
        "rationales": [],
        "post_tokens": ["calm", "sea"],
    },
}
DIVISIONS = {"train": [], "val": ["3_gab"], "test": ["1_gab", "2_twitter"]}
ERASER_DOCUMENT = "the  plot drags .\na joy\tof a cast , though .\n"
ERASER_ROW = {
    "annotation_id": "neg_1",
    "classification": "NEG",
    "docids": None,
    "evidences": [
        [{"docid": "neg_1", "start_token": 1, "end_token": 3, "text": "plot drags", "start_sentence": 0}],
        [{"docid": "neg_1", "start_token": 0, "end_token": 2, "text": "the plot", "start_sentence": 0}],
    ],
    "query": "How is it?",
    "query_type": None,
}
NOTES_HEADER = '"ROW_ID","SUBJECT_ID","HADM_ID","CHARTDATE","CATEGORY","DESCRIPTION","ISERROR","TEXT"\n'
NOTES = (
    NOTES_HEADER + '1,"p1","a1","2101-01-02","Discharge summary","Addendum","","Later: ""sugar""\nhigh."\n'
    '2,"p1","a1","2101-01-01","Nursing","Report","","Slept."\n'
    '3,"p1","a1","2101-01-01","Discharge summary","Report","","First\nnote."\n'
    '4,"p2","a2","2101-01-01","Discharge summary","Report","1","Taken back."\n'
    '5,"p2","a2","2101-01-01","Discharge summary","Report","","Knee mended."\n'
    '6,"p3","a3","2101-01-01","Discharge summary","Report","","No codes."\n'
)
DIAGNOSES = (
    '"ROW_ID","SUBJECT_ID","HADM_ID","SEQ_NUM","ICD9_CODE"\n1,"p1","a1",1,"4019"\n2,"p1","a1",2,"25000"\n'
    '3,"p2","a2",1,"7154"\n4,"p3","a3",1,""\n'
)

ORIGINALS = {
    "sst_trees": Original(
        {"test.txt": TREES},
        [
            example("The tune glows", "very positive", "test-1"),
            example("It ends", "neutral", "test-3"),
            example("Flat (", "negative", "test-4"),
        ],
        ("test.txt", TREES + "(2 (2 Half) (2 open)\n", 5, "not all closed"),
    ),
    "glue": Original(
        {
            "test.tsv": 'index\tsentence\n0\ta "tall tale\n1\tfine\n',
            "dev.tsv": 'sentence\tlabel\na "tall tale\t0\n',
        },
        [example('a "tall tale', None, "test-2"), example("fine", None, "test-3")],
        ("test.tsv", "index\tsentence\n0\ta tall\ttale\n1\tfine\n", 2, "3 fields, the header 2"),
        {"task": "sst2"},
    ),
    "snli": Original(
        {"snli_1.0_test.jsonl": SNLI_ROWS},
        [
            example(("A dog runs.", "An animal moves."), "entailment", "p1", votes=["entailment"] * 3, group="c1"),
            example(("A dog runs.", "It is late."), "neutral", "p3", votes=["entailment"] * 3, group="c1"),
        ],
        (
            "snli_1.0_test.jsonl",
            [*SNLI_ROWS, {**SNLI_ROWS[0], "gold_label": "maybe"}],
            4,
            "'maybe' is none of",
        ),
    ),
    "e_snli": Original(
        {"esnli_test.csv": E_SNLI_HEADER + E_SNLI_ROW},
        [
            example(
                ("A man, asleep, snores.", "Nobody sleeps."),
                "contradiction",
                "q1",
                [(0, "asleep, snores."), (1, "Nobody sleeps.")],
                explanations=["He sleeps.", 'So, "asleep".', "Yes."],
                annotators=[
                    [[0, 7, 22], [1, 0, 6]],
                    [[0, 7, 14], [1, 0, 14]],
                    [[1, 0, 6]],
                ],
            )
        ],
        (
            "esnli_test.csv",
            E_SNLI_HEADER + E_SNLI_ROW + E_SNLI_ROW.replace("*Nobody* *sleeps.*", "*Nobody* *snores.*"),
            3,
            "has other words than",
        ),
    ),
    "ag_news": Original(
        {"test.csv": '"3","Oil up","Prices rose\\again in ""thin"" trade."\n"2","Goal","Late winner."\n'},
        [
            example('Oil up\nPrices rose\nagain in "thin" trade.', "Business", "test-1"),
            example("Goal\nLate winner.", "Sports", "test-2"),
        ],
        (
            "test.csv",
            '"3","Two\nlines","a"\n"5","x","y"\n"1","z","w"\n',
            3,
            "the label '5' is none of 1, 2, 3, 4",
        ),
    ),
    "yelp": Original(
        {"test.csv": '"1","Cold soup.\\nThe \\""chef\\"" left."\n"5","Lovely."\n'},
        [
            example('Cold soup.\nThe "chef" left.', "1", "test-1"),
            example("Lovely.", "5", "test-2"),
        ],
        ("test.csv", '"1","fine"\n"2","a","b"\n', 2, "3 fields; a class number and 1 more"),
    ),
    "yahoo_answers": Original(
        {"test.csv": '"6","Offside?","","It is when\\nyou wait."\n'},
        [example("Offside?\nIt is when\nyou wait.", "Sports", "test-1")],
        ("test.csv", '"6","Offside?","",""\n"6","","",""\n', 2, "A text is empty"),
    ),
    "imdb": Original(
        {"test/pos/0_9.txt": "Warm.<br />Funny.", "test/neg/0_2.txt": "Dull.", "test/neg/notes": "no review"},
        [
            example("Warm.<br />Funny.", "positive", "test-pos-0_9", stars=9),
            example("Dull.", "negative", "test-neg-0_2", stars=2),
        ],
        ("test/neg/1_1.txt", b"Caf\xe9", 1, "not UTF-8"),
        gzipped=False,
    ),
    "twenty_newsgroups": Original(
        {
            "20news-bydate-test/rec.kites/101": "From: a@b\nSubject: String\n\nIt sn\xe4pped.\n".encode("latin-1"),
            "20news-bydate-test/sci.mud/7": "From: c@d\n\nDeep.\n",
        },
        [
            example("From: a@b\nSubject: String\n\nIt snäpped.\n", "rec.kites", "rec.kites-101"),
            example("From: c@d\n\nDeep.\n", "sci.mud", "sci.mud-7"),
        ],
        ("20news-bydate-test/sci.mud/8", " \n", 1, "A text is empty"),
        gzipped=False,
    ),
    "parallel": Original(
        {"test.tsv": "A dog runs.\tEin Hund rennt.\nTwo cats.\t Zwei Katzen.\n"},
        [
            Example(("A dog runs.", "Ein Hund rennt."), id="test-1"),
            Example(("Two cats.", "Zwei Katzen."), id="test-2"),
        ],
        ("test.tsv", "A dog runs.\tEin Hund rennt.\nTwo cats.\t \n", 2, "its de is empty"),
    ),
    "iwslt": Original(
        {
            f"IWSLT14.TED.{name}.de-en.{language}.xml": f'<mteval>\n<doc docid="1">\n<title>{language}</title>\n'
            f'<seg id="1"> {text} </seg>\n</doc>\n</mteval>\n'
            for name, texts in {
                "tst2010": ("Danke & gut.", "Thanks &amp; good."),
                "tst2011": ("Ja.", "Yes."),
            }.items()
            for language, text in zip(("de", "en"), texts, strict=True)
        },
        [
            Example(("Danke & gut.", "Thanks & good."), id="IWSLT14-TED-tst2010-de-en-4"),
            Example(("Ja.", "Yes."), id="IWSLT14-TED-tst2011-de-en-4"),
        ],
        (
            "IWSLT14.TED.tst2010.de-en.de.xml",
            '<mteval>\n<doc docid="1">\n<seg id="1"> </seg>\n</doc>\n',
            3,
            "its de is empty",
        ),
        {"tests": "tst2010,tst2011"},
        gzipped=False,
    ),
    "semeval2017_task4": Original(
        {
            "SemEval2017-task4-test.subtask-A.english.txt": '11\tpositive\tBest "day\tever\t\n'
            "12\tnegative\tRain.\n13\toff topic\tBuy now\n14\tneutral\tNot Available\n11\tpositive\tAgain\n"
        },
        [example('Best "day\tever', "positive", "11"), example("Rain.", "negative", "12")],
        (
            "SemEval2017-task4-test.subtask-A.english.txt",
            "11\tpositive\tBest\n12\tnegative\n",
            2,
            "2 fields; id, sentiment and text are due",
        ),
    ),
    "hatexplain": Original(
        {"dataset.json": POSTS, "post_id_divisions.json": DIVISIONS},
        [
            example(
                "all greedy gulls must leave",
                "offensive",
                "1_gab",
                [(0, "greedy gulls"), (0, "leave")],
                votes=["offensive", "offensive", "normal"],
                communities=["Gulls"],
                annotators=[[[0, 4, 16]], [[0, 11, 16], [0, 22, 27]]],
            )
        ],
        (
            "dataset.json",
            POSTS | {"2_twitter": {**POSTS["2_twitter"], "annotators": [{"label": "normal"}], "rationales": [[1]]}},
            json.dumps(POSTS, indent=1).split("\n").index(' "2_twitter": {') + 1,
            "1 marks for 2 tokens",
        ),
        gzipped=False,
    ),
    "eraser": Original(
        {"docs/neg_1": ERASER_DOCUMENT, "test.jsonl": [ERASER_ROW]},
        [example(ERASER_DOCUMENT, "NEG", "neg_1", [(0, "the  plot"), (0, "plot drags")])],
        (
            "test.jsonl",
            [
                ERASER_ROW,
                {**ERASER_ROW, "evidences": [[{"docid": "neg_1", "start_token": 8, "end_token": 12}]]},
            ],
            2,
            "lies outside 'neg_1', which has 11",
        ),
    ),
    "mimic_discharge": Original(
        {
            "NOTEEVENTS.csv.gz": NOTES,
            "DIAGNOSES_ICD.csv": DIAGNOSES,
            "test_50_hadm_ids.csv": "a1\na2\na3\n",
        },
        [
            example('First\nnote.\nLater: "sugar"\nhigh.', "diabetes", "a1", group="p1"),
            example("Knee mended.", "no diabetes", "a2", group="p2"),
        ],
        ("NOTEEVENTS.csv.gz", NOTES + '7,"p2","a2","2101-01-03"\n', 10, "4 fields, the header 8"),
        plain_only=("test_50_hadm_ids.csv",),
    ),
    "json_lines": Original(
        {"test.jsonl": [{"id": "a", "text": "A fine film.", "label": "good", "evidence": [[2, 6]]}]},
        [example("A fine film.", "good", "a", [(0, "fine")])],
        ("test.jsonl", '{"text": "x"}\n\n{"text": 5}\n', 3, "must be a string"),
    ),
    "table": Original(
        {"test.csv": 'text,label,shop,evidence\n"Two\nlines, ""quoted""",good,A,"[[4, 9]]"\nFine,,B,\n'},
        [
            example('Two\nlines, "quoted"', "good", "test-2", [(0, "lines")], shop="A"),
            example("Fine", None, "test-4", shop="B"),
        ],
        (
            "test.csv",
            'text,label\n"Two\nlines",good\n"spoilt" quotes,bad\nfine,good\n',
            4,
            "quotes do not match",
        ),
    ),
    "excel": Original(
        {
            "test.xlsx": [
                ("text", "label", "stars", "evidence"),
                ("Two\nlines", "good", 4, "[[4, 9]]"),
                ("Fine", None, 2.5, None),
            ]
        },
        [
            example("Two\nlines", "good", "test-2", [(0, "lines")], stars="4"),
            example("Fine", None, "test-3", stars="2.5"),
        ],
        ("test.xlsx", [("text", "label"), ("Fine", "good"), (None, "bad")], 3, "A text is empty"),
        gzipped=False,
    ),
    "hugging_face": Original(
        {
            "rows.parquet": {
                "sentence": ["Fine.", "Dull."],
                "label": ["good", None],
                "page": [1, 2],
                "evidence_sentence": [[{"start": 0, "end": 4}], []],
            }
        },
        [
            example("Fine.", "good", "test-1", [(0, "Fine")], page=1),
            example("Dull.", None, "test-2", page=2),
        ],
        ("rows.parquet", {"sentence": ["Fine.", " "], "label": ["good", "bad"]}, 2, "A text is empty"),
        source="rows.parquet",
        gzipped=False,
    ),
}
