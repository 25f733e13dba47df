"""From a build to graph files and broker configurations, and back. Where to look:

registry.py                   all kinds of export, one line each
mosquitto, nats, zenoh.py     the configurations of one kind of broker; gossipsub.py: lists of peers
request.py                    what an exporter is given and gives back
link_plan.py, mesh_plan.py    who dials whom, by number, proven; then hosts, ports, files and names
hosts, credentials, tls.py    what the user's files say; names.py: what topics are called on a target
gossipsub_keys.py             who a libp2p node is
baselines.py                  meshes as people build them by hand, to compare with
graphs/                       files for graph tools, written and read back
"""
