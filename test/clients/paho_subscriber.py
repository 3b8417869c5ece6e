"""A dashboard on python3-paho-mqtt, 1.6 or 2: says "subscribed" and what is granted, then what it receives, a JSON object a line.

Usage: paho_subscriber.py OPTIONS

OPTIONS is a JSON object with host, port, transport (tcp or websockets), qos and filters; perhaps with username, password,
clientId, clean, will (topic, payload, qos, retain) and encoding (utf8 or hex). With a clientId its session is persistent unless it
is clean. It subscribes whenever it is connected, as paho's own examples do, and says goodbye at the end of stdin.
"""
import json
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


client.on_connect = on_connect
client.on_subscribe = on_subscribe
client.on_message = on_message
client.connect(options["host"], options["port"])
leaving = threading.Event()


def wait_for_end():
    sys.stdin.read()
    leaving.set()


threading.Thread(target=wait_for_end, daemon=True).start()
# One thread for the network: whatever was printed is acknowledged when it says goodbye.
while not leaving.is_set():
    if client.loop(timeout=0.05) != 0:
        sys.exit("the connection broke")
client.disconnect()
