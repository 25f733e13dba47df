"""A fingerprint of an interest: equal sets of (node, topic) pairs have equal ones, whatever made them.

`spark/encode.py` computes the same text on Spark; a test compares the two.
"""

from __future__ import annotations

from topicloom.base.kernels.hashing import SPARK_SEED, hash_strings, xor_of_pairs
from topicloom.overlay.model.interest import Interest

# Hashed before node and topic in the second hash, so that the two are independent.
SECOND_PREFIX = "topicloom"


def format_digest(pairs: int, first: int, second: int) -> str:
    """Return the text of a digest: the number of pairs and two 64-bit hashes (signed or not) in hexadecimal.

    >>> format_digest(3, 255, -1)
    '3-00000000000000ffffffffffffffffff'
    """
    return f"{pairs}-{first % (1 << 64):016x}{second % (1 << 64):016x}"


def interest_digest(interest: Interest) -> str:
    """Return the digest of an interest in memory.

    Each pair is hashed over the UTF-8 bytes of its identifiers with two different beginnings; exclusive or
    makes the order of rows irrelevant. Nodes and topics without any pair do not count.

    >>> pairs = [("a", "x"), ("b", "x")]
    >>> interest_digest(Interest.from_pairs(pairs)) == interest_digest(Interest.from_pairs(pairs[::-1]))
    True
    """
    import pyarrow as pa

    prefix = int(hash_strings(pa.array([SECOND_PREFIX]), SPARK_SEED)[0])
    hashes = [
        xor_of_pairs(
            hash_strings(interest.node_ids, seed), interest.node_ptr, interest.node_topics, interest.topic_ids
        )
        for seed in (SPARK_SEED, prefix)
    ]
    return format_digest(interest.n_subscriptions, hashes[0], hashes[1])
