"""What nobody else may know of a mesh: kept beside its manifest, so that the next export and every roll-out
write the same files again. Readable by its owner only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from topicloom.base.summaries import to_json
from topicloom.errors import InputError
from topicloom.mesh.model.config_files import refuse_doubled, refusing_depth
from topicloom.mesh.model.manifest import SECRETS
from topicloom.mesh.plan.credentials import CONTROL, Login


@dataclass(frozen=True, slots=True)
class Secrets:
    """The login of each node's clients, and the password of each link by its name."""

    clients: Mapping[str, Login] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)


def secrets_text(secrets: Secrets) -> str:
    """Return the content of the file."""
    return msgspec.json.format(to_json(secrets), indent=2).decode() + "\n"


def read_secrets(folder: Path) -> Secrets:
    """Read the secrets of an exported folder; nothing where it has none."""
    path = folder / SECRETS
    try:
        with refusing_depth(str(path)):
            secrets = msgspec.json.decode(path.read_bytes(), type=Secrets)
    except FileNotFoundError:
        return Secrets()
    except OSError as error:
        raise InputError(f"cannot read {path} ({error.strerror})") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        # What stands there is not repeated: it is secret.
        raise InputError(f"{path} is damaged; take it from a copy, or export anew") from None
    refuse_doubled(path.read_bytes(), str(path))
    logins = (text for login in secrets.clients.values() for text in (login.user, login.password))
    if any(CONTROL.search(text) for text in (*logins, *secrets.links.values())):
        raise InputError(f"{path} is damaged: a login has a control character; take it from a copy")
    return secrets
