"""Runs a program for MicroPython on CPython, on real sockets, with what a board has and CPython lacks.

Usage: micropython.py PROGRAM
"""
import runpy
import socket
import sys
import types


class StreamSocket(socket.socket):
    """A socket that is a stream, as in MicroPython."""

    def write(self, data):
        self.sendall(data)
        return len(data)

    def readline(self):
        line = b""
        while not line.endswith(b"\n"):
            byte = self.recv(1)
            if not byte:
                break
            line += byte
        return line


class ConnectedWlan:
    """Wi-Fi that is there."""

    def __init__(self, interface):
        pass

    def active(self, is_active):
        pass

    def connect(self, name, password):
        pass

    def isconnected(self):
        return True


sys.stdout.reconfigure(line_buffering=True)
socket.socket = StreamSocket
network = types.ModuleType("network")
network.STA_IF = 0
network.WLAN = ConnectedWlan
sys.modules["network"] = network
runpy.run_path(sys.argv[1], run_name="__main__")
