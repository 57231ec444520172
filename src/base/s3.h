// A client for S3 and compatible servers (MinIO, Ceph, SeaweedFS). Handles whole objects only, up
// to the 5 GB limit of one PUT. Does not support multipart uploads, or credentials from outside the
// environment.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/sigv4.h"

namespace hum {

struct S3Options {
  AwsCredentials credentials;
  std::string region = "us-east-1";
  // "https://host:port[/path]", with the bucket in the path; empty: AWS, with the bucket in the
  // host name.
  std::string endpoint = {};
  std::chrono::milliseconds connect_timeout{5000};
  // A transfer is aborted after this long (0: never), or below 1 kB/s for `stall_timeout`.
  std::chrono::milliseconds transfer_timeout{0};
  std::chrono::seconds stall_timeout{30};
  // 5xx, 429 and broken connections are retried after `first_pause`, then twice that, and so on.
  int attempts = 4;
  std::chrono::milliseconds first_pause{200};
};

// Reads AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; AWS_REGION, else
// AWS_DEFAULT_REGION; AWS_ENDPOINT_URL_S3, else AWS_ENDPOINT_URL. Throws kConfig without
// credentials.
S3Options s3_options_from_environment();

// "s3://bucket/some/prefix"
struct S3Place {
  std::string bucket, prefix;
};
bool is_s3_url(std::string_view url);
// Throws kConfig if the bucket is missing.
S3Place parse_s3_url(std::string_view url);

// The URL that requests for a key are sent to.
struct S3Target {
  std::string scheme, host, path;  // "https", "bucket.s3.eu-west-3.amazonaws.com", "/a%3Db"
};
S3Target s3_target(const S3Options& options, const std::string& bucket, std::string_view key);

struct S3Object {
  std::string key;
  int64_t size_bytes = 0;
};

// One bucket. Thread-safe. After the last attempt, throws kNoPermission if access is denied,
// kConfig if the bucket does not exist or is in another region, kTemporary if the server fails or
// cannot be reached; each with a hint. A requested stop ends any call with kTemporary.
class S3Bucket {
 public:
  S3Bucket(S3Options options, std::string bucket)
      : options_(std::move(options)), bucket_(std::move(bucket)) {}

  // Returns nullopt if the object does not exist.
  std::optional<std::string> get(const std::string& key, std::stop_token stop = {}) const;
  // Downloads to a temporary file, then renames it. Returns false and writes nothing if the object
  // does not exist.
  bool get_to_file(const std::string& key, const std::filesystem::path& path,
                   std::stop_token stop = {}) const;
  void put(const std::string& key, std::string_view bytes, std::stop_token stop = {}) const;
  // The object's size; nullopt if it does not exist.
  std::optional<int64_t> head(const std::string& key) const;
  // Lists all objects whose key starts with the prefix, sorted by key.
  std::vector<S3Object> list(const std::string& prefix) const;
  // Removing a missing object is not an error.
  void remove(const std::string& key) const;

 private:
  S3Options options_;
  std::string bucket_;
};

}  // namespace hum
