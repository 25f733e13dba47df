"""Reading mosquitto.conf as people write it: listeners, bridges and their topics, with the line of each.

The rules and defaults are those of mosquitto.conf(5) and of mosquitto 2.0, which reads a file line by line:
a line that begins with # is a comment, words are separated by spaces, options that may come once for each
`listener` or `connection` belong to the last one named. Options that play no part in how messages travel
are kept as lines; what stands behind them is left to mosquitto, but words that it does not know are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from topicloom.mesh.kinds.mosquitto.conf_lines import ConfLine, ConfReader, refuse_unknown
from topicloom.mesh.model.config_files import Address, Location, parse_address, parse_port

DEFAULT_PORT = 1883
DIRECTIONS = ("out", "in", "both")


@dataclass(frozen=True, slots=True)
class Listener:
    """A port the broker listens on; `host` is None for all addresses of the machine."""

    port: int
    host: str | None
    where: Location


@dataclass(frozen=True, slots=True)
class TopicRule:
    """`topic PATTERN direction qos local-prefix remote-prefix` of a bridge, the defaults filled in."""

    pattern: str
    direction: str
    local_prefix: str
    remote_prefix: str
    where: Location

    @property
    def local(self) -> str:
        """The pattern as the dialing broker sees it."""
        return self.local_prefix + self.pattern

    @property
    def remote(self) -> str:
        """The pattern as the accepting broker sees it."""
        return self.remote_prefix + self.pattern

    def crosses(self, *, out: bool) -> bool:
        """Return whether it lets messages out to the acceptor, or in from there."""
        return self.direction != ("in" if out else "out")


@dataclass(frozen=True, slots=True)
class Bridge:
    """One `connection`: the addresses it tries, first the one it prefers, and what it carries."""

    name: str
    addresses: tuple[Address, ...]
    rules: tuple[TopicRule, ...]
    remote_clientid: str | None
    known_as_bridge: bool  # the acceptor is told, so it does not send messages back where they came from
    certificates: bool  # it checks the acceptor's certificate
    where: Location


@dataclass(frozen=True, slots=True)
class MosquittoConf:
    """One broker's configuration, all included files in it; `folders` are those it includes."""

    file: str
    lines: tuple[ConfLine, ...]
    listeners: tuple[Listener, ...]
    bridges: tuple[Bridge, ...]
    folders: tuple[Path, ...] = ()


def read_mosquitto(path: Path, *, shown: str | None = None, root: Path | None = None) -> MosquittoConf:
    """Read one mosquitto.conf; `shown` is what messages call it, the path by default.

    `root` is the folder that all is to be read from, the file's own by default: an absolute `include_dir`
    elsewhere speaks of the machine that the file was copied from.
    """
    reader = ConfReader((root or path.parent).resolve())
    lines = tuple(reader.lines(path, shown or str(path), 0))
    for line in lines:
        if line.words:
            refuse_unknown(line)
    listeners, bridges = tuple(_listeners(lines)), tuple(_bridges(lines))
    return MosquittoConf(shown or str(path), lines, listeners, bridges, tuple(reader.folders))


def _listeners(lines: tuple[ConfLine, ...]) -> Iterator[Listener]:
    """Yield each `listener`, and the default one of `port` and `bind_address`; without any, port 1883."""
    default_port: tuple[int, Location] | None = None
    default_host: tuple[str, Location] | None = None
    found = []
    for line in lines:
        if line.key == "listener":
            port = parse_port(_word(line, 1, "a port"), line.where)
            found.append(Listener(port, line.words[2].lower() if len(line.words) > 2 else None, line.where))
        elif line.key == "port":
            if default_port is not None:
                raise line.where.fault(f"port was given already on line {default_port[1].line}; use listener")
            default_port = parse_port(_word(line, 1, "a port"), line.where), line.where
        elif line.key == "bind_address":
            default_host = _word(line, 1, "an address").lower(), line.where
    if default_port is not None or default_host is not None or not found:
        where = (default_port or default_host or (0, Location(lines[0].where.file if lines else "", 1)))[1]
        # mosquitto 2 listens on the loopback address alone when nothing at all is said.
        silent = default_port is None and not found
        host = default_host[0] if default_host else "localhost" if silent else None
        yield Listener(default_port[0] if default_port else DEFAULT_PORT, host, where)
    yield from found


BRIDGE_SWITCHES = ("round_robin", "try_private")


def _bridges(lines: tuple[ConfLine, ...]) -> Iterator[Bridge]:
    blocks: list[list[ConfLine]] = []
    for line in lines:
        if line.key == "connection":
            blocks.append([line])
        elif line.key in ("address", "addresses", "topic", "remote_clientid", "clientid", *BRIDGE_SWITCHES):
            if not blocks:
                raise line.where.fault(f"{line.key} belongs to a bridge; write `connection NAME` before it")
            blocks[-1].append(line)
        elif line.key.startswith("bridge_") and blocks:
            blocks[-1].append(line)
    names: dict[str, Location] = {}
    for block in blocks:
        bridge = _bridge(block)
        if bridge.name in names:
            raise bridge.where.fault(f"connection {bridge.name} exists at {names[bridge.name]}; rename one")
        names[bridge.name] = bridge.where
        yield bridge


def _bridge(block: list[ConfLine]) -> Bridge:
    head = block[0]
    name = _word(head, 1, "a name")
    addresses: list[Address] = []
    values = {"bridge_protocol_version": "mqttv311"}
    for line in block[1:]:
        if line.key in ("address", "addresses"):
            if addresses:
                raise line.where.fault(f"connection {name} has addresses already; put all on one line")
            texts = [_word(line, 1, "an address"), *line.words[2:]]
            # Mosquitto cuts at the last colon, whatever stands before it.
            addresses = [parse_address(text, DEFAULT_PORT, line.where, bare_ipv6_port=True) for text in texts]
        elif line.key in BRIDGE_SWITCHES:
            values[line.key] = _switch(line)
        elif line.key != "topic":
            values[line.key] = _word(line, 1, "a value")
    if not addresses:
        raise head.where.fault(f"connection {name} has no address; add `address HOST:PORT` below it")
    private = values.get("try_private", "true") == "true"
    return Bridge(
        name,
        tuple(addresses),
        tuple(_rule(line) for line in block if line.key == "topic"),
        values.get("remote_clientid", values.get("clientid")),
        private or values["bridge_protocol_version"] == "mqttv50",  # there by the option «no local»
        "bridge_cafile" in values or "bridge_capath" in values,
        head.where,
    )


def _rule(line: ConfLine) -> TopicRule:
    words = ["" if word == '""' else word for word in line.words[1:]]
    if not words:
        raise line.where.fault("topic needs a pattern; write `topic PATTERN both 1`")
    if len(words) > 5:
        raise line.where.fault(f"{words[5]!r} is too much here; comments need their own line")
    words += ["out", "0", "", ""][len(words) - 1 :]
    pattern, direction, qos, local, remote = words
    if direction not in DIRECTIONS:
        raise line.where.fault(f"{direction!r} is no direction of a topic; it is out, in or both")
    if qos not in ("0", "1", "2"):
        raise line.where.fault(f"{qos!r} is no QoS; it is 0, 1 or 2")
    if not pattern and not (local and remote):
        raise line.where.fault('topic "" needs a local and a remote prefix; they are the two whole names')
    rule = TopicRule(pattern, direction, local, remote, line.where)
    for whole in (rule.local, rule.remote):
        if not is_pattern(whole):
            raise line.where.fault(f"{whole!r} is no pattern; + and # stand alone in a level, # last")
    if "+" in local + remote or "#" in local + remote:
        raise line.where.fault("a prefix holds + or #; only the pattern may")
    return rule


def is_pattern(text: str) -> bool:
    """Return whether this is an MQTT topic filter: + and # alone in their level, # last."""
    levels = text.split("/")
    whole = all(level in ("+", "#") or not ("+" in level or "#" in level) for level in levels)
    return bool(text) and whole and "#" not in levels[:-1]


def _word(line: ConfLine, index: int, what: str) -> str:
    if len(line.words) <= index:
        raise line.where.fault(f"{line.key} needs {what} behind it")
    return line.words[index]


def _switch(line: ConfLine) -> str:
    value = _word(line, 1, "true or false").lower()
    if value not in ("true", "false", "1", "0"):
        raise line.where.fault(f"{line.key} is true or false, not {value!r}")
    return {"1": "true", "0": "false"}.get(value, value)
