"""Stores what mosquitto relays in SQLite: a commit for every 1,000 messages, and at the latest after 100 ms.

Started with the port of mosquitto and the path of the database. Durable: WAL with synchronous=FULL.
"""

import sqlite3
import sys
import time

import record_subscriber

most_messages = 1000
longest_wait = 0.1  # seconds

port, path = int(sys.argv[1]), sys.argv[2]
database = sqlite3.connect(path, isolation_level=None)
database.execute("PRAGMA journal_mode=WAL")
database.execute("PRAGMA synchronous=FULL")
database.execute(record_subscriber.table)
database.execute(record_subscriber.index)
insert = record_subscriber.insert.replace("%s", "?")

batch, begun, stored = [], 0.0, 0


def take(message):
    global begun
    if not batch:
        begun = time.monotonic()
    batch.append(message)


def commit_if_due():
    global stored
    if batch and (len(batch) >= most_messages or time.monotonic() - begun >= longest_wait):
        database.execute("BEGIN")
        rows = [row for message in batch for row in record_subscriber.rows_of(message)]
        database.executemany(insert, rows)
        database.execute("COMMIT")
        stored += len(rows)
        batch.clear()
    return stored


record_subscriber.run(port, take, commit_if_due)
