"""An MQTT client on the event loop: paho-mqtt does the protocol, asyncio watches its socket.

Hundreds of clients share one thread this way. The keep-alive is off, so that no timer is needed.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from topicloom.errors import MeshError
from topicloom.mesh.model.config_files import LOOPBACK
from topicloom.mesh.run.adapter import loopback_context

ANSWER = 20.0  # seconds a broker may take for one answer


@dataclass(frozen=True, slots=True)
class MqttAccess:
    """How to get into a broker: its port, and a login and certificates where it asks for them."""

    port: int
    user: str | None = None
    password: str | None = None
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


class MqttClient:
    """One client at the broker of `node`; `got` hears topic name and payload of every message."""

    def __init__(self, node: str, name: str, access: MqttAccess, got: Callable[[str, bytes], None]) -> None:
        self.node = node
        self._access = access
        self._got = got
        self._loop = asyncio.get_running_loop()
        self._answers: dict[object, asyncio.Future[Any]] = {}
        self._client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=name, clean_session=True)
        write = self._client.loop_write
        self._client.on_socket_open = lambda _c, _u, channel: self._loop.add_reader(
            channel, self._read, channel
        )
        self._client.on_socket_register_write = lambda _c, _u, channel: self._loop.add_writer(channel, write)
        self._client.on_socket_unregister_write = lambda _c, _u, channel: self._loop.remove_writer(channel)
        self._client.on_socket_close = lambda _c, _u, channel: self._closed(channel)
        self._client.on_connect = lambda _c, _u, _f, code, _p: self._answer("connect", code)
        self._client.on_subscribe = lambda _c, _u, mid, codes, _p: self._answer(("sub", mid), codes)
        self._client.on_publish = lambda _c, _u, mid, _code, _p: self._answer(("pub", mid), None)
        self._client.on_disconnect = lambda _c, _u, _f, code, _p: self._lost(code)
        self._client.on_message = lambda _c, _u, message: self._got(message.topic, message.payload)
        if access.user is not None:
            self._client.username_pw_set(access.user, access.password)
        if access.authority is not None:
            self._client.tls_set_context(loopback_context(access.authority, access.certificate, access.key))

    async def connect(self) -> None:
        """Log in. ConnectionError: the broker does not answer (yet); MeshError: it refuses us."""
        answer = self._ask("connect")
        try:
            self._client.connect(LOOPBACK, self._access.port, keepalive=0)
        except OSError as error:
            self._answers.pop("connect").cancel()
            raise ConnectionError(f"the broker of {self.node} does not answer: {error}") from None
        code = await self._wait(answer)
        if code.is_failure:
            raise MeshError(f"the broker of {self.node} refuses a client of ours: {code}")

    @property
    def connected(self) -> bool:
        """Logged in, and not cut off since."""
        return bool(self._client.is_connected())

    async def subscribe(self, names: Sequence[str], qos: int) -> None:
        """Subscribe, and wait until the broker confirms it."""
        if names:
            _, mid = self._client.subscribe([(name, qos) for name in names])
            codes = await self._wait(self._ask(("sub", mid)))
            refused = [name for name, code in zip(names, codes, strict=True) if code.is_failure]
            if refused:
                raise MeshError(f"the broker of {self.node} refuses a subscription to {refused[0]}")

    async def publish(self, name: str, payload: bytes, *, retain: bool = False) -> None:
        """Hand over one message at QoS 1; return when the broker has it."""
        info = self._client.publish(name, payload, qos=1, retain=retain)
        if info.rc not in (mqtt.MQTT_ERR_SUCCESS, mqtt.MQTT_ERR_QUEUE_SIZE):
            raise ConnectionError(f"the broker of {self.node} is gone: {mqtt.error_string(info.rc)}")
        if not info.is_published():
            await self._wait(self._ask(("pub", info.mid)))

    def close(self) -> None:
        """Leave; nothing happens if the broker is gone already."""
        self._client.disconnect()
        while self._client.socket() is not None and self._client.want_write():
            if self._client.loop_write() != mqtt.MQTT_ERR_SUCCESS:
                break

    # --- answers -----------------------------------------------------------------------------------

    def _ask(self, key: object) -> asyncio.Future[Any]:
        future = self._answers[key] = self._loop.create_future()
        return future

    async def _wait(self, answer: asyncio.Future[Any]) -> Any:
        try:
            return await asyncio.wait_for(answer, ANSWER)
        except TimeoutError:
            raise ConnectionError(f"the broker of {self.node} did not answer in {ANSWER:.0f} s") from None

    def _answer(self, key: object, value: Any) -> None:
        future = self._answers.pop(key, None)
        if future is not None and not future.done():
            future.set_result(value)

    def _lost(self, code: Any) -> None:
        for future in self._answers.values():
            if not future.done():
                future.set_exception(ConnectionError(f"the broker of {self.node} closed: {code}"))
                future.exception()  # so that nobody need wait for it
        self._answers.clear()

    # --- the socket --------------------------------------------------------------------------------

    def _closed(self, channel: Any) -> None:
        if self._loop.is_closed():  # after an interrupt, when paho tidies up at its own end
            return
        self._loop.remove_reader(channel)
        self._loop.remove_writer(channel)

    def _read(self, channel: Any) -> None:
        self._client.loop_read()
        # What TLS has decrypted already does not make the socket readable again.
        while isinstance(channel, ssl.SSLSocket) and self._client.socket() is channel and channel.pending():
            self._client.loop_read()
