"""MIMIC: both tasks and both versions, from a folder that only a credentialed user has; patients stay in one part."""

import pytest

from pellucid.base.errors import BadFile
from pellucid.data.load import load_examples
from tests.data.formats.originals import DIAGNOSES, NOTES_HEADER, example, write

PARTS = ("train", "dev", "test")


def read(folder, split, **settings):
    return load_examples(folder, split, "mimic_discharge", **settings)


def test_anemia_is_acute_or_chronic_but_not_both(tmp_path):
    header = DIAGNOSES.split("\n")[0]
    codes = (("a1", "2851"), ("a2", "28521"), ("a3", "2851"), ("a3", "28529"), ("a4", "4019"))
    write(
        tmp_path / "DIAGNOSES_ICD.csv.gz",
        "\n".join([header, *(f'1,"p","{a}",1,"{code}"' for a, code in codes)]),
    )
    notes = "".join(f'1,"p{n}","a{n}","","Discharge summary","Report","","Text {n}."\n' for n in (1, 2, 3, 4))
    write(tmp_path / "NOTEEVENTS.csv", NOTES_HEADER + notes)
    examples = [one for part in PARTS for one in read(tmp_path, part, task="anemia")]
    assert {one.id: one.label for one in examples} == {"a1": "acute", "a2": "chronic"}


def test_mimic_iv_has_other_files_and_codes(tmp_path):
    write(
        tmp_path / "hosp" / "diagnoses_icd.csv.gz",
        "subject_id,hadm_id,seq_num,icd_code,icd_version\n1,10,1,E119,10\n2,20,1,25000,9\n3,30,1,I10,10\n",
    )
    write(
        tmp_path / "note" / "discharge.csv.gz",
        "note_id,subject_id,hadm_id,note_type,note_seq,charttime,storetime,text\n"
        '1-DS,1,10,DS,1,2180,2180,"Name: '
        '___\nStable."\n2-DS,2,20,DS,1,2180,2180,Better.\n3-DS,3,30,DS,1,2180,2180,Home.\n',
    )
    examples = sorted((one for part in PARTS for one in read(tmp_path, part)), key=lambda one: one.id)
    assert examples == [
        example("Name: ___\nStable.", "diabetes", "10", group="1"),
        example("Better.", "diabetes", "20", group="2"),
        example("Home.", "no diabetes", "30", group="3"),
    ]


def test_no_patient_is_in_two_parts(tmp_path):
    diagnoses = "".join(f'1,"p{n // 3}","a{n}",1,"{25000 if n % 2 else 4019}"\n' for n in range(300))
    notes = "".join(f'1,"p{n // 3}","a{n}","","Discharge summary","Report","","Text {n}."\n' for n in range(300))
    write(tmp_path / "DIAGNOSES_ICD.csv", DIAGNOSES.split("\n")[0] + "\n" + diagnoses)
    write(tmp_path / "NOTEEVENTS.csv", NOTES_HEADER + notes)
    parts = {part: read(tmp_path, part) for part in PARTS}
    assert sum(map(len, parts.values())) == 300
    patients = [{one.meta["group"] for one in examples} for examples in parts.values()]
    assert all(patients) and sum(map(len, patients)) == 100


@pytest.mark.parametrize("files", ((), ("NOTEEVENTS.csv",)))
def test_without_the_files_it_says_that_they_are_credentialed(tmp_path, files):
    for name in files:
        write(tmp_path / name, NOTES_HEADER)
    with pytest.raises(BadFile, match=r"MIMIC is credentialed.*ask PhysioNet for access"):
        read(tmp_path, "test")


def test_a_bad_diagnosis_is_named(tmp_path):
    write(tmp_path / "DIAGNOSES_ICD.csv", DIAGNOSES + '5,"p9"\n')
    write(tmp_path / "NOTEEVENTS.csv", NOTES_HEADER)
    with pytest.raises(BadFile, match=r"DIAGNOSES_ICD\.csv, line 6: it has 2 fields, the header 5"):
        read(tmp_path, "test")
