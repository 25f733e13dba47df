"""Spark for tables of a few rows: compiling queries and Java well takes longer than running them badly."""

from __future__ import annotations

# Spark's own classes need no second look at their byte code: a third of the time to start and warm up.
_TRUSTED = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
QUICK_JAVA = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {_TRUSTED}"
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": QUICK_JAVA,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
OPTIONS = ["--master", "local[2]", *(f"--spark-conf={key}={value}" for key, value in SETTINGS.items())]
