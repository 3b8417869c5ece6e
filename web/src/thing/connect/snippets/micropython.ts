import type { Snippet } from '../snippet.ts'

export const micropython: Snippet = {
  name: 'MicroPython',
  needs:
    'Nothing but the firmware of a board with Wi-Fi. Over https the board encrypts, but does not check the certificate of the server.',
  delivery:
    'Over HTTP the server answers each write: 201 means that it is stored. Without an answer in 30 seconds the board sends the write again, with longer and longer waits, and takes no new reading meanwhile. Each write has its own id: if it is sent twice, the server stores it once.',
  text: ({ httpUrl, token }) => `import binascii
import json
import network
import os
import socket
import time

URL = "${httpUrl}/v2/things/${token}"

wifi = network.WLAN(network.STA_IF)
wifi.active(True)
wifi.connect("YOUR_WIFI", "YOUR_WIFI_PASSWORD")
while not wifi.isconnected():
    time.sleep(0.2)

scheme, _, address, path = URL.split("/", 3)
host, _, port = address.partition(":")
port = int(port or (443 if scheme == "https:" else 80))
HEAD = "POST /%s HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n"


def post(body):
    """One try. Returns the HTTP status, or raises OSError."""
    family, kind, protocol, _, place = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)[0]
    link = socket.socket(family, kind, protocol)
    try:
        link.settimeout(30)
        link.connect(place)
        if scheme == "https:":
            import ssl

            link = ssl.wrap_socket(link, server_hostname=host)
        link.write((HEAD % (path, address, len(body))).encode() + body)
        words = (link.readline() or b"").split()
        if len(words) < 2:
            raise OSError("no answer")
        return int(words[1])
    finally:
        link.close()


def send(write):
    """Returns when the server has stored the write, or has refused it for good."""
    body = json.dumps(write).encode()
    wait = 1
    while True:
        try:
            status = post(body)
        except OSError as error:
            status = error
        if status == 201:
            return
        print("not stored:", status)  # 401, 404: wrong token
        if status == 400:  # refused: the thing's page says why
            return
        # The random part keeps boards apart that all lost the server at the same time.
        time.sleep(wait + wait * os.urandom(1)[0] / 256)
        wait = min(2 * wait, 300)


# With a number from the start of the board, ids never come again after a restart.
start = binascii.hexlify(os.urandom(4)).decode()
count = 0
while True:
    count += 1
    send({
        "id": "%s-%d" % (start, count),
        "values": [{"key": "temperature", "value": 21.5}],  # your sensor
    })
    time.sleep(10)
`,
}
