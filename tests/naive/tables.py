"""Text tables the slow, obvious way: character by character, as RFC 4180 reads; and writers of files."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Pair = tuple[str, str]


def naive_fields(line: str, separator: str, quote: bool) -> list[str] | None:
    """The fields of one line, or None where the quoting is malformed."""
    fields, field, state = [], "", "start"
    position = 0
    while position < len(line):
        char = line[position]
        position += 1
        if state == "quoted":
            if char != '"':
                field += char
            elif line[position : position + 1] == '"':
                field += '"'
                position += 1
            else:
                state = "closed"
        elif char == separator:
            fields.append(field)
            field, state = "", "start"
        elif quote and char == '"':
            if state != "start":
                return None
            state = "quoted"
        elif state == "closed":
            return None
        else:
            field += char
            state = "bare"
    if state == "quoted":
        return None
    return [*fields, field]


def naive_pair(line: bytes, separator: str, quote: bool, n_fields: int) -> Pair | None:
    """The first two fields of a line without its end, or None where the row must be refused."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return None
    fields = naive_fields(text, separator, quote)
    if fields is None or len(fields) != n_fields or not fields[0] or not fields[1]:
        return None
    return fields[0], fields[1]


def naive_lines(data: bytes) -> list[bytes]:
    """The lines of a file without their ends: only a `\\n` ends one, and takes one `\\r` before it along."""
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    lines, line = [], b""
    for position in range(len(data)):
        byte = data[position : position + 1]
        if byte != b"\n":
            line += byte
            continue
        lines.append(line[:-1] if line.endswith(b"\r") else line)
        line = b""
    return [*lines, line] if line else lines


def naive_records(data: str) -> list[str]:
    """The records of a well-formed file whose quoted fields may hold newlines."""
    records, record, inside = [], "", False
    for char in data:
        if char == '"':
            inside = not inside
        if char == "\n" and not inside:
            records.append(record)
            record = ""
        else:
            record += char
    return [*records, record] if record else records


def naive_value(word: str, kind: str) -> str | float | None:
    """What a word means as a value of a field, None where it means nothing."""
    if kind == "text":
        return word or None
    if kind == "role":
        return word if word in ("sub", "pub", "both") else None
    number = naive_number(word)
    if number is None and kind == "bound" and word.lstrip("+-").lower() in ("inf", "infinity"):
        return float(word)
    if number is None and kind == "time":
        for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S%z"):
            with suppress(ValueError):
                moment = datetime.strptime(word.replace("T", " "), form)
                return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if number is None or (kind == "amount" and number < 0) or (kind == "cost" and number <= 0):
        return None
    return number


def naive_number(word: str) -> float | None:
    """A finite number in plain digits, maybe with a sign, a point and an exponent."""
    mantissa, mark, exponent = unsigned(word).replace("E", "e").partition("e")
    whole, _, part = mantissa.partition(".")
    groups = [whole + part, unsigned(exponent)] if mark else [whole + part]
    if not all(group and all(char in "0123456789" for char in group) for group in groups):
        return None
    return float(word) if abs(float(word)) != float("inf") else None


def unsigned(word: str) -> str:
    return word[1:] if word[:1] in ("+", "-") else word


def naive_table(
    data: bytes, separator: str, quote: bool, kinds: dict[str, str]
) -> tuple[list[tuple[str | float | None, ...]], list[str]]:
    """The records of a file with a header, columns by name, and its rows that cannot be used."""
    header, *lines = naive_lines(data)
    names = naive_fields(header.decode(), separator, quote) or []
    good, bad = [], []
    for line in lines:
        words = naive_fields(line.decode(), separator, quote)
        values: tuple[str | float | None, ...] = (None,)
        if words is not None and len(words) == len(names):
            values = tuple(naive_value(words[names.index(name)], kind) for name, kind in kinds.items())
        if None in values:
            bad.append(line.decode())
        else:
            good.append(values)
    return good, bad


# --- files of every kind -------------------------------------------------------------------------------


def as_csv(pairs: list[Pair], names: Pair | None = ("node", "topic"), end: str = "\n") -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator=end)
    writer.writerows(([names] if names else []) + pairs)
    return out.getvalue().encode()


def as_tsv(pairs: list[Pair], names: Pair | None = ("node", "topic"), end: str = "\n") -> bytes:
    rows = ([names] if names else []) + pairs
    return "".join(f"{first}\t{second}{end}" for first, second in rows).encode()


def as_json(pairs: list[Pair]) -> bytes:
    return "".join(json.dumps({"node": a, "topic": b}) + "\n" for a, b in pairs).encode()


def as_parquet(pairs: list[Pair], path: Path) -> None:
    columns = {"node": [a for a, _ in pairs], "topic": [b for _, b in pairs]}
    pq.write_table(pa.table(columns), path)


def compressed(data: bytes, kind: str) -> bytes:
    """The data as a file with this ending holds them."""
    if kind == "gz":
        return gzip.compress(data)
    if kind == "bz2":
        return bz2.compress(data)
    if kind == "zst":
        out = pa.BufferOutputStream()
        with pa.CompressedOutputStream(out, "zstd") as stream:
            stream.write(data)
        return out.getvalue().to_pybytes()
    if kind == "snappy":
        return hadoop_snappy(data)
    return data


def snappy_block(data: bytes) -> bytes:
    return pa.compress(data, codec="snappy", asbytes=True)


def hadoop_snappy(data: bytes, block: int = 1000, piece: int = 300) -> bytes:
    """Hadoop's wrapping: blocks of (length of content, pieces of (length, snappy))."""
    out = b""
    for start in range(0, len(data), block):
        content = data[start : start + block]
        out += len(content).to_bytes(4, "big")
        for at in range(0, len(content), piece):
            packed = snappy_block(content[at : at + piece])
            out += len(packed).to_bytes(4, "big") + packed
    return out


def framed_snappy(data: bytes, chunk: int = 500) -> bytes:
    """The official framing, compressed and plain chunks in turn, with a padding chunk between them."""
    out = b"\xff\x06\x00\x00sNaPpY"
    for number, start in enumerate(range(0, len(data), chunk)):
        plain = data[start : start + chunk]
        body = b"\0\0\0\0" + (plain if number % 2 else snappy_block(plain))
        out += bytes([number % 2]) + len(body).to_bytes(3, "little") + body
        out += b"\xfe\x02\x00\x00zz"
    return out
