import type { Snippet } from '../snippet.ts'

export const python: Snippet = {
  name: 'Python',
  needs:
    'pip install paho-mqtt. Version 1.6, which is in Debian 12 and Raspberry Pi OS, works too, but cannot say why a write is refused.',
  delivery:
    'QoS 1: paho keeps the reading, connects again when the connection breaks, and sends the reading again. The program takes a reading every 10 seconds, and no new one until the answer comes. The answer comes when the server has stored the write, or has refused it for good. In MQTT 5 the answer has the reason of a refusal, and the program prints it. The reading has a datetime: if it is sent twice, the server stores it once.',
  tls: 'Call client.tls_set() before client.connect_async().',
  text: ({ host, mqttPort, token }) => `import contextlib
import json
import math
import queue
import socket
import sys
import time
from datetime import datetime, timezone

import paho.mqtt.client as mqtt

HOST = "${host}"
PORT = ${mqttPort}
TOKEN = "${token}"

if hasattr(mqtt, "CallbackAPIVersion"):
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
else:  # paho-mqtt 1.6 gives no program the reason of a refusal
    client = mqtt.Client()
client.username_pw_set(TOKEN)
events = queue.Queue()


def on_publish(client, userdata, message, code=None, properties=None):
    if code is None:
        events.put("received: if it was refused, the thing's page says why")
    elif code.is_failure:
        events.put(f"refused: {getattr(properties, 'ReasonString', code)}")
    else:
        events.put("stored")


client.on_connect = lambda *args: events.put(args[3])  # 0, or why not
client.on_connect_fail = lambda *args: print("no connection: trying again", flush=True)
client.on_publish = on_publish
client.connect_async(HOST, PORT)
client.loop_start()  # connects, and again whenever the connection breaks


def send(write):
    """Returns when the server has stored the write, or has refused it for good."""
    # On each connection, until the answer.
    client.publish(f"things/{TOKEN}/write", json.dumps(write), qos=1)
    event = None
    while not isinstance(event, str):
        try:
            event = events.get(timeout=30)
        except queue.Empty:
            print("no answer in 30 s: trying again", flush=True)
            # Without the connection paho makes a new one.
            with contextlib.suppress(AttributeError, OSError):
                client.socket().shutdown(socket.SHUT_RDWR)
        if event in (4, 5, 0x86, 0x87, 0x9F):  # 4 and 5 are of MQTT 3.1.1
            sys.exit(f"no connection: {event} (wrong token?)")
    print(event, flush=True)


while True:
    temperature = 21.5  # your sensor
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    if math.isfinite(temperature):  # a NaN would be refused
        send({"values": [{"key": "temperature", "value": temperature, "datetime": now}]})
    time.sleep(10)
`,
}
