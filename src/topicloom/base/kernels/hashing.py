"""XXH64 over many strings at once, equal to Spark's `xxhash64` bit for bit.

Strings come as Arrow keeps them: all bytes in one buffer, and where each string starts and ends. Hashing two
strings one after the other, the first hash being the seed of the second, is Spark's hash of two columns.
The algorithm is Yann Collet's xxHash (64 bits), as its public specification describes it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Bytes, Ints, Longs, Words, sealed
from topicloom.base.kernels.jit import inlined, kernel, part

SPARK_SEED = 42  # the seed of Spark's SQL function `xxhash64`
_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)


def string_buffers(strings: pa.Array) -> tuple[Bytes, Longs]:
    """All bytes of an Arrow string array, and the n + 1 places where its strings begin and end."""
    wide = pa.types.is_large_string(strings.type)
    offsets, data = strings.buffers()[1:3]
    if len(strings) == 0 or offsets is None:
        places = np.zeros(1, dtype=np.int64)
    else:
        raw = np.frombuffer(offsets, dtype=np.int64 if wide else np.int32)
        places = raw[strings.offset : strings.offset + len(strings) + 1].astype(np.int64)
    content = np.frombuffer(data if data is not None and data.size else b"\0", dtype=np.uint8)
    return sealed(content), places


def hash_strings(strings: pa.Array, seed: int = SPARK_SEED) -> Words:
    """The XXH64 of every string's UTF-8 bytes.

    >>> hex(hash_strings(pa.array([""]), 0)[0])
    '0xef46db3751d8e999'
    """
    content, places = string_buffers(strings)
    hashes = np.empty(len(places) - 1, dtype=np.uint64)
    with np.errstate(over="ignore"):  # without the compiler these are numpy numbers, which warn
        _hash_all(content, places, np.uint64(seed % (1 << 64)), hashes)
    return hashes


def hash_number(number: int, seeds: Words) -> Words:
    """The XXH64 of one 64-bit number under each of the seeds.

    With the hashes of strings as seeds it is Spark's `xxhash64(string, cast(number as bigint))`.
    """
    data = np.frombuffer((number % (1 << 64)).to_bytes(8, "little"), dtype=np.uint8)
    with np.errstate(over="ignore"):
        return _hash_under(data, seeds)


def hash_numbers(numbers: Longs, seeds: Words) -> Words:
    """The XXH64 of each 64-bit number under its own seed: Spark's hash of a further column.

    A number of floating point is hashed by its bits, and Spark knows one zero only.

    >>> int(hash_numbers(np.array([7]), np.array([42], np.uint64))[0]) == int(
    ...     hash_number(7, np.array([42], np.uint64))[0])
    True
    """
    with np.errstate(over="ignore"):
        words = numbers.view(np.uint64) * _P2
        words = ((words << np.uint64(31)) | (words >> np.uint64(33))) * _P1
        value = (seeds + _P5 + np.uint64(8)) ^ words
        value = ((value << np.uint64(27)) | (value >> np.uint64(37))) * _P1 + _P4
        value = (value ^ (value >> np.uint64(33))) * _P2
        value = (value ^ (value >> np.uint64(29))) * _P3
        return value ^ (value >> np.uint64(32))


def xor_of_pairs(first: Words, ptr: Longs, second: Ints, strings: pa.Array) -> int:
    """The exclusive or, over all pairs, of the hash of `strings[second[j]]` seeded by its owner's hash.

    `second[ptr[i]:ptr[i+1]]` are the strings paired with owner i. It does not depend on any order.
    """
    content, places = string_buffers(strings)
    with np.errstate(over="ignore"):
        return int(_xor_pairs(first, ptr, second, content, places))


@inlined
def _rotated(value: np.uint64, count: int) -> np.uint64:
    return (value << np.uint64(count)) | (value >> np.uint64(64 - count))


@part
def _word(data: Bytes, at: int, count: int) -> np.uint64:
    """`count` bytes as one little-endian number."""
    value = np.uint64(0)
    for i in range(count):
        value |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return value


@inlined
def _round(lane: np.uint64, word: np.uint64) -> np.uint64:
    return _rotated(lane + word * _P2, 31) * _P1


@inlined
def _merged(value: np.uint64, lane: np.uint64) -> np.uint64:
    return (value ^ _round(np.uint64(0), lane)) * _P1 + _P4


@part
def _xxh64(data: Bytes, start: int, stop: int, seed: np.uint64) -> np.uint64:
    at = start
    if stop - start >= 32:
        a, b, c, d = seed + _P1 + _P2, seed + _P2, seed, seed - _P1
        while at + 32 <= stop:
            a = _round(a, _word(data, at, 8))
            b = _round(b, _word(data, at + 8, 8))
            c = _round(c, _word(data, at + 16, 8))
            d = _round(d, _word(data, at + 24, 8))
            at += 32
        value = _rotated(a, 1) + _rotated(b, 7) + _rotated(c, 12) + _rotated(d, 18)
        value = _merged(_merged(_merged(_merged(value, a), b), c), d)
    else:
        value = seed + _P5
    value += np.uint64(stop - start)
    while at + 8 <= stop:
        value = _rotated(value ^ _round(np.uint64(0), _word(data, at, 8)), 27) * _P1 + _P4
        at += 8
    if at + 4 <= stop:
        value = _rotated(value ^ (_word(data, at, 4) * _P1), 23) * _P2 + _P3
        at += 4
    while at < stop:
        value = _rotated(value ^ (np.uint64(data[at]) * _P5), 11) * _P1
        at += 1
    value = (value ^ (value >> np.uint64(33))) * _P2
    value = (value ^ (value >> np.uint64(29))) * _P3
    return value ^ (value >> np.uint64(32))


@kernel
def _hash_all(data: Bytes, places: Longs, seed: np.uint64, hashes: Words) -> None:
    for i in range(len(hashes)):
        hashes[i] = _xxh64(data, places[i], places[i + 1], seed)


@kernel
def _hash_under(data: Bytes, seeds: Words) -> Words:
    hashes = np.empty_like(seeds)
    for i in range(len(seeds)):
        hashes[i] = _xxh64(data, 0, len(data), seeds[i])
    return hashes


@kernel
def _xor_pairs(first: Words, ptr: Longs, second: Ints, data: Bytes, places: Longs) -> np.uint64:
    result = np.uint64(0)
    for i in range(len(first)):
        for j in range(ptr[i], ptr[i + 1]):
            k = second[j]
            result ^= _xxh64(data, places[k], places[k + 1], first[i])
    return result
