"""A client on python3-paho-mqtt, 1.6 or 2.

Usage: paho_client.py OPTIONS

OPTIONS is a JSON object with host, port and transport (tcp or websockets); perhaps with username, password, clientId, clean,
keepAlive (seconds) and will (topic, payload, qos, retain). With a clientId its session is persistent unless it is clean.

With filters and qos it is a dashboard: it says "subscribed" and what is granted, then what it receives, a JSON object a line,
with the payload in the encoding utf8 or hex. It subscribes whenever it is connected, as paho's own examples do, and
disconnects at the end of stdin.

Without them it is a device: it publishes the messages that it reads from stdin, a JSON array of objects with topic, payload
(in hex), qos and retain, and says "done" when all are acknowledged. With a will it stays connected until it is killed.
"""
import json
import queue
import sys
import threading

try:
    import paho.mqtt.client as mqtt
except ModuleNotFoundError:
    sys.exit("paho cannot be imported: install it (apt-get install python3-paho-mqtt)")

options = json.loads(sys.argv[1])
client_id = options.get("clientId", "")
session = {
    "transport": options["transport"],
    "client_id": client_id,
    "clean_session": options.get("clean", not client_id),
}
if hasattr(mqtt, "CallbackAPIVersion"):
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, **session)
else:
    client = mqtt.Client(**session)
if options["transport"] == "websockets":
    client.ws_set_options(path="/mqtt")
if "username" in options or "password" in options:
    client.username_pw_set(options.get("username", ""), options.get("password"))
if "will" in options:
    client.will_set(**options["will"])


def connect():
    client.connect(options["host"], options["port"], keepalive=options.get("keepAlive", 60))


# Version 2 of the callbacks has one argument more; its reason code compares equal to 0 too.
def on_connect(connected, _userdata, _flags, reason, _properties=None):
    if reason != 0:
        print(f"refused: {reason}", flush=True)
        return
    connected.subscribe([(topic, options["qos"]) for topic in options["filters"]])


# Version 2 has reason codes in the place of numbers.
def on_subscribe(_client, _userdata, _message_id, granted, _properties=None):
    print("subscribed", json.dumps([getattr(code, "value", code) for code in granted]), flush=True)


def on_message(_client, _userdata, message):
    is_hex = options.get("encoding") == "hex"
    received = {
        "topic": message.topic,
        "payload": message.payload.hex() if is_hex else message.payload.decode(),
        "qos": message.qos,
        "retain": bool(message.retain),
    }
    print(json.dumps(received), flush=True)


def subscribe():
    client.on_connect = on_connect
    client.on_subscribe = on_subscribe
    client.on_message = on_message
    connect()
    leaving = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), leaving.set()), daemon=True).start()
    # One thread for the network: whatever was printed is acknowledged when it disconnects.
    while not leaving.is_set():
        if client.loop(timeout=0.05) != 0:
            sys.exit("the connection broke")
    client.disconnect()


def publish():
    answers = queue.Queue()
    client.on_connect = lambda _client, _userdata, _flags, reason, _properties=None: answers.put(reason)
    connect()
    client.loop_start()
    answer = answers.get(timeout=20)
    if answer != 0:
        sys.exit(f"refused: {answer}")
    messages = [{**message, "payload": bytes.fromhex(message["payload"])} for message in json.load(sys.stdin)]
    for published in [client.publish(**message) for message in messages]:
        published.wait_for_publish()
    print("done", flush=True)
    if "will" in options:
        threading.Event().wait()
    client.disconnect()
    client.loop_stop()


if "filters" in options:
    subscribe()
else:
    publish()
