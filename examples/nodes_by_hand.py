"""Drive SpiderCast nodes by hand: no simulator, no sockets, only a clock that we advance ourselves.

Run: python examples/nodes_by_hand.py
"""

from heapq import heappop, heappush
from itertools import count
from random import Random

from topicloom.spidercast import Deliver, Node, PlainView, Send

WANTS = {
    "kitchen": {"smoke", "temperature"},
    "hall": {"smoke", "motion"},
    "cellar": {"smoke", "energy"},
    "garage": {"energy", "motion"},
    "office": {"temperature", "energy"},
}
DELAY = 0.01

view = PlainView({name: frozenset(topics) for name, topics in WANTS.items()})
rng = Random(1)
nodes = {name: Node(name, topics, membership=lambda context: view, rng=rng) for name, topics in WANTS.items()}
mail = []  # a heap of (arrival, order, receiver, sender, message)
order = count()


def settle(name: str, now: float) -> None:
    """Carry out the effects of a node. Without connections, LinkUp and LinkDown need no action."""
    for effect in nodes[name].take_effects():
        if isinstance(effect, Send):
            for receiver in effect.to:
                heappush(mail, (now + DELAY, next(order), receiver, name, effect.message))
        elif isinstance(effect, Deliver):
            print(f"{now:.2f} s: {name} gets {effect.event.payload.decode()!r} after {effect.hops} hops")


def run(until: float, now: float = 0.0) -> float:
    """Feed the next message or timer until the time is up."""
    while True:
        due, name = min((node.next_timer(), name) for name, node in nodes.items())
        if mail and mail[0][0] <= due:
            now, _, name, sender, message = heappop(mail)
            nodes[name].receive(sender, message, now)
        else:
            now = due
            if now > until:
                return until
            nodes[name].handle_timer(now)
        settle(name, now)


for name, node in nodes.items():
    node.start(0.0)
    settle(name, 0.0)
now = run(5.0)
for name, node in nodes.items():
    print(f"{name}: {', '.join(sorted(map(str, node.neighbors)))}")
nodes["cellar"].publish("smoke", b"fire!", now)
settle("cellar", now)
run(6.0, now)
