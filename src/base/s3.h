// A client for S3 and compatible servers (MinIO, Ceph, SeaweedFS). Handles whole objects; large
// ones are uploaded in parts. Credentials come from AWS's variables or its shared file; those that
// an instance's metadata server hands out are not read.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/sigv4.h"

namespace hum {

struct HttpAnswer;
struct S3Call;  // s3_call_impl.h

struct S3Options {
  AwsCredentials credentials;
  // Called once a call when the server says that the credentials have expired; empty: they stay.
  std::function<AwsCredentials()> read_credentials = {};
  // Called before a request that failed is sent again, by the thread that sends it; empty: nobody.
  std::function<void()> repeating = {};
  std::string region = "us-east-1";
  // "https://host:port[/path]", with the bucket in the path; empty: AWS, with the bucket in the
  // host name.
  std::string endpoint = {};
  std::chrono::milliseconds connect_timeout{5000};
  // A transfer is aborted after this long (0: never), or below 1 kB/s for `stall_timeout`.
  std::chrono::milliseconds transfer_timeout{0};
  std::chrono::seconds stall_timeout{30};
  // 5xx, 429 and broken connections are retried after `first_pause`, then twice that, up to
  // `longest_pause`: at least `attempts` times in all, and for as long as `patience`.
  int attempts = 4;
  std::chrono::milliseconds patience{0};
  std::chrono::milliseconds first_pause{200}, longest_pause{5000};
  // Objects above `one_put_bytes` are uploaded in parts of `part_bytes` (S3: at least 5 MiB, and at
  // most 10,000 parts).
  int64_t one_put_bytes = int64_t{64} << 20, part_bytes = int64_t{16} << 20;
};

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; without the first two, those of
// the profile AWS_PROFILE ("default") in AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials). Throws
// kConfig if there are none.
AwsCredentials read_aws_credentials();

// Has read_aws_credentials(); AWS_REGION, else AWS_DEFAULT_REGION; AWS_ENDPOINT_URL_S3, else
// AWS_ENDPOINT_URL. Throws what read_aws_credentials throws.
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
  S3Bucket(S3Options options, std::string bucket);

  // Returns nullopt if the object does not exist.
  std::optional<std::string> get(const std::string& key, std::stop_token stop = {}) const;
  // Downloads to a temporary file, then renames it. Returns false and writes nothing if the object
  // does not exist.
  bool get_to_file(const std::string& key, const std::filesystem::path& path,
                   std::stop_token stop = {}) const;
  // Creates or replaces the object, whole or not at all. A failed upload leaves no parts behind if
  // the server can still be reached.
  void put(const std::string& key, std::string_view bytes, std::stop_token stop = {}) const;
  // The same with the bytes of a file, which is mapped and must not change meanwhile.
  void put_file(const std::string& key, const std::filesystem::path& path,
                std::stop_token stop = {}) const;
  // Creates the object with its SHA-256. Returns false if it exists, with any bytes; also if an
  // earlier attempt of this call created it, but its response was lost. `hash`: the SHA-256 of the
  // bytes (lower-case hex), which the server checks; empty: not known yet.
  bool put_new(const std::string& key, std::string_view bytes, const std::string& hash = {},
               std::stop_token stop = {}) const;
  // Whether the object has these bytes: by the SHA-256 that the server keeps, else by a download.
  bool holds(const std::string& key, std::string_view bytes, const std::string& hash = {},
             std::stop_token stop = {}) const;
  // The object's size; nullopt if it does not exist.
  std::optional<int64_t> head(const std::string& key) const;
  // Lists all objects whose key starts with the prefix, sorted by key.
  std::vector<S3Object> list(const std::string& prefix) const;
  // Removing a missing object is not an error.
  void remove(const std::string& key) const;

 private:
  // The first response that is a success, reports a missing object or, for only_new, one that
  // exists.
  HttpAnswer send(const S3Call& call) const;
  [[noreturn]] void fail_call(const S3Call& call, const HttpAnswer& answer) const;
  // False: an object for only_new exists.
  bool upload(const std::string& key, std::string_view bytes, const std::string& hash,
              bool only_new, const std::stop_token& stop) const;
  bool upload_parts(const std::string& key, std::string_view bytes, bool only_new,
                    const std::stop_token& stop) const;
  std::string begin_parts(const std::string& key, const std::stop_token& stop) const;
  // Returns the list of the parts, for the request that joins them.
  std::string send_parts(const std::string& key, std::string_view bytes, const std::string& id,
                         const std::stop_token& stop) const;
  void abort_parts(const std::string& key, const std::string& id) const noexcept;
  AwsCredentials credentials() const;
  // Returns false if there are none but those in `used`.
  bool renew_credentials(const AwsCredentials& used) const;

  S3Options options_;
  std::string bucket_;
  mutable std::mutex mutex_;  // guards the member below
  mutable AwsCredentials credentials_;
};

}  // namespace hum
