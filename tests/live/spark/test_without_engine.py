"""What has to hold where Spark is not installed."""

import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import get_type_hints

from springback.cli.follow import follow
from tests.absent import without

JOB = Path(__file__).parents[3] / "examples" / "spark" / "follow_job.py"
SHARED = ("key", "columns", "time", "step", "forget_after")


def test_following_names_the_extra():
    code = without("pyspark", "pyarrow") + (
        "from springback import spark\n"
        "try:\n    spark.follow(None, 'model.safetensors', key='camera', time='time')\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "springback.spark needs pyspark: pip install 'springback[spark]'\n"


def test_the_job_for_spark_submit_has_options_of_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "pyspark.sql", SimpleNamespace(SparkSession=None))
    spec = importlib.util.spec_from_file_location("follow_job", JOB)
    job = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(job)
    own, command = get_type_hints(job.main, include_extras=True), inspect.signature(follow).parameters
    assert {name: own[name] for name in SHARED} == {name: command[name].annotation for name in SHARED}
