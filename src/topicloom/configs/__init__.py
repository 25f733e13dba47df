"""The configuration languages of brokers, hand-written files too. Where to look:

where.py            file and line of everything, addresses; every fault names them
folder.py           which files of a folder are brokers, what they are called, whose an address is
mosquitto*.py       mosquitto.conf: its lines, its words, listeners and bridges
mqtt_*.py           names and patterns of MQTT
nats*.py            the language of NATS, read and written; its words, accounts and leaf nodes
"""
