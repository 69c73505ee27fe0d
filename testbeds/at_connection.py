#!/usr/bin/env python3
"""at_connection.py PORT PROGRAM…: becomes PROGRAM at the first connection to PORT on 127.0.0.1."""

import os
import socket
import sys


def main() -> None:
    port, *command = sys.argv[1:]
    with socket.create_server(("127.0.0.1", int(port))) as listener:
        listener.accept()[0].close()
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
