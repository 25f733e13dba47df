"""XXH64 in plain Python numbers, following the steps of its specification one by one."""

from __future__ import annotations

MASK = (1 << 64) - 1
P1, P2, P3 = 11400714785074694791, 14029467366897019727, 1609587929392839161
P4, P5 = 9650029242287828579, 2870177450012600261


def rotate(value: int, count: int) -> int:
    return ((value << count) | (value >> (64 - count))) & MASK


def mix(lane: int, word: int) -> int:
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def naive_xxh64(data: bytes, seed: int) -> int:
    length, rest = len(data), data
    if length >= 32:
        lanes = [seed + P1 + P2, seed + P2, seed, seed - P1]
        while len(rest) >= 32:
            words = [int.from_bytes(rest[8 * i : 8 * i + 8], "little") for i in range(4)]
            lanes = [mix(lane & MASK, word) for lane, word in zip(lanes, words, strict=True)]
            rest = rest[32:]
        value = sum(rotate(lane, count) for lane, count in zip(lanes, (1, 7, 12, 18), strict=True)) & MASK
        for lane in lanes:
            value = ((value ^ mix(0, lane)) * P1 + P4) & MASK
    else:
        value = (seed + P5) & MASK
    value = (value + length) & MASK
    while len(rest) >= 8:
        value = (rotate(value ^ mix(0, int.from_bytes(rest[:8], "little")), 27) * P1 + P4) & MASK
        rest = rest[8:]
    if len(rest) >= 4:
        word = int.from_bytes(rest[:4], "little")
        value = (rotate(value ^ (word * P1 & MASK), 23) * P2 + P3) & MASK
        rest = rest[4:]
    for byte in rest:
        value = rotate(value ^ (byte * P5 & MASK), 11) * P1 & MASK
    value = (value ^ (value >> 33)) * P2 & MASK
    value = (value ^ (value >> 29)) * P3 & MASK
    return value ^ (value >> 32)
