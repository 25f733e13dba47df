"""Starts and stops real brokers on this machine and proves what they deliver. Where to look:

runner.py               a run from beginning to end; running.py: a mesh that runs
target.py               what the runner asks of one kind of broker
relocate, doors.py      an exported mesh moved to loopback addresses and free ports
proof, inbox.py         what must arrive, what did, and the verdict; failover.py: with brokers killed
processes, signals.py   nothing is left behind, whatever happens; daemons.py: calls that may hang
ports, usage, tls.py    free ports; sockets, memory and processor time; whom clients trust
"""
