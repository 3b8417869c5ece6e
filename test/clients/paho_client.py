"""A client on paho-mqtt: Debian's 1.6, or 2.

Usage: paho_client.py OPTIONS

OPTIONS is a JSON object with host, port and transport (tcp or websockets); perhaps with username, password, clientId, clean,
keepAlive (seconds) and will (topic, payload, qos, retain). With a clientId its session is persistent unless it is clean.
With version 5 it has sessionExpiry (seconds) too, how long that session is kept, and path, where paho 2 is imported from.

With filters and qos it is a dashboard: it says "subscribed" and what is granted, then what it receives, a JSON object a line,
with the payload in the encoding utf8 or hex. It subscribes whenever it is connected, as paho's own examples do, and
disconnects at the end of stdin. It ends when its connection breaks, or with returns comes back until it is connected again.

Without them it is a device: it publishes the messages that it reads from stdin, a JSON array of objects with topic, payload
(in hex), qos and retain. It says of each that version 5 refuses its index and the reason, and "done" when all are acknowledged.
With a will it stays connected until it is killed.
"""
import json
import queue
import sys
import threading
import time

options = json.loads(sys.argv[1])
is_version5 = options.get("version") == 5
if is_version5:
    sys.path.insert(0, options["path"])

try:
    import paho.mqtt.client as mqtt
except ModuleNotFoundError:
    sys.exit("paho cannot be imported: install it (apt-get install python3-paho-mqtt)")

client_id = options.get("clientId", "")
is_clean = options.get("clean", not client_id)
session = {"transport": options["transport"], "client_id": client_id}
if is_version5:
    session["protocol"] = mqtt.MQTTv5
else:
    session["clean_session"] = is_clean
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
    asked = {"keepalive": options.get("keepAlive", 60)}
    if is_version5:
        asked["clean_start"] = is_clean
        if not is_clean:
            asked["properties"] = mqtt.Properties(mqtt.PacketTypes.CONNECT)
            asked["properties"].SessionExpiryInterval = options["sessionExpiry"]
    client.connect(options["host"], options["port"], **asked)


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


def come_back():
    while True:
        try:
            client.reconnect()
            return
        except OSError:
            time.sleep(0.05)


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
            if not options.get("returns"):
                sys.exit("the connection broke")
            come_back()
    client.disconnect()


def publish():
    answers = queue.Queue()
    client.on_connect = lambda _client, _userdata, _flags, reason, _properties=None: answers.put(reason)
    refusals = {}

    def on_publish(_client, _userdata, message_id, reason, properties):
        if reason.is_failure:
            refusals[message_id] = {
                "code": reason.value,
                "reasonString": getattr(properties, "ReasonString", None),
                "userProperties": dict(getattr(properties, "UserProperty", [])),
            }

    if is_version5:
        client.on_publish = on_publish
    connect()
    client.loop_start()
    answer = answers.get(timeout=20)
    if answer != 0:
        sys.exit(f"refused: {answer}")
    messages = [{**message, "payload": bytes.fromhex(message["payload"])} for message in json.load(sys.stdin)]
    for index, published in enumerate([client.publish(**message) for message in messages]):
        published.wait_for_publish()
        if published.mid in refusals:
            print(json.dumps({"index": index, **refusals[published.mid]}), flush=True)
    print("done", flush=True)
    if "will" in options:
        threading.Event().wait()
    client.disconnect()
    client.loop_stop()


if "filters" in options:
    subscribe()
else:
    publish()
