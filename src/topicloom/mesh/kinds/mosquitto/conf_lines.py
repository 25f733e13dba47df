"""The lines of a mosquitto.conf, with those of the folders it includes, and the options it may have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from topicloom.mesh.model.config_files import Location, read_text, refuse_misspelt

MOST_INCLUDES = 16  # folders within folders; a folder that includes itself would never end
# What a line may begin with, of mosquitto 1.5 to 2.1: a file for any of them is read.
OPTIONS = frozenset(
    """
    accept_protocol_versions acl_file address addresses allow_anonymous allow_duplicate_messages
    allow_zero_length_clientid auth_plugin auth_plugin_deny_special_chars auto_id_prefix autosave_interval
    autosave_on_changes bind_address bind_interface bridge_alpn bridge_attempt_unsubscribe
    bridge_bind_address bridge_cafile bridge_capath bridge_certfile bridge_ciphers bridge_ciphers_tls1.3
    bridge_identity bridge_insecure bridge_keyfile bridge_max_packet_size bridge_max_topic_alias
    bridge_outgoing_retain bridge_protocol_version bridge_psk bridge_receive_maximum bridge_reload_type
    bridge_require_ocsp bridge_session_expiry_interval bridge_tcp_keepalive bridge_tcp_user_timeout
    bridge_tls_use_os_certs bridge_tls_version cafile capath certfile check_retain_source ciphers
    ciphers_tls1.3 cleansession clientid clientid_prefixes connection connection_messages crlfile
    dhparamfile disable_client_cert_date_checks enable_control_api enable_proxy_protocol global_max_clients
    global_max_connections global_plugin http_dir idle_timeout include_dir keepalive_interval keyfile
    listener listener_allow_anonymous listener_auto_id_prefix local_cleansession local_clientid
    local_password local_username log_dest log_facility log_timestamp log_timestamp_format log_type
    max_connections max_inflight_bytes max_inflight_messages max_keepalive max_packet_size max_qos
    max_queued_bytes max_queued_messages max_topic_alias max_topic_alias_broker maximum_qos memory_limit
    message_size_limit mount_point notification_topic notifications notifications_local_only
    packet_buffer_size password password_file per_listener_settings persistence persistence_file
    persistence_location persistent_client_expiration pid_file plugin plugin_load plugin_use port protocol
    proxy_protocol_v2_require_tls psk_file psk_hint queue_qos0_messages remote_clientid remote_password
    remote_username require_certificate restart_timeout retain_available retain_expiry_interval
    retained_persistence retry_interval round_robin set_tcp_nodelay socket_domain start_type
    store_clean_interval sys_interval threshold tls_engine tls_engine_kpass_sha1 tls_keyform tls_version
    topic trace_level try_private upgrade_outgoing_qos use_identity_as_username use_subject_as_username
    use_username_as_clientid user username websockets_headers_size websockets_log_level websockets_origin
    """.split()  # noqa: SIM905
)
PLUGIN_OPTIONS = ("auth_opt_", "plugin_opt_")  # prefixes of what only plugins know


@dataclass(frozen=True, slots=True)
class ConfLine:
    """One line as it stands; `words` is empty for comments and empty lines."""

    text: str
    words: tuple[str, ...]
    where: Location

    @property
    def key(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def rest(self) -> str:
        """Return all behind the first word, spaces within it kept."""
        parts = self.text.split(None, 1)
        return parts[1].strip() if len(parts) > 1 else ""


class ConfReader:
    """Reads a file and all that it includes, and keeps the folders it includes."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.folders: list[Path] = []

    def lines(self, path: Path, shown: str, depth: int) -> Iterator[ConfLine]:
        """Yield all lines in the order mosquitto reads them; a folder's *.conf stand where it is included."""
        for number, text in enumerate(read_text(path, shown).split("\n"), 1):
            text, where = text.rstrip("\r"), Location(shown, number)
            # Mosquitto would refuse an indented comment; what is meant is clear.
            words = () if text.lstrip().startswith("#") else tuple(text.split())
            if words and words[0] == "include_dir":
                yield from self._included(path, ConfLine(text, words, where), depth)
            else:
                yield ConfLine(text, words, where)

    def _included(self, path: Path, line: ConfLine, depth: int) -> Iterator[ConfLine]:
        folder, shown = self._folder(path, line)
        if depth >= MOST_INCLUDES:
            raise line.where.fault(f"include_dir goes {MOST_INCLUDES} deep; does a folder include itself?")
        self.folders.append(folder)
        # mosquitto.conf(5): *.conf only, capital letters before small ones.
        for inner in sorted(folder.glob("*.conf"), key=lambda found: found.name.encode()):
            if not inner.resolve().is_relative_to(self._root):
                raise line.where.fault(f"{shown / inner.name} leads out of {self._root}; put a copy there")
            yield from self.lines(inner, str(shown / inner.name), depth + 1)

    def _folder(self, path: Path, line: ConfLine) -> tuple[Path, Path]:
        """Return the folder that is included, and what messages call it."""
        named, beside = Path(line.rest), Path(line.where.file).parent
        if not named.is_absolute():
            if not line.rest or not (path.parent / named).is_dir():
                raise line.where.fault(
                    f"include_dir {line.rest!r} is no folder beside this file; correct the path"
                )
            if not (path.parent / named).resolve().is_relative_to(self._root):
                raise line.where.fault(
                    f"include_dir {line.rest!r} leads out of {self._root}; copy that folder beside this file"
                )
            return path.parent / named, beside / named
        if named.is_dir() and named.resolve().is_relative_to(self._root):
            return named, named
        there = path.parent / named.name
        if not named.name or not there.is_dir() or not there.resolve().is_relative_to(self._root):
            raise line.where.fault(
                f"include_dir {line.rest} is not in {self._root}, and no folder {named.name!r} is beside "
                "this file; copy that folder beside it, also if it is empty"
            )
        return there, beside / named.name


def refuse_unknown(line: ConfLine) -> None:
    """Refuse a line that mosquitto would not start with: a link that is not read would look like none."""
    if line.key not in OPTIONS and not line.key.startswith(PLUGIN_OPTIONS):
        refuse_misspelt(line.key, sorted(OPTIONS), line.where)
        raise line.where.fault(f"there is no option {line.key}; mosquitto would not start with it; remove it")
