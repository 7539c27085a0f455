"""A Spark session shared by all tests, which are skipped without Spark or Java."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gainful

_SHORT_LIFE = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_UNVERIFIED = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"


def lacking() -> str | None:
    """What is not there that Spark needs."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed (pip install 'gainful[spark]')"
    java = Path(os.environ.get("JAVA_HOME", "/nowhere"), "bin", "java")
    return None if shutil.which("java") or java.exists() else "there is no Java (apt install openjdk-17-jre-headless)"


def require_spark() -> None:
    reason = lacking()
    if reason is not None:
        if os.environ.get("GAINFUL_REQUIRE_ALL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def session_environment() -> Iterator[None]:
    """Where Spark's workers find Python and gainful."""
    require_spark()
    ours = {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(Path(gainful.__file__).parents[1]),
        "SPARK_LAUNCHER_OPTS": _SHORT_LIFE,  # another Java only puts together how to start Spark
    }
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    yield
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture(scope="session")
def connect_port() -> int:
    """Where Spark Connect listens."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="session")
def spark(session_environment: None, connect_port: int) -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Spark itself
        from pyspark.sql import SparkSession

        settings = {
            # A short life of Java is cheap if what runs a few times is not optimised, one thread looks for garbage, and
            # Spark's own classes are not verified.
            "spark.driver.extraJavaOptions": f"{_SHORT_LIFE} {_UNVERIFIED}",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            # Whoever connects from afar comes to this session, too.
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.port": str(connect_port),
            "spark.sql.shuffle.partitions": "3",
            "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
            "spark.driver.memory": "1g",
            "spark.sql.warehouse.dir": "/nowhere",
        }
        builder = SparkSession.builder.master("local[2, 3]")  # a task may fail twice
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
