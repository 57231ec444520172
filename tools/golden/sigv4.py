"""Requests to S3 as botocore signs them: tests/data/aws/sigv4.json, the reference of src/base/sigv4.cpp and s3.cpp.

Sends nothing: the tool catches each request after signing, at a fixed time, with the credentials of AWS's
documentation.
  pip install boto3 && python tools/golden/sigv4.py
"""

import datetime
import json
import pathlib

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config

from made_by import made_by

TIME = datetime.datetime(2013, 5, 24, 0, 0, 0, tzinfo=datetime.timezone.utc)
SECRETS = {"access_key_id": "AKIAIOSFODNN7EXAMPLE", "secret_access_key": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
KEYS = ["plain.txt", "neuronxcc=2.1/key=value/a=b=c.program", "with space and  two", "a+b&c?d#e%20f",
        "gr\u00fc\u00dfe/\u6b4c/\U0001f3bb.wav", "tilde~dash-dot.under_(paren)'!*@:,;$", "a//b/../c/./d", "trailing/"]
LISTS = [{"Prefix": "runs/a=b/", "MaxKeys": 2}, {"Prefix": "with space+plus/\u6b4c", "ContinuationToken": "1/abc+=="}, {}]
PLACES = [("eu-west-3", None, ""), ("us-east-1", "http://127.0.0.1:9000", "FQoGZXIvYXdzEXAMPLE//token=="),
          ("eu-west-3", "https://storage.example.com/s3", "")]


def caught(client, operation, arguments):
    seen = []

    def catch(request, **_):
        seen.append(request)
        return botocore.awsrequest.AWSResponse(request.url, 200, {}, type("Raw", (), {"stream": lambda *_: iter([b""])})())

    client.meta.events.register_first("before-send.s3", catch)
    getattr(client, operation)(**arguments)
    client.meta.events.unregister("before-send.s3", catch)
    headers = {name.lower(): value.decode() if isinstance(value, bytes) else value for name, value in seen[0].headers.items()}
    signed = headers["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    return {"method": seen[0].method, "url": seen[0].url, "authorization": headers["authorization"],
            "headers": {name: headers[name] for name in signed if name != "host"}}


def client_at(region, endpoint, token):
    config = botocore.config.Config(
        s3={"payload_signing_enabled": True, "addressing_style": "path" if endpoint else "virtual"},
        request_checksum_calculation="when_required", response_checksum_validation="when_required")
    return boto3.client("s3", region_name=region, endpoint_url=endpoint, config=config,
                        aws_access_key_id=SECRETS["access_key_id"], aws_secret_access_key=SECRETS["secret_access_key"],
                        aws_session_token=token or None)


def cases():
    for region, endpoint, token in PLACES:
        place = {"region": region, "endpoint": endpoint or "", "session_token": token, "bucket": "hum-test"}
        client = client_at(region, endpoint, token)
        for key in KEYS:
            for operation, more in (("get_object", {}), ("put_object", {"Body": f"body of {key}".encode()}),
                                    ("head_object", {}), ("delete_object", {})):
                request = caught(client, operation, {"Bucket": "hum-test", "Key": key} | more)
                yield place | {"key": key, "query": {}, "body": more.get("Body", b"").decode()} | request
        for query in LISTS:
            request = caught(client, "list_objects_v2", {"Bucket": "hum-test"} | query)
            names = {"Prefix": "prefix", "MaxKeys": "max-keys", "ContinuationToken": "continuation-token"}
            sent = {"list-type": "2", "encoding-type": "url"} | {names[name]: str(value) for name, value in query.items()}
            yield place | {"key": "", "query": sent, "body": ""} | request


if __name__ == "__main__":
    botocore.auth.get_current_datetime = lambda remove_tzinfo=True: TIME.replace(tzinfo=None) if remove_tzinfo else TIME
    out = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "aws" / "sigv4.json"
    out.parent.mkdir(exist_ok=True)
    made = {"made_by": made_by("sigv4.py", None, "boto3", "botocore"), "time": TIME.strftime("%Y%m%dT%H%M%SZ")} | SECRETS
    out.write_text(json.dumps(made | {"cases": list(cases())}, indent=0, ensure_ascii=False) + "\n")
