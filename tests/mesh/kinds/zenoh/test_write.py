"""Zenoh configurations: their text, and what real routers make of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from brokers_present import needs_openssl, wait_for, zenoh_module
from mesh.certificates import make_certificates
from mesh.mesh_cases import CLASS_OF, FORESTS, ORDER, on_free_ports, small_request, write_files
from mesh.nasty_topics import NASTY
from topicloom.errors import InputError
from topicloom.mesh.kinds.zenoh.write import NAMES, SHAPE, export_zenoh, render
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.hosts import Place, address
from topicloom.mesh.plan.mesh_plan import MeshPlan, plan_mesh
from topicloom.mesh.plan.request import Request

LOGINS = {node: Login(f'user "{node}"', f"p:@ss\\ wörd: {node}") for node in "abcd"}


def plan(request: Request) -> MeshPlan:
    return plan_mesh(request, SHAPE, FORESTS, ORDER, CLASS_OF)


def test_a_router_for_each_node_and_account() -> None:
    planned = plan(small_request())
    files, secret = render(planned, small_request())
    assert list(files) == ["a~A0.json5", "a~A1.json5", "b~A0.json5", "c~A0.json5", "c~A1.json5", "d~A1.json5"]
    ports = [port for node in planned.mesh.nodes for port in node.ports.values()]
    assert ports == [7447, 7448, 7449, 7450, 7451, 7452]
    assert '"endpoints": [\n      "tcp/127.0.0.1:7448",\n      "tcp/127.0.0.1:7451"' in files["d~A1.json5"]
    assert not secret


def test_a_chosen_port_is_that_of_the_first_account() -> None:
    places = dict.fromkeys("bcd", Place("h")) | {"a": Place("h", 9000)}
    planned = plan(small_request(places=places))
    assert planned.node["a"].ports == {"A0": 9000, "A1": 7447}


def test_routers_do_not_all_dial_again_at_the_same_moment(tmp_path: Path) -> None:
    """Zenoh adds nothing random to its back-off, and all had the same one."""
    export_zenoh(small_request(), tmp_path)
    found = {
        re.search(r'"period_init_ms": (\d+)', path.read_text())[1]  # type: ignore[index]
        for path in tmp_path.glob("*.json5")
    }
    assert len(found) > 2


def test_certificates_and_ipv6_addresses_do_not_go_together(tmp_path: Path) -> None:
    request = small_request(places=dict.fromkeys("abcd", Place("2001:db8::1")), tls=tmp_path)
    with pytest.raises(InputError, match="zenoh cannot check a certificate against the IPv6 address"):
        export_zenoh(request, tmp_path)


@needs_openssl
@pytest.mark.parametrize(("host", "secure"), [("::1", False), ("127.0.0.1", True)])
def test_routers_form_the_forests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, secure: bool
) -> None:
    """Real routers with our configurations are linked as planned, and a message takes the forest's way."""
    zenoh = zenoh_module()
    monkeypatch.chdir(tmp_path)  # relative paths begin at the folder it is started in
    options = {"logins": LOGINS, "tls": make_certificates(tmp_path / "tls", "abcd")} if secure else {}
    request = small_request(places=dict.fromkeys("abcd", Place(host)), **options)
    planned = on_free_ports(plan(request))
    write_files(tmp_path, render(planned, request)[0])
    routers = {
        (node.name, account): zenoh.open(zenoh.Config.from_file(str(tmp_path / config)))
        for node in planned.mesh.nodes
        for account, config in zip(node.ports, node.configs, strict=True)
    }
    try:
        degree = dict.fromkeys(routers, 0)
        for link in planned.mesh.links:
            for end in (link.dialer, link.acceptor):
                degree[end, link.account] += 1
        wait_for(
            lambda: all(len(routers[key].info.routers_zid()) == degree[key] for key in routers), "all links"
        )
        got: list[str] = []
        listener = routers["c", "A0"].declare_subscriber(
            "t/x", lambda sample: got.append(str(sample.key_expr))
        )
        wait_for(lambda: _published(routers["a", "A0"], got), "a message from a by b to c")
        listener.undeclare()
        if secure:
            endpoint = f"tls/{address(host, planned.node['a'].ports['A0'])}"
            assert _logs_in(zenoh, endpoint, tmp_path, LOGINS["a"].password, patience=30_000)
            assert not _logs_in(zenoh, endpoint, tmp_path, "another", patience=800)
            known = LOGINS["a"].password
            assert not _logs_in(zenoh, endpoint, tmp_path, known, patience=800, certificate=False)
    finally:
        for router in routers.values():
            router.close()
    assert os.getcwd() == str(tmp_path)


def _published(router, got: list[str]) -> bool:
    router.put("t/x", b"hello")
    return bool(got)


def _logs_in(
    zenoh, endpoint: str, folder: Path, password: str, *, patience: int, certificate: bool = True
) -> bool:
    """Whether a client gets in within so many milliseconds."""
    config = zenoh.Config()
    config.insert_json5("mode", '"client"')
    config.insert_json5("connect/endpoints", f'["{endpoint}"]')
    config.insert_json5("connect/timeout_ms", str(patience))
    config.insert_json5("connect/exit_on_failure", "true")
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("transport/link/tls/root_ca_certificate", f'"{folder}/tls/ca.crt"')
    if certificate:
        config.insert_json5("transport/link/tls/enable_mtls", "true")
        config.insert_json5("transport/link/tls/connect_certificate", f'"{folder}/tls/a.crt"')
        config.insert_json5("transport/link/tls/connect_private_key", f'"{folder}/tls/a.key"')
    config.insert_json5("transport/auth/usrpwd/user", "'user \"a\"'")
    config.insert_json5("transport/auth/usrpwd/password", f"'{password}'".replace("\\", "\\\\"))
    try:
        with zenoh.open(config) as session:
            return bool(session.info.routers_zid())
    except zenoh.ZError:
        return False


def test_zenoh_takes_every_name_as_a_key() -> None:
    """The library's own parser judges; a wildcard would be accepted too, so none may be in a name."""
    zenoh = zenoh_module()
    for topic in NASTY:
        name = NAMES.encode(topic)
        assert str(zenoh.KeyExpr(name)) == name
        assert not set(name) & set("*$?#")
    with pytest.raises(zenoh.ZError):
        zenoh.KeyExpr("a//b")
