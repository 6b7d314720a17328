"""A job for spark-submit: follow recorded or arriving Parquet files of many streams with one saved model.

    spark-submit follow_job.py model.safetensors frames/ --key camera --columns x,y,z --out answers/ --checkpoint job/

The options that `springback follow` has too mean the same. Frames that arrive in the folder later are followed by the
next run, or, with --wait, by this one. The answers are Parquet files, each frame once, whatever is killed meanwhile.
"""

from typing import Annotated

import typer
from pyspark.sql import SparkSession

from springback import spark
from springback.cli.follow_options import Columns, ForgetAfter, Key, Step, Time


def main(
    model: Annotated[str, typer.Argument(help="A saved model.")],
    frames: Annotated[str, typer.Argument(help="A folder of Parquet files.")],
    key: Key,
    out: Annotated[str, typer.Option(help="Folder for the answers.")],
    checkpoint: Annotated[str, typer.Option(help="Folder in which the job keeps its states and its place.")],
    columns: Columns = None,
    time: Time = "time",
    step: Step = None,
    forget_after: ForgetAfter = None,
    lateness: Annotated[
        float | None, typer.Option(help="With --forget-after: how many steps late a frame may be.")
    ] = None,
    replace_model: Annotated[bool, typer.Option("--replace-model", help="Go on with another model.")] = False,
    groups: Annotated[
        int, typer.Option(help="Groups of streams whose states are kept together.", min=1)
    ] = spark.GROUPS,
    files_per_batch: Annotated[int, typer.Option(help="Files of frames in a batch.", min=1)] = 100,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for more frames instead of ending.")] = False,
) -> None:
    """Follow many streams with one model."""
    if step is None and forget_after is not None:
        raise typer.BadParameter(
            "give --step, in which it counts: rows of all streams have no order on Spark", param_hint="--forget-after"
        )
    session = SparkSession.builder.config(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    ).getOrCreate()
    schema = session.read.parquet(frames).schema
    arriving = session.readStream.schema(schema).option("maxFilesPerTrigger", files_per_batch).parquet(frames)
    names = None if columns is None else [one.strip() for one in columns.split(",")]
    answers = spark.follow(
        arriving,
        model,
        key=str(key),
        time=str(time),
        features=names[0] if names is not None and len(names) == 1 else names,
        step=step,
        forget_after=None if forget_after is None else forget_after * step,
        lateness=None if lateness is None else lateness * (step or 1),
        replace_model=replace_model,
        groups=groups,
    )
    writer = answers.writeStream.format("parquet").option("checkpointLocation", checkpoint).option("path", out)
    (writer.start() if wait else writer.trigger(availableNow=True).start()).awaitTermination()


if __name__ == "__main__":
    typer.run(main)
