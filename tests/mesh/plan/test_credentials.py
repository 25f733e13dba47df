"""Logins: the credentials file."""

from __future__ import annotations

from pathlib import Path

import pytest

from topicloom.errors import InputError
from topicloom.mesh.plan.credentials import Login, read_credentials

NODES = ["a", "b"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("node,user\na,x\n", "has no column 'password'"),
        ("node,user,password\na,u,p\n", "has no login for node 'b'; every node needs one"),
        ("node,user,password\na,u,p\na,u,p\n", "line 3: node 'a' has a login already"),
        ("node,user,password\na,u,p\nb,u,q\n", "line 3: user 'u' has another password already"),
        ("node,user,password\na,,p\n", "line 2: user is empty"),
        ("node,user,password\na,u,\n", "line 2: password is empty"),
        ("node,user,password\na,u:v,p\n", "line 2: user 'u:v' has a colon"),
        (
            "node,user,password\na,u, secret\n",
            "line 2: the password has a control character or a space at an end",
        ),
        ("node,user,password\na,u,sec\tret\n", "line 2: the password has a control character"),
        ("node,user,password\na,u,$2a$11$xyz\n", "line 2: the password looks like a hash"),
    ],
)
def test_broken_files_are_refused_and_keep_the_secret(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "logins.csv"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_credentials(path, NODES)
    assert sentence in str(refused.value)
    assert "secret" not in str(refused.value)


def test_logins_of_others_are_told_and_not_used(tmp_path: Path) -> None:
    told: list[str] = []
    path = tmp_path / "logins.csv"
    path.write_text("node,user,password\na,u,p\nc,v,secret\nb,u,p\n")
    assert set(read_credentials(path, NODES, told.append)) == {"a", "b"}
    assert told == [f"`credentials` {path} line 3: 'c' is not a node of the build; such rows are not used"]


def test_nodes_may_share_a_user(tmp_path: Path) -> None:
    path = tmp_path / "logins.csv"
    path.write_text('node,user,password\na,u,"p, ""q"""\nb,u,"p, ""q"""\n')
    logins = read_credentials(path, NODES)
    assert logins == {"a": Login("u", 'p, "q"'), "b": Login("u", 'p, "q"')}
