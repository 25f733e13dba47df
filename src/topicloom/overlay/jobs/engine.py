"""Where a build runs: in this process, or on Spark; by size, not by what the machine happens to have."""

from __future__ import annotations

from topicloom.errors import UsageError
from topicloom.overlay.builders.registry import BUILDERS, find_builder

# Up to so many subscriptions `auto` builds in this process, which then needs about 3 GB at most.
LOCAL_SUBSCRIPTIONS = 10_000_000


def check_engine(engine: str, algorithm: str | None, *, in_memory: str | None, resume: bool) -> None:
    """Refuse an engine that cannot do what is asked; `in_memory` names an option that Spark cannot take."""
    if engine == "spark" and algorithm is not None and "spark" not in find_builder(algorithm).engines:
        able = [name for name, builder in BUILDERS.items() if "spark" in builder.engines]
        raise UsageError(f"`engine=spark`: {algorithm} runs on local only; {', '.join(able)} run on spark")
    if engine == "spark" and in_memory is not None:
        raise UsageError(
            f"{in_memory} needs the interest in memory, and this build runs on Spark: leave it out"
        )
    if engine == "local" and resume:
        raise UsageError(
            "`resume`: only `engine=spark` keeps what a run has done so far; leave one of them out"
        )


def choose_engine(algorithm: str, subscriptions: int, *, in_memory: str | None) -> tuple[str, str]:
    """Return what `--engine auto` means for this builder and so many subscriptions, and why.

    The reason is empty where nobody needs to be told.
    """
    if "spark" not in find_builder(algorithm).engines:
        return "local", ""
    size = f"{subscriptions:,} subscriptions"
    if subscriptions <= LOCAL_SUBSCRIPTIONS:
        why = f"{size}, up to {LOCAL_SUBSCRIPTIONS:,} are built in this process; or give `engine=spark`"
        return "local", f"engine local: {why}"
    if in_memory is not None:
        return "local", f"engine local: {in_memory} needs the interest in memory"
    why = f"{size}, more than the {LOCAL_SUBSCRIPTIONS:,} that are built in this process"
    return "spark", f"engine spark: {why}; `engine=local` does so all the same"
