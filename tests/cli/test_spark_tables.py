"""Tables that are no files: of a catalog, of a query, and of formats that Spark reads by itself."""

from __future__ import annotations

import json

import pytest

WANTS = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), (None, "y")]
DERBY = {
    "url": "jdbc:derby:memory:shop;create=true",
    "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",  # Derby comes with pyspark
}
JDBC = [f"--option={key}={value}" for key, value in DERBY.items()]


@pytest.fixture(scope="module")
def tables(spark, tmp_path_factory):
    """The same interest and its edges as tables of the catalog, as ORC and in a database."""
    folder = tmp_path_factory.mktemp("tables")
    wants = spark.createDataFrame(WANTS, "customer string, channel string")
    edges = spark.createDataFrame([("a", "b"), ("b", "c")], "u string, v string")
    spark.sql("CREATE DATABASE shop")
    for name, frame in (("wants", wants), ("links", edges)):
        frame.write.saveAsTable(f"shop.{name}")
        frame.write.orc(str(folder / f"{name}.orc"))
        frame.write.format("jdbc").options(**DERBY, dbtable=name).save()
    (folder / "edges.csv").write_text("u,v\na,b\nb,c\n")
    yield folder
    spark.sql("DROP DATABASE shop CASCADE")


def test_the_same_table_by_every_name(cli, tables, tmp_path):
    orc, csv = tables / "wants.orc", tables / "edges.csv"
    named = ["--table", "spark_catalog.shop.wants"]
    query = ["--sql", "SELECT customer AS node, channel AS topic FROM shop.wants WHERE customer <> 'z'"]
    code, out, err = cli("inspect", *named, "--json")
    assert code == 0 and json.loads(out)["subscriptions"] == 4 and json.loads(out)["rejected"] == 1
    assert "table spark_catalog.shop.wants: columns used: 'customer' as node, 'channel' as topic" in err
    for interest, edges in (
        (named, ["--edges-table", "shop.links"]),
        (named, [csv]),  # a word that stands alone is EDGES
        (query, ["--edges-sql", "SELECT v, u FROM shop.links"]),
        ([orc, "--input-format", "orc"], ["--edges-table", "shop.links"]),
        ([orc, csv, "--input-format", "orc"], []),
    ):
        code, out, err = cli("verify", *interest, *edges, "--json")
        assert (code, json.loads(out)["edges"], json.loads(out)["topics"]) == (0, 2, 2), err
    code, out, err = cli(
        "measure", "--input-format=jdbc", *JDBC, "--option=dbtable=wants", "--edges-input-format=orc",
        f"--edges-option=path={tables / 'links.orc'}", "--json",
    )  # fmt: skip
    assert code == 0 and json.loads(out)["degree_max"] == 2 and "in jdbc table wants" in err
    code, out, err = cli("build", *query, "--algorithm", "gm", "--out", tmp_path / "o", "--json")
    assert code == 0 and json.loads(out)["edges"] == 2
    code, _, err = cli(
        "export", "graphml", *named, "--edges-table", "shop.links", "--out", tmp_path / "graph"
    )
    assert code == 0 and any((tmp_path / "graph").iterdir()), err
    code, out, err = cli("compare", *named, "--algorithms", "gm,star", "--json")
    assert code == 0 and [row["edges"] for row in json.loads(out)["rows"]] == [2, 2], err
    code, out, err = cli("simulate", *query, "--set", "seconds=5", "--json")
    assert code == 0 and json.loads(out)["nodes"] == 3, err
    code, out, err = cli(
        "improve", orc, "--input-format=orc", "--edges-sql", "SELECT * FROM shop.links", "--rounds=1",
        "--out", tmp_path / "better", "--json",
    )  # fmt: skip
    assert code == 0 and json.loads(out)["edges"] == 2, err


@pytest.fixture
def catalog(spark):
    """The database as a catalog of Spark, as settings of the user would name it."""
    settings = {f"spark.sql.catalog.derby.{key}": value for key, value in DERBY.items()}
    settings["spark.sql.catalog.derby"] = (
        "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
    )
    for key, value in settings.items():
        spark.conf.set(key, value)
    yield [f"--spark-conf={key}={value}" for key, value in settings.items()]
    for key in settings:
        spark.conf.unset(key)


def test_constraints_by_a_name(cli, spark, tables, catalog, tmp_path):
    caps = spark.createDataFrame([("a", 2), ("b", 1), ("*", 9)], "node string, cap int")
    caps.write.saveAsTable("shop.caps")
    caps.write.orc(str(tmp_path / "caps.orc"))
    caps.write.format("jdbc").options(**DERBY, dbtable="CAPS").save()
    spark.createDataFrame([("b", "c", 7.5)], "u string, v string, cost double").write.saveAsTable(
        "shop.costs"
    )
    (tmp_path / "caps.csv").write_text("node,cap\na,2\nb,1\n*,9\n")
    (tmp_path / "wants.csv").write_text("node,topic\na,x\nb,x\nc,x\n")
    build = ["build", tmp_path / "wants.csv", "--algorithm", "gm", "--json", "--costs", "table:shop.costs"]
    found = {}
    for place, word in enumerate((
        tmp_path / "caps.csv",
        "table:shop.caps",
        "sql:SELECT cap, node FROM shop.caps",
        f"sql:SELECT * FROM orc.`{tmp_path}/caps.orc`",
        'sql:SELECT "node" AS node, "cap" AS cap FROM derby.APP.CAPS'.replace('"', "`"),
    )):  # fmt: skip
        code, out, err = cli(*build, "--caps", word, "--out", tmp_path / f"{place}", *catalog)
        assert code == 0, err
        found[str(word)] = json.loads(out)
    for one in found.values():
        assert one["edges"] == 2 and one["parameters"]["constraints"] == {"caps": 3, "costs": 1}
        assert one["report"]["cost_total"] == 2
    for word, told in (
        ("table:shop.none", "shop.none"),
        ("sql:SELECT 'q' node, 1 cap", "sql:SELECT 'q' node, 1 cap: in the row 'q,1' 'q' is not a node"),
        ("sql:SELECT 'a' node, 1.5 cap", "the cap is not a whole number"),
        ("sql:SELECT 'a' x, 1 y", "sql:SELECT 'a' x, 1 y has no columns node"),
        ("sql:DROP TABLE shop.caps", "query"),
        ("table:", "`table:` is empty"),
    ):
        code, _, err = cli(*build, "--caps", word, "--out", tmp_path / "bad")
        assert code == 2 and told in err and len(err.strip().splitlines()) == 1, err
    assert spark.table("shop.caps").count() == 3  # nothing but a query was run


def test_prices_by_a_name(cli, spark, tables, tmp_path):
    (tmp_path / "subs.csv").write_text("user,subscription,attribute,low,high\nu,s,price,2,5\n")
    (tmp_path / "log.csv").write_text(
        "publisher,time,price\n" + "".join(f"p{n % 2},{n},{n % 10}\n" for n in range(40))
    )
    prices = {
        "brokers": ["broker string, capacity double", [("b1", 1e6), ("b2", 1e6)]],
        "coordinates": [
            "id string, kind string, x double, y double",
            [("u", "user", 0.0, 0.0), ("p0", "user", 1.0, 0.0), ("p1", "user", 0.0, 1.0),
             ("b1", "broker", 1.0, 1.0), ("b2", "broker", 2.0, 2.0)],
        ],
    }  # fmt: skip
    common = ["content", "traffic", "--log", tmp_path / "log.csv", "--subscriptions", tmp_path / "subs.csv"]
    files, names = [], []
    for name, (columns, rows) in prices.items():
        frame = spark.createDataFrame(rows, columns)
        frame.toPandas().to_csv(tmp_path / f"{name}.csv", index=False)
        frame.write.saveAsTable(f"shop.{name}")
        files += [f"--{name}", tmp_path / f"{name}.csv"]
        names += [f"--{name}", f"table:shop.{name}"]
    found = []
    for place, words in enumerate((files, names)):
        code, out, err = cli(*common, *words, "--out", tmp_path / f"traffic{place}", "--json")
        assert code == 0, err
        found.append(json.loads(out) | {"seconds": 0})
    assert found[0] == found[1]


def test_the_log_of_messages_by_a_name(cli, spark, tables, tmp_path):
    messages = [(f"p{number % 3}", float(number), number % 10.0) for number in range(60)]
    spark.createDataFrame(messages, "publisher string, time double, price double").write.saveAsTable(
        "shop.log"
    )
    (tmp_path / "subs.csv").write_text("user,subscription,attribute,low,high\nu,s,price,2,5\n")
    command = ["content", "traffic", "--subscriptions", tmp_path / "subs.csv", "--json"]
    found = {}
    for name, log in {
        "table": ["--log-table", "shop.log"],
        "sql": ["--log-sql", "SELECT price, time, publisher FROM shop.log"],
    }.items():
        code, out, err = cli(*command, *log, "--out", tmp_path / name)
        assert code == 0 and json.loads(out)["log_rows"] == 60, err
        found[name] = json.loads(out) | {"seconds": 0}
    assert found["table"] == found["sql"] and found["table"]["dropped"] == 42
    for log, said in (
        ([], "--log is missing"),
        (["--log", "x.csv", "--log-table", "shop.log"], "--log x.csv and --log-table both name the table"),
        (["--log-option", "a=b"], "--log-option is for --log-input-format or --log-table"),
    ):
        code, _, err = cli(*command, *log, "--out", tmp_path / "no")
        assert code == 2 and said in err, err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--table", "shop.none"],
            "there is no table shop.none: check its name, with catalog and schema; catalogs come with "
            "--spark-conf, that of Hive with --spark-conf spark.sql.catalogImplementation=hive",
        ),
        (["--table", "no.such.wants"], "Spark knows no catalog for table no.such.wants"),
        (["--table", " "], "--table is empty"),
        (["--table", "shop.wants", "--sql", "SELECT 1"], "--table and --sql both name the table"),
        (["table.csv", "--table", "shop.wants"], "INTEREST table.csv and --table both name the table"),
        (["--table", "shop.wants", "--separator", ";"], "--separator tells how files of text are read"),
        (["--option", "a=b"], "--option is for --input-format or --table"),
        (["--table", "shop.wants", "--option", "a"], "--option a: write it as key=value"),
        (["--sql", "SELECT 1", "--option", "a=b"], "--option is for a table or a format, not for --sql"),
        (["--sql", "DROP TABLE shop.wants"], "the result of the query: Syntax error"),
        (["--sql", "SELECT none FROM shop.wants"], "with name `none` cannot be resolved"),
        (["--sql", "SELECT customer FROM shop.wants"], "has 1 column and two are needed: customer"),
        (["x", "--input-format", "delta"], "Spark does not know the format of x: add the jars for it with"),
        (["x.orc", "--input-format", "orc"], "no such file or folder"),
        (["--input-format=jdbc", *JDBC, "--option=dbtable=none"], "jdbc table none: "),
        (
            ["--input-format=jdbc", "--option=url=jdbc:no:x", "--option=dbtable=x"],
            "there is no JDBC driver for jdbc table",
        ),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(cli, tables, arguments, said):
    code, out, err = cli("inspect", *arguments)
    assert (code, out) == (2, "")
    assert said in err and len(err.strip().splitlines()) == 1


def test_the_query_cannot_change_anything(spark, cli, tables):
    for query in ("DROP TABLE shop.wants", "SELECT 1) x; DROP TABLE shop.wants; (SELECT 1"):
        assert cli("inspect", "--sql", query)[0] == 2
    assert spark.table("shop.wants").count() == len(WANTS)
