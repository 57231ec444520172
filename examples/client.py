#!/usr/bin/env python3
"""Plays a hum on a violin with a running `hum serve`: client.py hum.wav violin.wav [http://127.0.0.1:8417]"""
import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.request
import uuid


def call(method, path, body=None, headers=()):
    headers = dict(headers, Authorization="Bearer " + os.environ["HUM_KEY"]) if "HUM_KEY" in os.environ else dict(headers)
    try:
        with urllib.request.urlopen(urllib.request.Request(server + path, body, headers, method=method)) as answer:
            return answer.read()
    except urllib.error.HTTPError as refusal:
        is_told = refusal.headers.get_content_type() == "application/problem+json"
        give_up(json.loads(refusal.read()) if is_told else {"detail": str(refusal)})
    except urllib.error.URLError as fault:
        give_up({"detail": str(fault.reason)})


def give_up(problem):
    sys.exit("\nhint: ".join(problem[name] for name in ("detail", "hint") if problem.get(name)))


source, target = sys.argv[1:3]
server = sys.argv[3] if len(sys.argv) > 3 else "http://127.0.0.1:8417"
boundary, part = uuid.uuid4().hex, '--{}\r\nContent-Disposition: form-data; name="{}"\r\n\r\n'
form = (part.format(boundary, "options") + '{"preset": "violin"}\r\n' + part.format(boundary, "audio")).encode()
form += pathlib.Path(source).read_bytes() + f"\r\n--{boundary}--\r\n".encode()
headers = {"Content-Type": f"multipart/form-data; boundary={boundary}", "Idempotency-Key": uuid.uuid4().hex}
job = json.loads(call("POST", "/v1/jobs", form, headers))
while job["status"] in ("queued", "running"):
    time.sleep(0.5)
    job = json.loads(call("GET", "/v1/jobs/" + job["id"]))
if job["status"] != "done":
    give_up(job["error"])
pathlib.Path(target).write_bytes(call("GET", job["results"][0]["url"]))
