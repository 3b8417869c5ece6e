"""A device on python3-paho-mqtt, 1.6 or 2: writes the bodies that it reads from stdin, one a line, then says "done".

Usage: paho_client.py HOST PORT tcp|websockets QOS TOPIC [USERNAME [WILL [KEEPALIVE]]]

With WILL, the body of a last will for TOPIC, it stays connected until it is killed.
"""
import queue
import sys
import threading

try:
    import paho.mqtt.client as mqtt
except ModuleNotFoundError:
    sys.exit("paho cannot be imported: install it (apt-get install python3-paho-mqtt)")

host, port, transport, qos, topic, *rest = sys.argv[1:]
username, will, keepalive = (rest + [None, None, None])[:3]

if hasattr(mqtt, "CallbackAPIVersion"):
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, transport=transport)
else:
    client = mqtt.Client(transport=transport)
if transport == "websockets":
    client.ws_set_options(path="/mqtt")
if username:
    client.username_pw_set(username)
if will:
    client.will_set(topic, will, qos=int(qos))

answers = queue.Queue()


# Version 2 of the callbacks has one argument more; its reason code compares equal to 0 too.
def on_connect(_client, _userdata, _flags, reason, _properties=None):
    answers.put(reason)


client.on_connect = on_connect
client.connect(host, int(port), keepalive=int(keepalive or 60))
client.loop_start()
answer = answers.get(timeout=20)
if answer != 0:
    sys.exit(f"refused: {answer}")

messages = [client.publish(topic, line.rstrip("\n"), qos=int(qos)) for line in sys.stdin]
for message in messages:
    message.wait_for_publish()
print("done", flush=True)
if will:
    threading.Event().wait()
client.disconnect()
client.loop_stop()
