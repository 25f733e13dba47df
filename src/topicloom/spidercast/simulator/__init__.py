"""Many SpiderCast nodes in virtual time."""
