"""A whole build as the user asks for it, and what is refused before any work begins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from topicloom.base.progress import Progress
from topicloom.overlay.builders.registry import check_honours
from topicloom.overlay.jobs.constraints import ConstraintFiles
from topicloom.overlay.jobs.engine import check_engine
from topicloom.overlay.jobs.inputs import InterestTable
from topicloom.overlay.jobs.request import BuildRequest
from topicloom.overlay.model.build_folder import PHASES, check_replaceable, whole_phases
from topicloom.tables.spark.spark_choice import Notice, SparkChoice, no_notice

NO_LIMITS = ConstraintFiles()


@dataclass(frozen=True, slots=True)
class BuildTask:
    """From which table to which folder, and how.

    `remark` hears what was chosen and why, the `notice` of the table what the user must not miss.
    """

    table: InterestTable
    out: Path
    request: BuildRequest
    engine: str = "auto"
    limits: ConstraintFiles = NO_LIMITS
    resume: bool = False
    remark: Notice = no_notice

    @property
    def spark(self) -> SparkChoice:
        return self.table.spark

    @property
    def notice(self) -> Notice:
        return self.table.notice

    @property
    def progress(self) -> Progress:
        return self.table.progress

    @property
    def in_memory(self) -> str | None:
        """An option that needs the interest in memory, if one was given."""
        if self.request.certify:
            return "`certify`"
        return next((f"`{kind}`" for kind in self.limits.kinds()), None)

    @property
    def goes_on(self) -> bool:
        """Is there an unfinished run to be taken up? Only Spark leaves one."""
        return self.resume and bool(whole_phases(self.out / PHASES))

    def check(self) -> None:
        """Refuse what cannot be done."""
        check_replaceable(self.out, resume=self.resume)
        check_honours(self.request.algorithm, self.limits.kinds())
        named = self.request.algorithm if self.request.named else None
        engine = "spark" if self.goes_on else self.engine
        check_engine(engine, named, in_memory=self.in_memory, resume=self.resume)
        self.limits.check_there()
