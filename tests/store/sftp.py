"""A real SFTP server on loopback, for `sftp:` of Spark's own jars: it serves one folder to one user."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncssh

USER, PASSWORD = "loom", "secret"


class _OneUser(asyncssh.SSHServer):
    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, PASSWORD)


@contextmanager
def sftp_server(root: Path) -> Iterator[int]:
    """Serve `root` inside the block; gives the port."""
    root.mkdir(parents=True, exist_ok=True)
    loop, started, ports = asyncio.new_event_loop(), threading.Event(), []

    async def serve() -> asyncssh.SSHAcceptor:
        return await asyncssh.create_server(
            _OneUser,
            "127.0.0.1",
            0,
            # Hadoop's client is from 2018: an elliptic key is what both know.
            server_host_keys=[asyncssh.generate_private_key("ecdsa-sha2-nistp256")],
            sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=str(root).encode()),
        )

    def run() -> None:
        asyncio.set_event_loop(loop)
        acceptor = loop.run_until_complete(serve())
        ports.append(acceptor.get_port())
        started.set()
        loop.run_forever()
        acceptor.close()
        open_ones = asyncio.all_tasks(loop)  # connections that Hadoop keeps for later
        for task in open_ones:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*open_ones, return_exceptions=True))
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(30), "the server did not start"
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def sftp_conf() -> dict[str, str]:
    """Settings by which Hadoop finds the file system, and its user."""
    return {
        "fs.sftp.impl": "org.apache.hadoop.fs.sftp.SFTPFileSystem",
        "fs.sftp.user.127.0.0.1": USER,
        f"fs.sftp.password.127.0.0.1.{USER}": PASSWORD,
    }
