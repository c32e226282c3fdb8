"""Runs ten simulations that are configured differently, and opens their Parquet files together."""

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

RUNS = [
    "--algorithm krl",
    "--algorithm krlf --mobility 0.1 --link-failure returned --delay exponential:1 --cs-time uniform:0.5..1.5",
    "--algorithm krl --topology ring --load-of 3=0.5 --as-published --replications 2",
    "--algorithm hok --k 5 --units 1..3 --priorities 0,50,100 --deadlines exponential:50",
    "--algorithm hok --units 2 --priorities 4 --deadlines 10 --delay 0.5 --cs-time 2",
    "--algorithm hok --priority-of 0=5 --priority-of 1=1..3",
    "--algorithm klme --neighbourhoods 2 --churn heavy --absence exponential:1 --contention 50",
    "--algorithm klme --nodes 40 --neighbourhoods 4 --speed 1.5 --areas discs:60",
    "--algorithm krl --field walkers --load 0.05 --replications 2",
    "--algorithm klme-ft --field FIELD --load 0.05",
]
FIELD = """
movement = { model = "grid", columns = 6 }
radio = "nfk"
[[fault]]
at = 5.0
kind = "pause"
node = 1
lasts = 2.0
[faults]
pauses = { per-minute = 4.0, lasts = [1.0, 10.0] }
"""
TEXTS = ["units", "priorities", "cs_time", "delay", "absence", "deadlines", "run_id", "topology", "field.fault"]


def simulate(driftlock, folder):
    field = folder / "field.toml"
    field.write_text(FIELD)
    files = []
    for number, flags in enumerate(RUNS):
        file = folder / f"{number}.parquet"
        few = f"--warmup 0 --entries 20 --format parquet --output {file}"
        few += "" if "--replications" in flags else " --replications 1"
        words = f"{few} {flags}".replace("FIELD", str(field)).split()
        subprocess.run([driftlock, "sim", *words], check=True)
        files.append(str(file))
    return files


def same(what, found, expected):
    if found != expected:
        sys.exit(f"test-tables: {what}: {found!r}, and not {expected!r}")


def in_pyarrow(files):
    tables = [pyarrow.parquet.read_table(file) for file in files]
    # Refuses columns that have one type here and another there.
    table = pyarrow.concat_tables(tables, promote_options="default")
    pyarrow.unify_schemas([table.schema for table in tables])
    types = {field.name: str(field.type) for field in table.schema}
    same("pyarrow: texts", {types[name] for name in TEXTS}, {"string"})
    same("pyarrow: unit", table.schema.field("wait.mean").metadata[b"unit"], b"time unit")
    return table.num_rows, table["run_id"].to_pylist(), table["connectivity"].to_pylist(), types


def in_polars(files):
    # Refuses them likewise.
    frame = polars.concat([polars.read_parquet(file) for file in files], how="diagonal")
    same("polars: texts", {str(frame.schema[name]) for name in TEXTS}, {"String"})
    return frame.height, frame["run_id"].to_list(), frame["connectivity"].to_list()


def in_duckdb(files, types):
    together = f"read_parquet({files}, union_by_name = true) order by filename"
    rows = duckdb.sql(f"select * from {together}")
    # It would make a text of a column that is a number here and a text there.
    known = {"string": "VARCHAR", "uint64": "UBIGINT", "double": "DOUBLE", "bool": "BOOLEAN"}
    found = dict(zip(rows.columns, map(str, rows.types)))
    same("duckdb: types", found, {name: known[kind] for name, kind in types.items()})
    read = duckdb.sql(f"select run_id, connectivity from {together}").fetchall()
    return len(read), [row[0] for row in read], [row[1] for row in read]


def in_pandas(files):
    frame = pandas.concat([pandas.read_parquet(file, dtype_backend="pyarrow") for file in files])
    # What does not fit together becomes a column of objects.
    same("pandas: objects", [name for name, kind in frame.dtypes.items() if kind == object], [])
    none = [None if pandas.isna(value) else value for value in frame["connectivity"]]
    return len(frame), frame["run_id"].tolist(), none


def check_metadata(files, version):
    for file in files:
        metadata = pyarrow.parquet.read_metadata(file).metadata
        units = json.loads(metadata[b"units"])
        same("units", (units["wait.mean"], units["radio.airtime"], units["jain"]), ("time unit", "s/entry", "1"))
        same("version", metadata[b"driftlock.version"].decode(), version)
        same("version in polars", polars.read_parquet_metadata(file)["driftlock.version"], version)
        keys = duckdb.sql(f"select decode(key) from parquet_kv_metadata('{file}')").fetchall()
        same("metadata in duckdb", ("units",) in keys and ("driftlock.version",) in keys, True)


def main():
    driftlock, folder = sys.argv[1], Path(sys.argv[2])
    files = simulate(driftlock, folder)
    version = subprocess.run([driftlock, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    *arrow, types = in_pyarrow(files)
    others = {"polars": in_polars(files), "duckdb": in_duckdb(files, types), "pandas": in_pandas(files)}
    for name, found in others.items():
        same(f"rows in {name}", found, tuple(arrow))
    rows, ids, connectivities = arrow
    same("rows", (rows, len(set(ids))), (len(RUNS), len(RUNS)))
    same("in force", [value is None for value in connectivities],
         ["klme" in flags or "--field" in flags or "--topology" in flags for flags in RUNS])
    check_metadata(files, version)
    versions = ", ".join(f"{library.__name__} {library.__version__}" for library in (polars, pyarrow, duckdb, pandas))
    print(f"{rows} runs, {len(types)} columns, each of one type in {versions}")


main()
