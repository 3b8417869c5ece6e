import type { Snippet } from '../snippet.ts'

export const python: Snippet = {
  name: 'Python',
  needs: 'pip install paho-mqtt (1.6 and 2 both work).',
  delivery:
    'QoS 1: paho keeps the reading, connects again when the connection breaks, and sends the reading again. The program waits until the answer comes. The answer comes when the server has stored the write, or has refused it for good. The thing’s page shows a refusal and its reason. The reading has a datetime: if it is sent twice, the server stores it once.',
  tls: 'Call client.tls_set() before client.connect_async().',
  text: ({ host, mqttPort, token }) => `import contextlib
import json
import queue
import socket
import sys
from datetime import datetime, timezone

import paho.mqtt.client as mqtt

HOST = "${host}"
PORT = ${mqttPort}
TOKEN = "${token}"

reading = {
    "key": "temperature",
    "value": 21.5,
    "datetime": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
}
body = json.dumps({"values": [reading]}, allow_nan=False)  # a NaN would be refused

if hasattr(mqtt, "CallbackAPIVersion"):  # paho-mqtt 2
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
else:
    client = mqtt.Client()
client.username_pw_set(TOKEN)
events = queue.Queue()
client.on_connect = lambda *args: events.put(args[3])  # 0, or why not
client.on_connect_fail = lambda *args: print("no connection: trying again", flush=True)
client.on_publish = lambda *args: events.put("received")
client.connect_async(HOST, PORT)
client.loop_start()  # connects, and again whenever the connection breaks
client.publish(f"things/{TOKEN}/write", body, qos=1)  # on each connection, until the answer

event = None
while event != "received":
    try:
        event = events.get(timeout=30)
    except queue.Empty:
        print("no answer in 30 s: trying again", flush=True)
        # Without the connection paho makes a new one.
        with contextlib.suppress(AttributeError, OSError):
            client.socket().shutdown(socket.SHUT_RDWR)
    if event in (4, 5, 134, 135):  # paho-mqtt 2 calls them 134 and 135
        sys.exit(f"no connection: {event} (4: wrong token)")
print("received: if it was refused, the thing's page says why")
client.disconnect()
client.loop_stop()
`,
}
