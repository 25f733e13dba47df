"""Topics that some broker would not take as they are."""

from __future__ import annotations

NASTY = [
    "plain/topic", "plain.topic", "", "#", "+", "a+b", "*", "**", "a*b", ">", "a.>", "$SYS/x", "$SYS.x",
    "a$*b",
    "a b", "tab\tx", "nul\0x", 'quote"x', '""', "ü/ß/日本", "50%", "%41", "%-", "/" * 200, "/" * 201, "/lead",
    "a//b/", ".", "...", ".lead", "a..b.", "\ufffe", "a\u2028b", "\x85", "back\\slash",
    "topic both 1", "\u200b",
    "\ufeffbom", "emoji😀", "_R_.x", "_GR_.x", "_INBOX.x", "$JS.API.x", "@/x", "a/@b/c", "q?x", "#comment",
]  # fmt: skip
