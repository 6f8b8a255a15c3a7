"""A private release of a large table, as a job of a cluster:

spark-submit --master spark://host:7077 release_on_spark.py "s3a://shop/sales/*.parquet" --person customer \
    --item product --top 100 --epsilon 1 --ledger budget.db --output report.html patterns.json

The driver has the ledger and writes the results; the executors have the table. Both need discreet.
"""

from __future__ import annotations

import argparse

from pyspark.sql import SparkSession

import discreet


def main() -> None:
    """Read, pay, release, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("table", help="Parquet files that the executors can read")
    parser.add_argument("--person", required=True)
    parser.add_argument("--item", required=True)
    parser.add_argument("--top", type=int, default=100)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--items", default="public", help="a file with the list of items, or that it is public")
    parser.add_argument("--ledger", required=True, help="made beforehand: discreet ledger create budget.db --epsilon 4")
    parser.add_argument("--output", nargs="+", required=True, help="report.html, patterns.json, patterns.parquet, …")
    given = parser.parse_args()

    spark = SparkSession.builder.appName("a private release").getOrCreate()
    baskets = discreet.read(spark.read.parquet(given.table), person=given.person, item=given.item)
    release = discreet.release(baskets, top=given.top, epsilon=given.epsilon, items=given.items, ledger=given.ledger)
    for place in given.output:
        release.save(place)
    print(release.guarantee)
    spark.stop()


if __name__ == "__main__":
    main()
