"""SpiderCast [Chockler2007b] without sockets, clocks or threads: nodes that find a topic-connected overlay.

`Node` is fed with messages and time and returns effects; `simulator/` drives many of them in virtual time.
`link_rules.py` has the rules of a link, `messages.py` everything nodes say to each other.
"""
