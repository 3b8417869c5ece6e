import type { Snippet } from '../snippet.ts'

export const micropython: Snippet = {
  name: 'MicroPython',
  needs: 'On the board, once: import mip; mip.install("umqtt.simple"); mip.install("umqtt.robust").',
  delivery:
    'QoS 1: publish() returns when the server has answered. The answer comes when the server has stored the write, or has refused it for good. The thing’s page shows a refusal and its reason. If the connection breaks, umqtt.robust connects again. If it breaks before the answer, publish() may wait for ever: a watchdog (machine.WDT) then restarts the board. Each write has its own id: if it is sent twice, the server stores it once.',
  tls: 'Give MQTTClient ssl=True (MicroPython 1.22 and newer: ssl=an ssl.SSLContext).',
  text: ({ host, mqttPort, token }) => `import json
import machine
import network
import os
import time
import ubinascii
from umqtt.robust import MQTTClient

HOST = "${host}"
PORT = ${mqttPort}
TOKEN = "${token}"

wifi = network.WLAN(network.STA_IF)
wifi.active(True)
wifi.connect("YOUR_WIFI", "YOUR_WIFI_PASSWORD")
while not wifi.isconnected():
    time.sleep(0.2)

board = ubinascii.hexlify(machine.unique_id()).decode()
client = MQTTClient(board, HOST, port=PORT, user=TOKEN, password="", keepalive=60)
client.connect()

# With a number from the start of the board, ids never come again after a restart.
start = ubinascii.hexlify(os.urandom(4)).decode()
count = 0
while True:
    count += 1
    write = {
        "id": "%s-%d" % (start, count),
        "values": [{"key": "temperature", "value": 21.5}],  # your sensor
    }
    client.publish("things/%s/write" % TOKEN, json.dumps(write), qos=1)
    time.sleep(10)
`,
}
