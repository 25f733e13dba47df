"""Starts and stops real brokers on this machine and proves what they deliver. Where to look:

lifecycle, running_mesh   a run from start to finish; the mesh while it runs
adapter                   what is asked of one kind of broker; the adapters are in kinds/
relocate, free_ports      an exported mesh moved to loopback addresses and free ports
delivery, inbox           what must arrive, what did, and the verdict
failover                  brokers killed one by one, and how long their topics need
processes, signals        no process is left behind, whatever happens
resource_usage            sockets, memory and processor time
"""
