"""Spark settings that are there before ours: of spark-defaults.conf and PYSPARK_SUBMIT_ARGS. Starts nothing.

A setting of the user's Spark wins over our defaults; only what a result depends on (`RULES`) does not bend.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

DEFAULTS_FILE = "spark-defaults.conf"
SUBMITTED = "PYSPARK_GATEWAY_PORT"  # set by spark-submit: Java runs already, and has all settings

# The options of spark-submit that are settings, without their dashes.
_OPTIONS = {
    "master": "spark.master",
    "deploy-mode": "spark.submit.deployMode",
    "name": "spark.app.name",
    "driver-memory": "spark.driver.memory",
    "driver-java-options": "spark.driver.extraJavaOptions",
    "executor-memory": "spark.executor.memory",
    "executor-cores": "spark.executor.cores",
    "archives": "spark.archives",
}
_PROPERTY = re.compile(r"(spark\.[^\s=:]+)(?:\s*[=:]\s*|\s+)(.*)")


def given_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that `spark-submit` would start with here, besides those it is told."""
    found: dict[str, str] = {}
    folder = conf_folder(environment)
    if folder is not None:
        with suppress(OSError, UnicodeDecodeError):
            found |= properties((folder / DEFAULTS_FILE).read_text("utf-8"))
    return found | _submit_arguments(environment.get("PYSPARK_SUBMIT_ARGS", ""))


def conf_folder(environment: Mapping[str, str]) -> Path | None:
    """Return where the user's Spark has its settings, if that is said."""
    if named := environment.get("SPARK_CONF_DIR"):
        return Path(named)
    return Path(environment["SPARK_HOME"]) / "conf" if environment.get("SPARK_HOME") else None


def properties(text: str) -> dict[str, str]:
    """Return the settings of a file of `key value` lines.

    >>> properties("# mine\\nspark.master   yarn\\nspark.a=b c\\n")
    {'spark.master': 'yarn', 'spark.a': 'b c'}
    """
    joined = re.sub(r"\\\r?\n\s*", "", text)
    lines = (line.strip() for line in joined.splitlines())
    found = (_PROPERTY.fullmatch(line) for line in lines if line and line[0] not in "#!")
    return {match[1]: match[2].strip() for match in found if match}


def _submit_arguments(text: str) -> dict[str, str]:
    """Return the settings among the arguments that pyspark passes to spark-submit.

    >>> _submit_arguments("--master yarn --conf spark.a=b --driver-memory=2g pyspark-shell")
    {'spark.master': 'yarn', 'spark.a': 'b', 'spark.driver.memory': '2g'}
    """
    found: dict[str, str] = {}
    with suppress(ValueError):  # an open quote: Spark tells
        words = iter(shlex.split(text))
        for word in words:
            option, equals, value = word.lstrip("-").partition("=")
            if option in ("conf", "c"):
                key, _, setting = (value if equals else next(words, "")).partition("=")
                found[key] = setting
            elif option in _OPTIONS:
                found[_OPTIONS[option]] = value if equals else next(words, "")
    return found
