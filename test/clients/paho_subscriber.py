"""A dashboard on python3-paho-mqtt, 1.6 or 2: says "subscribed", then what it receives, a JSON object a line.

Usage: paho_subscriber.py HOST PORT tcp|websockets QOS USERNAME PASSWORD CLIENT_ID FILTER...

An empty USERNAME or PASSWORD is not sent. With a CLIENT_ID its session is persistent. It subscribes whenever it is
connected, as paho's own examples do, and says goodbye at the end of stdin.
"""
import json
import sys
import threading

try:
    import paho.mqtt.client as mqtt
except ModuleNotFoundError:
    sys.exit("paho cannot be imported: install it (apt-get install python3-paho-mqtt)")

host, port, transport, qos, username, password, client_id, *filters = sys.argv[1:]
options = {"transport": transport, "client_id": client_id, "clean_session": not client_id}
if hasattr(mqtt, "CallbackAPIVersion"):
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, **options)
else:
    client = mqtt.Client(**options)
if transport == "websockets":
    client.ws_set_options(path="/mqtt")
if username or password:
    client.username_pw_set(username, password or None)


# Version 2 of the callbacks has one argument more; its reason code compares equal to 0 too.
def on_connect(connected, _userdata, _flags, reason, _properties=None):
    if reason != 0:
        print(f"refused: {reason}", flush=True)
        return
    connected.subscribe([(topic, int(qos)) for topic in filters])


def on_subscribe(_client, _userdata, _message_id, _granted, _properties=None):
    print("subscribed", flush=True)


def on_message(_client, _userdata, message):
    received = {
        "topic": message.topic,
        "payload": message.payload.decode(),
        "qos": message.qos,
        "retain": bool(message.retain),
    }
    print(json.dumps(received), flush=True)


client.on_connect = on_connect
client.on_subscribe = on_subscribe
client.on_message = on_message
client.connect(host, int(port))
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
