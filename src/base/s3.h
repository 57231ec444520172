// Objects in S3 and in what speaks its language (MinIO, Ceph, SeaweedFS): whole objects only, up to
// the 5 GB of one PUT. No multipart uploads, no credentials but the environment's.
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
  // host's name.
  std::string endpoint = {};
  std::chrono::milliseconds connect_timeout{5000};
  // A transfer ends when it lasts this long (0: never), or moves under 1 kB/s for `stall_timeout`.
  std::chrono::milliseconds transfer_timeout{0};
  std::chrono::seconds stall_timeout{30};
  // 5xx, 429 and broken connections are tried again, after `first_pause`, then twice that, ...
  int attempts = 4;
  std::chrono::milliseconds first_pause{200};
};

// From AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; AWS_REGION, else
// AWS_DEFAULT_REGION; AWS_ENDPOINT_URL_S3, else AWS_ENDPOINT_URL. Throws kConfig without
// credentials.
S3Options s3_options_from_environment();

// "s3://bucket/some/prefix"
struct S3Place {
  std::string bucket, prefix;
};
bool is_s3_url(std::string_view url);
// Throws kConfig when there is no bucket.
S3Place parse_s3_url(std::string_view url);

// Where requests for a key go.
struct S3Target {
  std::string scheme, host, path;  // "https", "bucket.s3.eu-west-3.amazonaws.com", "/a%3Db"
};
S3Target s3_target(const S3Options& options, const std::string& bucket, std::string_view key);

struct S3Object {
  std::string key;
  int64_t size_bytes = 0;
};

// One bucket. Thread-safe. Throws, after the last attempt: kNoPermission when refused, kConfig when
// there is no such bucket or it lies in another region, kTemporary when the server fails or cannot
// be reached; each with what to do. A stop that is requested ends any of them with kTemporary.
class S3Bucket {
 public:
  S3Bucket(S3Options options, std::string bucket)
      : options_(std::move(options)), bucket_(std::move(bucket)) {}

  // Absent when there is no such object.
  std::optional<std::string> get(const std::string& key, std::stop_token stop = {}) const;
  // Written aside, then renamed; false, and nothing written, when there is no such object.
  bool get_to_file(const std::string& key, const std::filesystem::path& path,
                   std::stop_token stop = {}) const;
  void put(const std::string& key, std::string_view bytes, std::stop_token stop = {}) const;
  // Its size; absent when there is no such object.
  std::optional<int64_t> head(const std::string& key) const;
  // Every object whose key starts with the prefix, in order of keys.
  std::vector<S3Object> list(const std::string& prefix) const;
  // It is no error when there is none.
  void remove(const std::string& key) const;

 private:
  S3Options options_;
  std::string bucket_;
};

}  // namespace hum
