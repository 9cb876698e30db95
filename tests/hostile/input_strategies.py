"""Strategies for hostile input: texts, labels, names, numbers, plain values and examples."""

from functools import cache

from hypothesis import strategies as st

from pellucid.text.example import Example, Rationale

BLANKS = " \t\n\r\x0b\x0c\x85\xa0\u1680\u2000\u2003\u2007\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
CONTROLS = "".join(map(chr, [*range(0x20), 0x7F, *range(0x80, 0xA0)]))
DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\xad\u034f\u180e\ufe0f\u115f\u3164\U000e0041\U000e007f"
MARKS = "\u0300\u0301\u0323\u0345\u0488\u20e3\u0e31\u093f"
PRIVATE = "\ue000\uf8ff\U000f0000\U0010ffff\ufffe\uffff\ufdd0\ufffd\ufffc"
SURROGATES = "\ud800\udbff\udc00\udcff\udfff"

SPECIAL_TOKENS = (
    "[CLS] [SEP] [MASK] [PAD] [UNK] <s> </s> <mask> <pad> <unk> <|endoftext|> ##ing ▁ Ġ @@ [unused0]".split()
)
MARKUP = (
    "<script>window.__ran=1;alert(1)</script>",
    "</style></title></textarea></script><script>window.__ran=2</script>",
    '<img src=x onerror="window.__ran=3;alert(3)">',
    '"><svg/onload=window.__ran=4><!--',
    "' onmouseover='window.__ran=5' autofocus onfocus='window.__ran=6",
    "<svg><style>@import url(//evil.example/a.css);*{background:url(//evil.example/b)}</style></svg>",
    '<iframe srcdoc="<script>parent.__ran=7</script>"></iframe>',
    '<link rel=stylesheet href="//evil.example/c.css"><base href="//evil.example/">',
    '<meta http-equiv=refresh content="0;url=javascript:window.__ran=8">',
    '<a href="javascript:window.__ran=9" ping=//evil.example>x</a>',
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.__ran=10&gt;">',
    "<![CDATA[<?xml ?><!DOCTYPE x>]]>-->--!>",
    "&lt;b&gt; &amp;amp; &#60;script&#62; &#x0; &nbsp &notin;",
    "{{7*7}} ${7*7} <%= 7 %> %s %n {0} {name!r} {} %(x)s",
    "expression(alert(1)) } * { color: red } /* */ \\3c script\\3e",
    "![x](javascript:alert(1)) [y](http://evil.example) `code` **bold** # heading | a | b |",
    "[bold red]x[/] [/] [link=http://evil.example]y[/link] [[ ]] \\[x] :smile: [@click=app.quit]z[/]",
    "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x07link\x1b]8;;\x07 \x1b[2J\x9b31m\x1bP1$r\x1b\\",
    "=HYPERLINK(\"http://evil.example\") +1+1 -2+3 @SUM(A1) =cmd|' /C calc'!A0",
    '{"form": "pellucid-explanations-1", "explanations": []}',
    '"; DROP TABLE texts; -- \' OR 1=1 \\u0000 \\" \\',
    "../../etc/passwd file:///etc/passwd C:\\con\\nul ~/.ssh $(id) `id` | id ; id & id > x",
    "data:text/html;base64,PHNjcmlwdD53aW5kb3cuX19yYW49MTE8L3NjcmlwdD4=",
)
SCRIPTS = (
    "שלום עולם, זה סרט (טוב) 123!",
    "نص عربي طويل، رائع جدا 45%",
    "नमस्ते दुनिया ॐ",
    "これは良い映画です。とても！",
    "ไทยไม่มีช่องว่างระหว่างคำ",
    "Ünïcödé naïve ﬁlm ﬀ Å ℵ ǆ ß İ ı K",
    "👩‍👩‍👧‍👦🏳️‍🌈👍🏿🇩🇪🇯🇵❤️‍🔥1️⃣",
    "𝔊𝔬𝔱𝔥𝔦𝔠 𝟙𝟚𝟛 ⒜ ㍿ ﷽",
    "Z̸̡̢͚͎̪̐̈́ä̴́l̶̎g̷̀ȍ̵ ẗ̸ë̷́x̶̀t̴̋",
)
WORDS = ("a fine film", "not", "dull .", "lovely", "1e309", "-0", "NaN", "null", "true", "None", "0x1F")


def joined(parts: st.SearchStrategy[str], most: int, glue: tuple[str, ...] = ("", " ")) -> st.SearchStrategy[str]:
    """Several parts in a row."""
    return st.tuples(st.lists(parts, max_size=most), st.sampled_from(glue)).map(lambda drawn: drawn[1].join(drawn[0]))


def of_characters(characters: str, most: int = 20) -> st.SearchStrategy[str]:
    """Strings of these characters alone."""
    return st.text(st.sampled_from(characters), max_size=most)


@cache
def fragments(surrogates: bool = True) -> st.SearchStrategy[str]:
    """One hostile, strange or harmless piece of text."""
    strange = [BLANKS, CONTROLS, DIRECTIONS, INVISIBLE, MARKS, PRIVATE, *([SURROGATES] if surrogates else [])]
    any_character = st.characters() if surrogates else st.characters(codec="utf-8")
    return st.one_of(
        st.sampled_from(WORDS),
        st.sampled_from(MARKUP),
        st.sampled_from(SPECIAL_TOKENS),
        st.sampled_from(SCRIPTS),
        *(of_characters(characters, 6) for characters in strange),
        st.text(any_character, max_size=12),
        st.builds(lambda one, times: one * times, st.sampled_from("xé漢\u0301\u200d👍"), st.integers(1, 300)),
    )


@cache
def texts(surrogates: bool = True) -> st.SearchStrategy[str]:
    """Texts to explain: mostly a mixture, sometimes nothing at all, blanks, or special tokens alone."""
    return st.one_of(
        joined(fragments(surrogates), 5),
        joined(fragments(surrogates), 5),
        joined(st.sampled_from(SPECIAL_TOKENS), 4),
        of_characters(BLANKS, 4),
        of_characters(BLANKS + CONTROLS + INVISIBLE + DIRECTIONS, 8),
        st.text(max_size=3) if surrogates else st.text(st.characters(codec="utf-8"), max_size=3),
    )


@cache
def texts_or_pairs() -> st.SearchStrategy:
    """A text or a pair, as users pass them."""
    return st.one_of(texts(), texts(), st.tuples(texts(), texts()))


@cache
def names(surrogates: bool = False) -> st.SearchStrategy[str]:
    """Names of classes, examples, models, methods, settings and files."""
    return st.one_of(joined(fragments(surrogates), 2), st.sampled_from(WORDS), st.sampled_from(MARKUP), st.just(""))


@cache
def numbers() -> st.SearchStrategy[float]:
    """Numbers of every size, also not-a-number and infinity."""
    return st.one_of(
        st.floats(),
        st.sampled_from([0.0, -0.0, 1e-45, 3.4e38, -3.4e38, float("nan"), float("inf"), float("-inf"), 1e308]),
    )


@cache
def plain_values() -> st.SearchStrategy:
    """The values of JSON, and a few that no JSON file can contain."""
    scalars = st.one_of(st.none(), st.booleans(), st.integers(), numbers(), names(surrogates=True))
    return st.recursive(
        scalars,
        lambda children: st.one_of(
            st.lists(children, max_size=3), st.dictionaries(names(surrogates=True), children, max_size=3)
        ),
        max_leaves=6,
    )


@cache
def metas() -> st.SearchStrategy[dict]:
    """The meta of examples: plain values, sometimes also values that no file can contain."""
    strange = st.sampled_from([{1, 2}, b"bytes", 1j, object(), float("nan")])
    return st.dictionaries(names(surrogates=True), st.one_of(plain_values(), plain_values(), strange), max_size=3)


@cache
def visible_texts() -> st.SearchStrategy[str]:
    """Texts that can be explained: not blank, and without halves of surrogate pairs."""
    return texts(surrogates=False).filter(lambda text: bool(text.strip()))


@st.composite
def examples(draw: st.DrawFn) -> Example:
    """Valid examples, with labels, marks and names of any kind."""
    segments = tuple(draw(visible_texts()) for _ in range(draw(st.sampled_from([1, 1, 2]))))
    marks = []
    for _ in range(draw(st.integers(0, 2))):
        segment = draw(st.integers(0, len(segments) - 1))
        start = draw(st.integers(0, len(segments[segment]) - 1))
        marks.append(Rationale(segment, start, draw(st.integers(start + 1, len(segments[segment])))))
    label = draw(names()) if draw(st.booleans()) else None
    return Example(segments, label, tuple(marks), draw(names()), draw(metas()))
