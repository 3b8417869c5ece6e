"""A device on python3-paho-mqtt, 1.6 or 2: publishes the messages that it reads from stdin, and ends when all are acknowledged.

Usage: paho_publisher.py HOST PORT USERNAME < MESSAGES

MESSAGES is a JSON array of objects with topic, payload (in hex), qos and retain.
"""
import json
import sys

try:
    from paho.mqtt import publish
except ModuleNotFoundError:
    sys.exit("paho cannot be imported: install it (apt-get install python3-paho-mqtt)")

host, port, username = sys.argv[1:]
messages = [{**message, "payload": bytes.fromhex(message["payload"])} for message in json.load(sys.stdin)]
publish.multiple(messages, hostname=host, port=int(port), auth={"username": username})
