"""NATS configurations: their text, and what the real server makes of them."""

from __future__ import annotations

import asyncio
import json
import ssl
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers_present import free_ports, nats_server, needs_nats, needs_openssl, running, wait_for
from drawing import examples
from mesh.certificates import make_certificates
from mesh.mesh_cases import CLASS_OF, FORESTS, ORDER, on_free_ports, small_request, write_files
from mesh.nasty_topics import NASTY
from topicloom.mesh.kinds.nats.write import DEFAULT_PASSWORD, NAMES, SHAPE, login_of, render
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.hosts import Place, address
from topicloom.mesh.plan.mesh_plan import MeshPlan, plan_mesh
from topicloom.mesh.plan.request import Request

LOGINS = {node: Login(f'user "{node}"', f"p:@ss\\ wörd/%#{{{node}") for node in "abcd"}


def plan(request: Request) -> MeshPlan:
    return plan_mesh(request, SHAPE, FORESTS, ORDER, CLASS_OF)


def test_nodes_have_only_the_accounts_of_their_topics() -> None:
    planned = plan(small_request())
    assert planned.wanted == {"a": ("A0", "A1"), "b": ("A0",), "c": ("A0", "A1"), "d": ("A1",)}
    files, _ = render(planned, small_request())
    assert "A1" not in files["b.conf"]


def test_backups_come_after_the_acceptor_and_in_order() -> None:
    files, _ = render(plan(small_request()), small_request())
    urls = [f'"nats-leaf://A0:{DEFAULT_PASSWORD}@127.0.0.1:{port}"' for port in (7423, 7422)]
    assert f"{{urls: [{', '.join(urls)}], no_randomize: true, account: A0}}" in files["c.conf"]


def test_who_dials_may_log_in_and_nobody_else() -> None:
    request = small_request(logins=LOGINS)
    planned = plan(request)
    files, secret = render(planned, request)
    links = {"b~a~A0", "c~b~A0", "d~a~A1"}
    for name, inside in {"a.conf": links, "d.conf": set()}.items():
        text = files[name].partition("leafnodes")[0]
        assert {link for link in links if f'user: "{link}"' in text} == inside, "c has a as a backup"
        assert {node for node in "abcd" if f'"user \\"{node}\\".A1"' in text} == {name[0]}, "its own clients"
    assert set(secret) == set(files)


def test_statistics_stay_on_the_machine() -> None:
    request = small_request(places={node: Place(f"{node}.example") for node in "abcd"})
    files, _ = render(plan(request), request)
    for node in "abcd":
        assert 'listen: "0.0.0.0:4222"' in files[f"{node}.conf"]
        assert 'http: "127.0.0.1:8222"' in files[f"{node}.conf"]


PASSWORDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1, max_size=8)


@needs_nats
@examples(15)
@given(PASSWORDS)
def test_the_server_takes_every_password(tmp_path_factory: pytest.TempPathFactory, password: str) -> None:
    folder = tmp_path_factory.mktemp("passwords")
    request = small_request(logins={node: Login(node, password) for node in "abcd"})
    write_files(folder, render(plan(request), request)[0])
    done = subprocess.run(
        [nats_server(), "-t", "-c", "d.conf"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@needs_nats
@needs_openssl
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_links_come_up_with_logins_and_certificates(tmp_path: Path, host: str) -> None:
    """The real server takes our users, our certificates and our addresses, IPv6 too."""
    import nats

    request = small_request(
        places=dict.fromkeys("abcd", Place(host)),
        logins=LOGINS,
        tls=make_certificates(tmp_path / "tls", "abcd"),
    )
    planned = on_free_ports(plan(request))
    write_files(tmp_path, render(planned, request)[0])
    monitor = {
        node.name: f"http://{address(host, node.ports['monitor'])}/leafz" for node in planned.mesh.nodes
    }
    # A ring over two accounts; c may have turned to its backup a before b was there.
    expected = [{"a": 2, "b": 2, "c": 2, "d": 2}, {"a": 3, "b": 1, "c": 2, "d": 2}]

    def counts() -> dict[str, int]:
        found = {}
        for node, url in monitor.items():
            try:
                with urlopen(url, timeout=10) as answer:
                    found[node] = json.load(answer)["leafnodes"]
            except OSError:
                found[node] = -1
        return found

    async def log_in(password: str) -> None:
        trust = ssl.create_default_context(cafile=str(tmp_path / "tls" / "ca.crt"))
        client = await nats.connect(
            f"tls://{address(host, planned.node['a'].ports['client'])}",
            user=login_of(request, "a", "A1").user,
            password=password,
            tls=trust,
            allow_reconnect=False,
            connect_timeout=30,
        )
        await client.close()

    with running(*([nats_server(), "-c", f"{node}.conf"] for node in "abcd"), cwd=tmp_path) as servers:
        wait_for(lambda: counts() in expected, "all links")
        assert all(server.poll() is None for server in servers)
        asyncio.run(log_in(LOGINS["a"].password))
        with pytest.raises(nats.errors.Error):
            asyncio.run(log_in("another"))


@needs_nats
def test_nats_carries_every_name(tmp_path: Path) -> None:
    """Subscribed, published with a reply, and received: within the server's default limits."""
    import nats

    names = [NAMES.encode(topic) for topic in [*NASTY, "x" * NAMES.most_bytes]]
    port = free_ports(1)[0]

    async def exchange() -> set[str]:
        client = await nats.connect(f"nats://127.0.0.1:{port}", allow_reconnect=False, connect_timeout=30)
        got: set[str] = set()

        async def note(message) -> None:
            got.add(message.subject)

        for name in names:
            await client.subscribe(name, cb=note)
        for name in names:
            await client.publish(name, b"x", reply="_INBOX." + "r" * 100)
        await client.flush()
        await client.drain()
        return got

    with running([nats_server(), "-a", "127.0.0.1", "-p", str(port)], cwd=tmp_path):
        wait_for(lambda: "Server is ready" in (tmp_path / "log-0").read_text(), "the server")
        assert asyncio.run(exchange()) == set(names)
