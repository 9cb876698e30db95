"""GLUE: each task's columns and labels, and test parts that have none."""

import pytest

from pellucid.base.errors import BadFile
from pellucid.data.load import load_examples
from tests.data.formats.originals import example, write


def test_cola_has_no_header_but_in_its_test_part(tmp_path):
    write(tmp_path / "train.tsv", 'gj04\t1\t\tThe lake "froze.\nbb33\t0\t*\tFroze lake the.\n')
    write(tmp_path / "test.tsv", "index\tsentence\n0\tIt thawed.\n")
    assert load_examples(tmp_path, "train", "glue", task="cola") == [
        example('The lake "froze.', "acceptable", "train-1", publication="gj04"),
        example("Froze lake the.", "unacceptable", "train-2", publication="bb33"),
    ]
    assert load_examples(tmp_path, "test", "glue", task="cola") == [example("It thawed.", None, "test-2")]


def test_colas_own_release_has_other_file_names(tmp_path):
    write(tmp_path / "in_domain_dev.tsv", "gj04\t1\t\tIt froze.\n")
    assert load_examples(tmp_path, "dev", "glue", task="cola")[0].id == "in_domain_dev-1"


def test_qqp_is_a_pair_with_an_id_of_its_own(tmp_path):
    header = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
    write(tmp_path / "dev.tsv", f"{header}77\t1\t2\tWhy rain?\tWhy does it rain?\t1\n78\t3\t4\tWhy?\tWho?\t0\n")
    assert load_examples(tmp_path, "dev", "glue", task="qqp") == [
        example(("Why rain?", "Why does it rain?"), "duplicate", "dev-77"),
        example(("Why?", "Who?"), "not_duplicate", "dev-78"),
    ]


def test_sst2_labels_have_names(tmp_path):
    write(tmp_path / "train.tsv", "sentence\tlabel\nfine \t1\ndull \t0\n")
    assert [one.label for one in load_examples(tmp_path, "train", "glue")] == ["positive", "negative"]


def test_another_tasks_file_is_refused_by_its_columns(tmp_path):
    write(tmp_path / "dev.tsv", "sentence\tlabel\nfine\t1\n")
    with pytest.raises(BadFile, match=r"no column question1, question2; its columns are: sentence, label"):
        load_examples(tmp_path, "dev", "glue", task="qqp")
