"""Does with boto3 what a test asks, in a bucket of the S3 server that AWS's variables name.

Usage: boto3_client.py BUCKET STEPS     STEPS: a JSON array of objects, "do" and arguments; prints one of the results
"""

import hashlib
import json
import sys

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import ClientError

PART_BYTES = 5 << 20  # S3's least
IN_PARTS = TransferConfig(multipart_threshold=PART_BYTES, multipart_chunksize=PART_BYTES)

bucket = sys.argv[1]
s3 = boto3.client("s3")


def upload(key, file):
    s3.upload_file(file, bucket, key, ExtraArgs={"Metadata": {"made-by": "boto3"}}, Config=IN_PARTS)


def create(key, text):
    """Returns the status of the response. 412: the object exists."""
    try:
        response = s3.put_object(Bucket=bucket, Key=key, Body=text.encode(), IfNoneMatch="*")
    except ClientError as error:
        response = error.response
    return response["ResponseMetadata"]["HTTPStatusCode"]


def described(response):
    return {"bytes": response["ContentLength"], "etag": response["ETag"], "metadata": response["Metadata"]}


def get(key):
    response = s3.get_object(Bucket=bucket, Key=key)
    return described(response) | {"sha256": hashlib.sha256(response["Body"].read()).hexdigest()}


def head(key):
    return described(s3.head_object(Bucket=bucket, Key=key))


def listed(prefix):
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    return [[item["Key"], item["Size"]] for page in pages for item in page.get("Contents", [])]


functions = {"upload": upload, "create": create, "get": get, "head": head, "list": listed}
print(json.dumps([functions[step.pop("do")](**step) for step in json.loads(sys.argv[2])]))
