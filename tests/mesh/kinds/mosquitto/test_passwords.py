"""Password files, with hashes that Mosquitto's own tool makes the same way."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
from pathlib import Path

from brokers_present import needs_mosquitto
from topicloom.mesh.kinds.mosquitto.passwords import mosquitto_hash, mosquitto_passwords
from topicloom.mesh.plan.credentials import Login


def test_each_user_is_there_once() -> None:
    assert len(mosquitto_passwords([Login("u", 'p, "q"')] * 2).splitlines()) == 1


def test_users_with_the_same_password_have_other_hashes() -> None:
    one, two = (mosquitto_hash(Login(user, "p")).split("$")[-1] for user in ("u", "v"))
    assert one != two


@needs_mosquitto
def test_the_tool_of_mosquitto_hashes_as_we_do(tmp_path: Path) -> None:
    """Its hash, with its salt and rounds, comes out of our formula; ours differs only in salt and rounds."""
    tool = shutil.which("mosquitto_passwd")
    assert tool is not None, "it comes with mosquitto"
    path = tmp_path / "theirs"
    subprocess.run([tool, "-c", "-b", str(path), "ann", "pässword"], check=True)
    line = path.read_text().strip()
    _, kind, rounds, salt, digest = line.split("$")
    found = hashlib.pbkdf2_hmac("sha512", "pässword".encode(), base64.b64decode(salt), int(rounds))
    assert (kind, base64.b64encode(found).decode()) == ("7", digest)
    assert mosquitto_hash(Login("ann", "pässword"), base64.b64decode(salt), int(rounds)) == line
    ours = mosquitto_hash(Login("ann", "pässword")).split("$")
    assert [len(base64.b64decode(part)) for part in ours[3:]] == [
        len(base64.b64decode(part)) for part in (salt, digest)
    ]
