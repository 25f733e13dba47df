"""Text tables the slow, obvious way: character by character, as RFC 4180 reads; and writers of files."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
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
    """The first two fields of a line that ends in `\\r` or nothing, or None where the row must be refused."""
    if line.endswith(b"\r"):
        line = line[:-1]
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return None
    fields = naive_fields(text, separator, quote)
    if fields is None or len(fields) != n_fields or not fields[0] or not fields[1]:
        return None
    return fields[0], fields[1]


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
