"""The part that the subscribers of SQLite and PostgreSQL share: MQTT messages to rows.

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
    told, told_at = 0, 0.0
    while client.loop(0.05) == mqtt.MQTT_ERR_SUCCESS:
        stored = after_loop()
        if stored != told and time.monotonic() - told_at > 0.01:
            told, told_at = stored, time.monotonic()
            print(stored, flush=True)
    sys.exit("the connection is closed")
