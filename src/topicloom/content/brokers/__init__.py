"""Clients and brokers of [Zhao2011, IV-C, V], as cores without clock, socket or thread.

`client.py` and `broker.py` are the two doors; `rules.py` says what they do about a user and what is promised.
The paper's API, who calls it, and who does what it asks for:

| paper | here | called by | carried out by |
|---|---|---|---|
| register() | message Register | `Attachment.register` | `Arrivals.on_register` |
| summarize() | `Broker.summarize` | `Migration.on_accept`, `Announcer.tell_rates` | `guest.Summary` |
| request_to_move() | message RequestToMove | `Broker.look`, or by hand | `Attachment.on_request_to_move` |
| accept(), decline | messages Accept, Decline | the client's policy | `Migration.on_accept`, `on_decline` |
| replicate() | message Replicate | `Migration.on_accept` | `Arrivals.on_replicate` |
| connect() | message Connect | `Attachment.on_ready` | `Arrivals.on_connect` |
| redirect() | message Redirect | `Desk.hand`, for `Settings.ttl` | `Arrivals.on_redirect` |
"""
