"""Users and brokers of [Zhao2011, IV-C, V], as cores without clock, socket or thread.

`user.py` and `broker.py` are the two cores; `user_rules.py` says what a broker does about a user and what is
promised. The paper's API, who calls it, and who does what it asks for:

| paper | here | called by | carried out by |
|---|---|---|---|
| register() | message Register | `User.start` | `Migration.on_register` |
| summarize() | `RateCounter.rates` | `Migration.on_accept`, `UserRecord.flow` | `RateCounter` |
| request_to_move() | RequestToMove | `Broker.ask_users_to_move` | `User`, by its policy |
| accept(), decline | messages Accept, Decline | the user's policy | `Migration.on_accept`, `on_decline` |
| replicate() | message Replicate | `Migration.on_accept` | `Migration.on_replicate` |
| connect() | message Connect | `User`, when it is told Ready | `Migration.on_connect` |
| redirect() | message Redirect | `BrokerState.deliver`, for `BrokerSettings.ttl` | `Migration.on_redirect` |
"""
