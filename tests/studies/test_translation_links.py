"""Links by methods: shares over trainings and pairs, verdicts, what is not judged, and which methods are tried."""

import json
import re

import numpy as np
import pytest

from pellucid.base.errors import BadInput, BadSetting
from studies.shared.claims import claim_of
from studies.translation_links.corpora import corpora_of
from studies.translation_links.judging import methods_of
from studies.translation_links.page import as_page, as_picture
from studies.translation_links.summary import summarise
from tests.shared.tiny_writing import tiny_writing


def run(seed, rights, exact=1.0, corpus="planted"):
    """rights: method -> the share of right best links; 20 pairs of 10 words, at the same place 2 of them."""
    draws = np.random.default_rng(seed)
    counts = {
        name: [[10, int(draws.binomial(10, share)), 15, 2, 1.25, 50, 10] for _ in range(20)]
        for name, share in rights.items()
    }
    judged = {"methods": counts, "left_out": {"relevance": "it has no rule."}, "carried": 0.4}
    return {"corpus": corpus, "seed": seed, "exact": exact, **judged}


def test_the_shares_are_of_all_words_and_the_leads_have_verdicts():
    runs = [run(seed, {"span_attention": 0.9, "occlusion": 0.5, "gradient": 0.9}) for seed in range(3)]
    numbers = summarise(runs, 3)["corpora"]["planted"]
    right = [sum(pair[1] for pair in one["methods"]["occlusion"]) / 200 for one in runs]
    assert numbers["methods"]["occlusion"]["precision"]["mean"] == pytest.approx(np.mean(right))
    assert numbers["methods"]["same place"]["precision"]["mean"] == pytest.approx(0.2)
    assert numbers["methods"]["chance"]["precision"]["mean"] == pytest.approx(0.125)
    assert numbers["methods"]["chance"]["rank"] == 5 and numbers["methods"]["occlusion"]["rank"] == 1.5
    verdicts = {one["words"].rpartition(" than ")[2]: claim_of(one).verdict for one in numbers["claims"]}
    assert verdicts["occlusion"] == verdicts["chance"] == verdicts["same place"] == "reproduced"
    assert verdicts["gradient"] == "undecided"


def test_translators_that_did_not_learn_are_not_judged():
    rights = {"span_attention": 0.9, "occlusion": 0.5}
    numbers = summarise([run(0, rights), run(1, rights), run(2, rights, exact=0.3)], 3)
    page = as_page(numbers)
    assert "seed 2 (below 90 %)" in page and "no verdict: 2 seeds" in page
    assert "- relevance: it has no rule." in page
    assert "**Not run yet, so not judged:** planted (seed 2)" in as_page(summarise([run(0, rights), run(1, rights)], 3))
    none = as_page(summarise([run(0, rights, exact=0.1)], 1))
    assert "Nothing is claimed of translators that have not learnt" in none
    silver = summarise([run(0, rights, exact=0.0, corpus="silver")], 1)["corpora"]["silver"]
    assert silver["not_learnt"] == []  # nobody translates real sentences word for word
    assert as_picture(numbers).startswith("<svg") and "same place" in as_picture(numbers)


def test_methods_are_those_that_the_model_allows():
    plain = [name for name, _ in methods_of(tiny_writing("marian"))]
    assert "span_attention" not in plain and {"occlusion", "gradient_x_input"} <= set(plain)


def test_silver_links_need_both_files_and_a_line_a_pair(tmp_path):
    with pytest.raises(BadSetting, match="belong together"):
        corpora_of("pairs", None, 5, 3)
    for part in ("train", "dev", "test"):
        lines = [json.dumps({"en": f"a {n}", "de": f"ein {n}"}) for n in range(4)]
        (tmp_path / f"{part}.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "links.txt").write_text("0-0 1-1\n" * 4)
    both = corpora_of(str(tmp_path), str(tmp_path / "links.txt"), 5, 3)
    assert both["silver"].links == [frozenset({(0, 0), (1, 1)})] * 3
    (tmp_path / "links.txt").write_text("0-0 1-1\n" * 3)
    with pytest.raises(BadInput, match=re.escape("has 3 lines for 4 test pairs")):
        corpora_of(str(tmp_path), str(tmp_path / "links.txt"), 5, 3)
