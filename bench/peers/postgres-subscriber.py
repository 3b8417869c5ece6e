"""Stores what mosquitto relays in PostgreSQL: one INSERT, and so one commit, a message.

Started with the port of mosquitto and a connection string. Speaks to libpq, which comes with PostgreSQL's client, so
that nothing else needs to be installed; the statement is prepared once.
"""

import ctypes
import ctypes.util
import sys

import record_subscriber

command_ok = 1
parameters = 4

libpq = ctypes.CDLL(ctypes.util.find_library("pq"))
libpq.PQconnectdb.restype = ctypes.c_void_p
libpq.PQerrorMessage.restype = ctypes.c_char_p
libpq.PQerrorMessage.argtypes = [ctypes.c_void_p]
libpq.PQexec.restype = ctypes.c_void_p
libpq.PQexec.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
libpq.PQprepare.restype = ctypes.c_void_p
libpq.PQprepare.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
libpq.PQexecPrepared.restype = ctypes.c_void_p
libpq.PQexecPrepared.argtypes = [
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_int,
    ctypes.c_char_p * parameters,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int,
]
libpq.PQresultStatus.argtypes = [ctypes.c_void_p]
libpq.PQclear.argtypes = [ctypes.c_void_p]

port, connection_string = int(sys.argv[1]), sys.argv[2]
connection = libpq.PQconnectdb(connection_string.encode())


def check(result):
    if libpq.PQresultStatus(result) != command_ok:
        sys.exit(libpq.PQerrorMessage(connection).decode())
    libpq.PQclear(result)


check(libpq.PQexec(connection, record_subscriber.table.encode()))
check(libpq.PQexec(connection, record_subscriber.index.encode()))
insert = record_subscriber.insert % ("$1", "$2", "$3", "$4")
check(libpq.PQprepare(connection, b"insert", insert.encode(), parameters, None))

stored = 0


def store(message):
    global stored
    for row in record_subscriber.rows_of(message):
        texts = (ctypes.c_char_p * parameters)(*(str(column).encode() for column in row))
        check(libpq.PQexecPrepared(connection, b"insert", parameters, texts, None, None, 0))
        stored += 1


record_subscriber.run(port, store, lambda: stored)
