"""What no message repeats: passwords of configurations, values of the environment, logins in URLs."""

from __future__ import annotations

import re
from collections.abc import Iterable

STARS = "***"
SHORT = 6  # a shorter secret is only hidden where it stands alone: it may be a part of any word
_LOGIN = re.compile(r"//[^/\s@\"']*@")


def hide(text: str, secrets: Iterable[str]) -> str:
    """Return a text without these secrets, and without logins in URLs.

    >>> hide("dial nats://me:pw@hub: a-long-one is wrong, pw is not", ["pw", "a-long-one"])
    'dial nats://***@hub: *** is wrong, *** is not'
    """
    text = _LOGIN.sub(f"//{STARS}@", text)
    for secret in sorted({*secrets} - {""}, key=len, reverse=True):
        edge = (r"(?<!\w)", r"(?!\w)") if len(secret) < SHORT else ("", "")
        text = re.sub(re.escape(secret).join(edge), STARS, text)
    return text
