"""A device on python3-paho-mqtt, 1.6 or 2: publishes a message and a write in turn, 20 in flight, then says "done".

Usage: relay_device.py HOST PORT TOKEN TOPIC WRITE_TOPIC COUNT QOS BEGIN

BEGIN is the datetime of the first write, seconds since 1970; each is a second behind the one before.
"""
import json
import queue
import sys
import threading
import time

try:
    import paho.mqtt.client as mqtt
except ModuleNotFoundError:
    sys.exit("paho cannot be imported: install it (apt-get install python3-paho-mqtt)")

host, port, token, topic, write_topic, count, qos, begin = sys.argv[1:]
if hasattr(mqtt, "CallbackAPIVersion"):
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id="paho", clean_session=False)
else:
    client = mqtt.Client(client_id="paho", clean_session=False)
client.username_pw_set(token)
client.max_inflight_messages_set(20)
client.reconnect_delay_set(min_delay=1, max_delay=1)
client.connect(host, int(port))
client.loop_start()

room = threading.Semaphore(20)
client.on_publish = lambda *_: room.release()
for n in range(int(count)):
    room.acquire()
    client.publish(topic, str(n), qos=int(qos))
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(begin) + n))
    record = {"key": "n", "value": n, "datetime": at}
    room.acquire()
    last = client.publish(write_topic, json.dumps({"values": [record]}), qos=1)
while not last.is_published() or client.want_write():
    time.sleep(0.05)
for _ in range(20):
    room.acquire()
print("done", flush=True)
client.disconnect()
client.loop_stop()
