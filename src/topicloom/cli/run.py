"""`topicloom run`: an exported mesh on this machine, and the proof of what it delivers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.base.counts import counted
from topicloom.cli.console import Screen
from topicloom.cli.options import ReportFile, Seed
from topicloom.cli.run_compare import run_comparison
from topicloom.cli.run_load import broken_line, latency_line, rate_lines, slowest_lines
from topicloom.cli.run_rollout import run_change
from topicloom.cli.tables import figures_table
from topicloom.errors import UsageError

if TYPE_CHECKING:  # running brokers needs more than the other commands should wait for
    from topicloom.mesh.jobs.run import RunSummary

EXAMPLES = """
topicloom export mosquitto my-overlay --out mesh
topicloom run mosquitto mesh
topicloom run mosquitto mesh --messages 100 --json
topicloom run mosquitto mesh --kill all          (each broker once: does the rest go on?)
topicloom run nats mesh --freeze n7              (as if its machine hung: who notices, and when?)
topicloom run nats mesh --attack n7              (what can somebody do with the files of n7?)
topicloom run mosquitto mesh --cut all           (every link at once, under load: what is lost?)
topicloom run mosquitto mesh --rate              (faster and faster until queues drop)
topicloom run mosquitto mesh --rollout change    (as planned by topicloom mesh rollout)
topicloom run mosquitto mesh --compare           (beside a full mesh, a star and rings)
"""
KINDS = "mosquitto, nats or zenoh"  # written here, so that help loads no kind
SHOWN = 5  # witnesses of each fault


def run(
    screen: Screen,
    kind: Annotated[str, typer.Argument(help=f"The kind of broker that DIR was exported for: {KINDS}.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `topicloom export` wrote.")],
    messages: Annotated[int, typer.Option(min=1, help="Messages on every topic.")] = 10,
    kill: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NODE",
            help="After the proof kill this node's broker, time until its topics flow again, bring it back; "
            "`all`: one node after the other.",
        ),
    ] = None,
    freeze: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NODE",
            help="After the proof freeze this node's broker, time until its neighbors notice, let it go on; "
            "`all`: one node after the other.",
        ),
    ] = None,
    attack: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NODE",
            help="After the proof try all that this node's files and clients know at every other broker, and "
            "take its own broker over: nothing it does not carry may be read or written; `all`: one by one.",
        ),
    ] = None,
    cut: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LINK",
            help="After the proof cut this link of manifest.json for some seconds while messages flow: what "
            "is lost? `all`, and links named together, are cut at once.",
        ),
    ] = None,
    stall: Annotated[
        list[str] | None,
        typer.Option(metavar="LINK", help="Like --cut, but the link stays open and nothing comes through."),
    ] = None,
    rate: Annotated[bool, "After the proof publish faster and faster, until brokers drop messages."] = False,
    rollout: Annotated[
        Path | None,
        typer.Option(
            metavar="CHANGE",
            help="Play the roll-out that `topicloom mesh rollout DIR ... --out CHANGE` planned, broker by "
            "broker, with traffic flowing.",
        ),
    ] = None,
    turn_back: Annotated[
        bool, "With --rollout: stop in the middle of the second phase and return to the old mesh."
    ] = False,
    compare: Annotated[
        bool, "Run the same interest on a ring per topic, a star and a full mesh too."
    ] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to get ready.")] = 60.0,
    settle: Annotated[
        float, typer.Option(min=0, help="Seconds in which late duplicates and strays would show.")
    ] = 1.0,
    report: ReportFile = None,
    hosts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --report: hosts with columns x and y, for the drawing."),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Start the brokers of an exported folder on free ports of this machine and prove what they deliver.

    Exit 0 if every subscriber of every topic got every message exactly once and no broker carried a message
    that its node does not want, 1 if not. No broker is left running, also after Ctrl-C.
    """
    from topicloom.mesh.jobs.run import run_folder
    from topicloom.mesh.run.running_mesh import RunSettings

    settings = RunSettings(
        messages=messages,
        seed=seed,
        timeout=timeout,
        settle=settle,
        kill=tuple(kill or ()),
        freeze=tuple(freeze or ()),
        attack=tuple(attack or ()),
        cut=tuple(cut or ()),
        stall=tuple(stall or ()),
        rate=rate,
    )
    if report is not None:
        from topicloom.report.sources.meshes import read_exported
        from topicloom.report.write import check_report_path, write_subject

        check_report_path(report)
        read_exported(folder, hosts=hosts)  # coordinates that cannot be read are told before the run
    elif hosts is not None:
        raise UsageError("--hosts goes with --report: it says where brokers are drawn")
    if rollout is not None:
        if report is not None:
            raise UsageError("--report goes without --rollout: it is about one mesh")
        return run_change(screen, kind, folder, rollout, settings, turn_back=turn_back)
    if turn_back:
        raise UsageError("--turn-back goes with --rollout")
    if compare:
        if report is not None:
            raise UsageError("--report goes without --compare: it is about one mesh")
        return run_comparison(screen, kind, folder, settings)
    with screen.working() as progress:
        summary = run_folder(kind, folder, settings, progress=progress)
        if report is not None:
            write_subject(read_exported(folder, hosts=hosts, run=summary), report, progress=progress)
            screen.say(f"report: {report}")
    lines = [
        *slowest_lines(summary),
        *_faults(summary),
        *_failovers(summary),
        *_freezes(summary),
        *_attacks(summary),
    ]
    lines += [*map(broken_line, summary.broken), *rate_lines(summary), _told(summary)]
    if summary.tls:
        lines.append("certificates fit the hosts of manifest.json; here all brokers are on 127.0.0.1")
    screen.report(summary, figures_table(None, _figures(summary)), *lines, holds=summary.exact)


def _figures(summary: RunSummary) -> list[tuple[str, str]]:
    from topicloom.mesh.kinds.registry import runnable

    delivered = max(summary.delivered, 1)
    return [
        ("brokers", f"{summary.nodes:,}"),
        ("links", _links(summary)),
        ("connections of a broker", _connections(summary)),
        ("hops of a message", f"at most {summary.hops_max:,}"),
        ("latency", latency_line(summary)),
        ("ready after", f"{summary.seconds_ready:.1f} s"),
        ("published", f"{summary.published:,} on {counted(summary.topics, 'topic')}"),
        ("delivered", f"{summary.delivered:,} of {summary.expected:,}"),
        ("duplicates", f"{summary.duplicates:,}"),
        ("strays", f"{summary.strays:,}"),
        *_retained(summary),
        ("deliveries", f"{summary.delivered / max(summary.seconds_deliver, 1e-9):,.0f} per second"),
        ("CPU of brokers", f"{summary.cpu_seconds:.2f} s{runnable()[summary.kind].cpu_remark}"),
        (
            "while delivering",
            f"{summary.cpu_seconds_deliver * 1e6 / delivered:.0f} ms per 1,000 deliveries",
        ),
        ("memory of brokers", f"{summary.memory_bytes / 1e6:,.0f} MB"),
    ]


def _retained(summary: RunSummary) -> list[tuple[str, str]]:
    found = summary.retained
    if found is None or not found.values:
        return []
    return [("retained values", f"{found.values - found.wrong:,} of {found.values:,} right")]


def _links(summary: RunSummary) -> str:
    away = f", {summary.links_at_backups:,} at their backups" if summary.links_at_backups else ""
    return f"{summary.links:,} ({summary.connections_open:,} connections open{away})"


def _connections(summary: RunSummary) -> str:
    planned, found = summary.connections_per_node_max, summary.connections_open_max
    return f"at most {planned:,}" + (f" planned, {found:,} open" if found != planned else "")


def _faults(summary: RunSummary) -> list[str]:
    lines = [
        f"missing: {one.node} did not get {one.topic} message {one.message} of {one.publisher}"
        for one in summary.missing[:SHOWN]
    ]
    lines += [
        f"duplicate: {one.node} got message {one.message} on {one.topic} more than once"
        for one in summary.duplicate_witnesses[:SHOWN]
    ]
    return lines + [f"stray: {one.node} {one.detail}" for one in summary.stray_witnesses[:SHOWN]]


def _failovers(summary: RunSummary) -> list[str]:
    lines = []
    for one in summary.failover:
        line = f"without {one.node}: {one.interrupted:,} of its {counted(one.topics, 'topic')} interrupted"
        if one.recovered:
            line += f", {one.recovered:,} whole again"
        if one.apart:
            line += f", {one.apart:,} stay split, joined by no safe backup"
        if one.lost:
            line += f", {one.lost:,} DID NOT RECOVER"
        if one.seconds_max is not None:
            line += f"; backups took {one.seconds_median:.1f} s (median), at most {one.seconds_max:.1f} s"
        strays = "strays not judged" if one.strays is None else f"{one.strays:,} strays"
        line += f"; then {one.missing:,} missing, {one.duplicates:,} duplicates, {strays}; "
        line += "exact again" if one.exact_again else "NOT exact again"
        line += f" {one.seconds_back:.1f} s after its return"
        if one.links_at_backups:
            line += f", with {counted(one.links_at_backups, 'link')} still at their backups"
        lines.append(line)
    return lines


def _freezes(summary: RunSummary) -> list[str]:
    lines = []
    for one in summary.frozen:
        when = "NOT all" if one.seconds_max is None else f"the last after {one.seconds_max:.1f} s"
        again = "exact again" if one.exact_again else "NOT exact again"
        lines.append(
            f"{one.node} frozen: {one.noticed:,} of {one.neighbors:,} neighbors noticed in time, {when}; "
            f"{again} {one.seconds_back:.1f} s after it went on"
        )
    return lines


def _attacks(summary: RunSummary) -> list[str]:
    lines = []
    for one in summary.attacks:
        line = (
            f"with all that {one.node} knows: {one.attempts:,} logins tried, {one.logins:,} let in, its own "
        )
        line += f"broker taken over; of {counted(one.foreign_topics, 'topic')} that it does not carry "
        line += f"{len(one.read):,} read"
        lines.append(
            f"{line}, {len(one.written):,} written{': ' if not one.held else ''}"
            + ", ".join([*one.read, *one.written][:SHOWN])
        )
        if one.limit is not None:
            lines.append(f"not tried, and possible: {one.limit}")
    return lines


def _told(summary: RunSummary) -> str:
    if summary.storm:
        return "NOT exact: messages go round and round, so it was ended; a topic has a cycle of links"
    proof = summary.delivered == summary.expected and not summary.duplicates and not summary.strays
    if not proof:
        return (
            f"NOT exact: {summary.expected - summary.delivered:,} deliveries missing, "
            f"{summary.duplicates:,} duplicates, {summary.strays:,} strays"
        )
    if summary.retained is not None and summary.retained.wrong:
        return f"NOT as it should be: brokers retain {summary.retained.wrong:,} wrong values"
    if not summary.exact:
        return "exact at first, but not all was well when something was broken or attacked"
    proved = "every subscriber got every message exactly once, and no broker carried what it does not want"
    if any(one.apart for one in summary.failover):
        return f"proved while all brokers ran: {proved}; split topics wait for the return of a broker"
    return f"proved: {proved}"
