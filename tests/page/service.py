"""A `hum serve` of one test, on a free port, with a folder of data that goes away with it."""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

START_S = 120  # of a busy machine; the bar serve-idle measures how long it takes


class Service:
    def __init__(self, program, workers=1, flags=(), environment=None):
        self.folder = tempfile.TemporaryDirectory(prefix="hum-page-")
        self.log = open(f"{self.folder.name}/log", "w+b")
        self.process = subprocess.Popen(
            [program, "serve", "--listen", "127.0.0.1:0", "--data", f"{self.folder.name}/data", "--workers", str(workers),
             *flags],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env={**os.environ, **(environment or {})})
        watch = threading.Timer(START_S, self.process.kill)
        watch.start()
        line = self.process.stdout.readline()
        watch.cancel()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if not found:
            self.close()
            raise RuntimeError(f"hum serve printed no address: {line!r}")
        self.url = found.group()

    def call(self, method, path):
        """The status and the JSON of an answer."""
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + path, method=method), timeout=30) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def kill(self):
        """Ends the server at once, as a crash does."""
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.log.close()
        self.folder.cleanup()
