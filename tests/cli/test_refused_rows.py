"""Nothing disappears behind "proved": refused rows by reason, encodings, and when a build exits 1."""

from __future__ import annotations

import json

import pytest

from topicloom.cli.main import execute

EXPORT = "node,topic\nJürgen,Wetter\nZoë,Wetter\nAnna,Börse\nAnna,Wetter\nJohn,Wetter\n".encode("latin-1")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command without Spark in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> tuple[int, str, str]:
        code = execute([*words, "--engine", "local"])
        return code, *capsys.readouterr()

    return command


def test_a_table_in_another_encoding_is_told_and_can_be_read(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(EXPORT)
    code, out, told = run("build", "t.csv", "--out", "b", "--json", "--quiet")
    found = json.loads(out)
    assert (code, found["topic_connected"], found["rejects"]) == (1, True, {"not valid UTF-8": 3})
    assert told.splitlines() == [
        "3 rows were refused in t.csv:",
        r"  3 rows: not valid UTF-8, e.g. 'Anna,B\xf6rse'; try --encoding latin-1, which reads it as "
        "'Anna,Börse'",
        "b/rejects.parquet lists every refused row with its reason",
        "3 of 5 rows were refused, more than a tenth",
        "next: mend the table, or give --allow-rejects to go on without these rows",
    ]
    code, out, _ = run("build", "t.csv", "--out", "b")
    assert "proved for the rows that were read: " in out and "next: topicloom measure" not in out
    assert run("build", "t.csv", "--out", "b", "--allow-rejects")[0] == 0
    code, out, told = run("build", "t.csv", "--out", "b", "--encoding", "latin-1", "--json", "--quiet")
    found = json.loads(out)
    assert (code, found["nodes"], found["rejected"], told) == (0, 4, 0, "")
    assert "rejects" not in found
    assert "3 rows were refused" in run("inspect", "t.csv")[2]


def test_a_name_that_occurs_in_refused_rows_only_is_missed(run, tmp_path):
    rows = "".join(f"n{i},t\n" for i in range(40))
    (tmp_path / "t.csv").write_text(f"node,topic\n{rows}lost,\n,gone\nn1,\n")
    code, out, told = run("build", "t.csv", "--out", "b", "--json", "--quiet")
    assert (code, json.loads(out)["only_rejected"]) == (1, {"nodes": 1, "topics": 1})
    assert "  in refused rows only: 1 node ('lost') and 1 topic ('gone')" in told
    assert "1 node and 1 topic occur in refused rows only, so in no overlay" in told
    (tmp_path / "t.csv").write_text(f"node,topic\n{rows}n1,\n")
    assert run("build", "t.csv", "--out", "b", "--quiet")[0] == 0
    for command in (("inspect", "t.csv"), ("compare", "t.csv", "--algorithms", "gm")):
        assert "  1 row: the topic is empty, e.g. 'n1,'" in run(*command, "--quiet")[2]


def test_the_first_name_of_a_row_with_other_fields_is_missed_too(run, tmp_path):
    """An unquoted comma in a name refuses the row: its node must not be gone without a word."""
    rows = "".join(f"n{i},t\n" for i in range(40))
    (tmp_path / "t.csv").write_text(f"node,topic\n{rows}lost,room 5, left\nn1\n")
    code, out, told = run("build", "t.csv", "--out", "b", "--json", "--quiet")
    assert (code, json.loads(out)["only_rejected"]) == (1, {"nodes": 1})
    assert "in refused rows only: 1 node ('lost')" in told


def test_a_spreadsheet_is_told_what_to_do(run, tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    code, _, told = run("build", "t.xlsx", "--out", "b")
    assert (code, told) == (
        2, "topicloom: t.xlsx is a spreadsheet, which is not read: save the sheet as CSV\n"
    )  # fmt: skip


def test_each_reason_has_its_hint(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(
        b"node,topic,rate\na,x,1\nb,x,\nc,x,-1\nd,x,-2\ne,x\nf,x,y,1\n\x93g,x,1\n"
    )
    told = run("build", "t.csv", "--out", "b", "--quiet")[2].splitlines()
    assert told[:5] == [
        "5 rows were refused in t.csv:",
        "  2 rows: the rate is not a finite number of at least 0, e.g. 'c,x,-1'",
        r"  1 row: not valid UTF-8, e.g. '\x93g,x,1'; try --encoding windows-1252, which reads it as "
        "'“g,x,1'",
        "  1 row: too few fields, e.g. 'e,x'; check --separator",
        "  1 row: too many fields, e.g. 'f,x,y,1'; a field that holds the separator must be in quotes; or "
        "check --separator",
    ]


def test_constraints_have_the_encoding_of_the_table_and_edges_one_of_their_own(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(EXPORT)
    (tmp_path / "caps.csv").write_bytes("node,cap\nJürgen,2\n".encode("latin-1"))
    (tmp_path / "e.csv").write_bytes("u,v\nJürgen,Zoë\nZoë,Anna\nAnna,John\n".encode("latin-1"))
    words = ("t.csv", "--encoding", "latin-1", "--quiet")
    assert run("build", *words, "--caps", "caps.csv", "--out", "b")[0] == 0
    code, _, told = run("verify", words[0], "e.csv", *words[1:])
    assert code == 1 and "try --edges-encoding latin-1" in told
    assert run("verify", words[0], "e.csv", *words[1:], "--edges-encoding", "latin-1")[0] == 0


def test_a_semicolon_file_is_refused_with_the_option_to_give(run, tmp_path):
    (tmp_path / "t.csv").write_text("node;topic\na;x\nb;x\n")
    code, _, told = run("build", "t.csv", "--out", "b")
    assert (code, told) == (2, "topicloom: t.csv looks separated by ';': give --separator ';'\n")
    assert run("build", "t.csv", "--out", "b", "--separator", ";")[0] == 0


def test_names_that_mislead_are_pointed_out(run, tmp_path):
    (tmp_path / "t.csv").write_text("node,topic\nHall,alarm/#\nhall ,alarm/#\nc,alarm/fire\n")
    code, out, _ = run("inspect", "t.csv", "--json")
    found = json.loads(out)
    assert (code, found["names_alike"]["nodes"], found["wildcard_topics"]) == (0, 2, 1)
    assert "2 nodes differ from another one" in run("inspect", "t.csv")[1]
    assert "Topic 'alarm/#' looks like a filter of brokers" in run("build", "t.csv", "--out", "b")[2]
