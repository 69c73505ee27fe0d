"""Says so once the relay's administrator may log in, and then waits for its end.

One of several workers makes the administrator. The others are up before the password's hash is computed,
and refuse the log-in until then. URL is the relay's, PASSWORD the administrator's.
"""

import os
import signal
import time
import urllib.error
import urllib.parse
import urllib.request

form = urllib.parse.urlencode({"username": "admin", "password": os.environ.pop("PASSWORD")}).encode()
while True:
    try:
        urllib.request.urlopen(f"{os.environ['URL']}/auth/login", form, timeout=10).close()
        break
    except (urllib.error.URLError, OSError):
        time.sleep(0.1)
print("the administrator may log in", flush=True)
signal.pause()
