import type { Snippet } from '../snippet.ts'

export const python: Snippet = {
  name: 'Python',
  needs: 'pip install paho-mqtt (1.6 and 2 both work).',
  delivery:
    'QoS 1: if the connection breaks, paho connects and sends the reading again. The program waits 30 seconds for the answer. The answer comes when the server has stored the write, or has refused it for good. The thing’s page shows a refusal and its reason. The reading has a datetime: if it is sent twice, the server stores it once.',
  tls: 'Call client.tls_set() before client.connect().',
  text: ({ host, mqttPort, token }) => `import json
import queue
import sys
from datetime import datetime, timezone

import paho.mqtt.client as mqtt

HOST = "${host}"
PORT = ${mqttPort}
TOKEN = "${token}"

if hasattr(mqtt, "CallbackAPIVersion"):  # paho-mqtt 2
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
else:
    client = mqtt.Client()
client.username_pw_set(TOKEN)
answers = queue.Queue()
client.on_connect = lambda *args: answers.put(args[3])  # 0, or why not
client.connect(HOST, PORT)
client.loop_start()
answer = answers.get(timeout=30)
if answer != 0:
    sys.exit(f"no connection: {answer} (4: wrong token)")

reading = {
    "key": "temperature",
    "value": 21.5,
    "datetime": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
}
body = json.dumps({"values": [reading]}, allow_nan=False)  # a NaN would be refused
sent = client.publish(f"things/{TOKEN}/write", body, qos=1)
sent.wait_for_publish(timeout=30)
if not sent.is_published():
    sys.exit("no answer in 30 s: it may not be stored")
print("received: if it was refused, the thing's page says why")
client.disconnect()
client.loop_stop()
`,
}
