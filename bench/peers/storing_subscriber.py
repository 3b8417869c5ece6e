"""Stores what mosquitto relays: `storing_subscriber.py sqlite <port> <path>`, or `postgres <port> <connection string>`.

A message is a write of the product: topic `things/<thing>/write`, body `{"values":[{"key":…,"value":…}]}`. A row is
(thing, key, datetime in milliseconds, value as JSON).
"""

import json
import sys
import time

import paho.mqtt.client as mqtt

table = (
    "CREATE TABLE records (thing TEXT NOT NULL, key TEXT NOT NULL, datetime BIGINT NOT NULL, value TEXT NOT NULL)"
)
index = "CREATE INDEX records_by_time ON records (thing, key, datetime)"
insert = "INSERT INTO records (thing, key, datetime, value) VALUES (%s, %s, %s, %s)"


def rows_of(message):
    thing = message.topic.split("/")[1]
    now = int(time.time() * 1000)
    for record in json.loads(message.payload)["values"]:
        yield (thing, record["key"], now, json.dumps(record["value"]))


def open_sqlite(path):
    """A commit for every 1,000 messages, and at the latest after 100 ms. Durable: WAL with synchronous=FULL."""
    import sqlite3

    most_messages, longest_wait = 1000, 0.1
    database = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", table, index):
        database.execute(statement)
    batch, begun, stored = [], 0.0, 0

    def take(message):
        nonlocal begun
        if not batch:
            begun = time.monotonic()
        batch.append(message)

    def commit_if_due():
        nonlocal stored
        if batch and (len(batch) >= most_messages or time.monotonic() - begun >= longest_wait):
            rows = [row for message in batch for row in rows_of(message)]
            database.execute("BEGIN")
            database.executemany(insert.replace("%s", "?"), rows)
            database.execute("COMMIT")
            stored += len(rows)
            batch.clear()
        return stored

    return take, commit_if_due


def open_postgres(connection_string):
    """One INSERT, and so one commit, a message, prepared once, over libpq, which comes with PostgreSQL's client."""
    import ctypes
    import ctypes.util

    command_ok, parameters = 1, 4
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    libpq = ctypes.CDLL(ctypes.util.find_library("pq"))
    for name, result, arguments in (
        ("PQconnectdb", pointer, [text]),
        ("PQerrorMessage", text, [pointer]),
        ("PQexec", pointer, [pointer, text]),
        ("PQprepare", pointer, [pointer, text, text, number, pointer]),
        ("PQexecPrepared", pointer, [pointer, text, number, text * parameters, pointer, pointer, number]),
        ("PQresultStatus", number, [pointer]),
        ("PQclear", None, [pointer]),
    ):
        function = getattr(libpq, name)
        function.restype, function.argtypes = result, arguments
    connection = libpq.PQconnectdb(connection_string.encode())

    def check(result):
        if libpq.PQresultStatus(result) != command_ok:
            sys.exit(libpq.PQerrorMessage(connection).decode())
        libpq.PQclear(result)

    for statement in (table, index):
        check(libpq.PQexec(connection, statement.encode()))
    prepared = insert % ("$1", "$2", "$3", "$4")
    check(libpq.PQprepare(connection, b"insert", prepared.encode(), parameters, None))
    stored = 0

    def store(message):
        nonlocal stored
        for row in rows_of(message):
            texts = (text * parameters)(*(str(column).encode() for column in row))
            check(libpq.PQexecPrepared(connection, b"insert", parameters, texts, None, None, 0))
            stored += 1

    return store, lambda: stored


def run(port, on_message, after_loop):
    """Subscribes at QoS 1 and never returns. paho acks a message when `on_message` has returned.

    `after_loop()` is called after every packet, and every 50 ms where none comes; it returns how many rows are
    committed, which goes to standard output as it grows.
    """
    client = mqtt.Client(client_id="subscriber")
    client.on_message = lambda _client, _data, message: on_message(message)
    client.on_subscribe = lambda *_: print("ready", flush=True)
    client.connect("127.0.0.1", port, keepalive=0)
    client.subscribe("things/+/write", qos=1)
    printed, printed_at = 0, 0.0
    while client.loop(0.05) == mqtt.MQTT_ERR_SUCCESS:
        stored = after_loop()
        if stored != printed and time.monotonic() - printed_at > 0.01:
            printed, printed_at = stored, time.monotonic()
            print(stored, flush=True)
    sys.exit("the connection is closed")


databases = {"sqlite": open_sqlite, "postgres": open_postgres}
run(int(sys.argv[2]), *databases[sys.argv[1]](sys.argv[3]))
