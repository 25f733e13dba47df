"""What the runner must know of, and change in, its temporary copies of mosquitto.conf to get its clients in.

Addresses and ports were moved to the loopback before; here a login of our own joins the password file (the
passwords of others are hashed there) and the access list, and brokers keep our user: a broker that is started
by root would change to another one, could not read the copies then, and would outlive us when we are killed,
because the kernel forgets that it was to die with us.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from topicloom.mesh.kinds.mosquitto.conf_lines import ConfLine, ConfReader
from topicloom.mesh.kinds.mosquitto.mqtt_client import MqttAccess
from topicloom.mesh.kinds.mosquitto.passwords import SALT_BYTES, mosquitto_hash
from topicloom.mesh.plan.credentials import Login

ROUNDS = 101  # of PBKDF2, as mosquitto_passwd has it; the password is random and gone in a minute


def random_login() -> Login:
    """A user that exists in the temporary copies only."""
    return Login(f"topicloom-{secrets.token_hex(8)}", secrets.token_hex(16))


def amend(conf: Path, folder: Path, login: Login) -> None:
    """Let our clients in and keep the user that runs us; files it names are copied, never changed."""
    additions = {
        "password_file": mosquitto_hash(login, secrets.token_bytes(SALT_BYTES), ROUNDS) + "\n",
        "acl_file": f"user {login.user}\ntopic readwrite #\ntopic read $SYS/#\n",
    }
    lines: list[str] = []
    for line in _lines(conf):
        text = line.text
        if line.key in additions:
            before = (folder / line.rest).read_text()
            copy = folder / f"{conf.name}.{line.key}.{len(lines)}"
            copy.touch(mode=0o600)
            copy.write_text(before + ("\n" if before else "") + additions[line.key])
            text = f"{line.key} {copy}"
        if line.key != "user" or not _is_root():
            lines.append(text)
    conf.write_text("\n".join([*(["user root"] if _is_root() else []), *lines]) + "\n")


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def listens_on(conf: Path, folder: Path, port: int, login: Login) -> MqttAccess:
    """How a client gets in."""
    lines = list(_lines(conf))
    said = {line.key: line.rest for line in _of_listener(lines, port)}

    def path(key: str) -> Path | None:
        return folder / said[key] if said.get(key) else None

    named = any(line.key in ("password_file", "acl_file") for line in lines)
    shows = said.get("require_certificate") in ("true", "1")
    return MqttAccess(
        port,
        login.user if named else None,
        login.password if named else None,
        path("cafile"),
        path("certfile") if shows else None,
        path("keyfile") if shows else None,
    )


def _of_listener(lines: list[ConfLine], port: int) -> list[ConfLine]:
    """What belongs to the listener of this port; before any `listener` stands what belongs to the default."""
    starts = [at for at, line in enumerate(lines) if line.key == "listener"]
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if lines[at].words[1:2] == (str(port),):
            return lines[at:end]
    return lines[: starts[0]] if starts else lines


def _lines(conf: Path) -> Iterator[ConfLine]:
    return ConfReader(conf.parent).lines(conf, conf.name, 0)
