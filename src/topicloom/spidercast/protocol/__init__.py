"""SpiderCast [Chockler2007b] without sockets, clocks or threads: nodes that find a topic-connected overlay.

`Node` is fed with messages and time and gives back effects; `simulator/` drives many of them in virtual time.
The rules of a link's life stand in `link_rules.py`, the words on the wire in `messages.py`.
"""
