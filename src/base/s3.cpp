#include "base/s3.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/http.h"
#include "base/s3_call_impl.h"

namespace hum {

S3Bucket::S3Bucket(S3Options options, std::string bucket)
    : options_(std::move(options)),
      bucket_(std::move(bucket)),
      credentials_(options_.credentials) {}

std::optional<std::string> S3Bucket::get(const std::string& key, std::stop_token stop) const {
  HttpAnswer answer = send({.method = "GET", .key = key, .stop = std::move(stop)});
  if (answer.status == 404) return std::nullopt;
  return std::move(answer.body);
}

bool S3Bucket::get_to_file(const std::string& key, const std::filesystem::path& path,
                           std::stop_token stop) const {
  std::optional<AtomicFile> file;
  const auto new_sink = [&] {
    file.reset();
    file.emplace(path);
    return [&file](std::string_view bytes) { file->write(bytes); };
  };
  const S3Call call{.method = "GET", .key = key, .new_sink = new_sink, .stop = std::move(stop)};
  if (send(call).status == 404) return false;
  file->commit();
  return true;
}

bool S3Bucket::holds(const std::string& key, std::string_view bytes, const std::string& hash,
                     std::stop_token stop) const {
  const HttpAnswer head = send({.method = "HEAD",
                                .key = key,
                                .headers = {{"x-amz-checksum-mode", "ENABLED"}},
                                .stop = stop});
  if (head.status == 404) return false;
  const auto length = head.headers.find("content-length");
  if (length == head.headers.end() || length->second != std::to_string(bytes.size())) return false;
  // Of an object in parts it is a hash of hashes, "...-2".
  const auto checksum = head.headers.find("x-amz-checksum-sha256");
  if (checksum != head.headers.end() && checksum->second.find('-') == std::string::npos) {
    return checksum->second == s3_checksum(hash.empty() ? sha256(bytes) : hash);
  }
  std::string_view left;
  bool is_same = true;
  const auto new_sink = [&] {
    left = bytes;
    is_same = true;
    return [&](std::string_view piece) {
      is_same = is_same && left.starts_with(piece);
      left.remove_prefix(std::min(piece.size(), left.size()));
    };
  };
  const S3Call get{.method = "GET", .key = key, .new_sink = new_sink, .stop = std::move(stop)};
  return send(get).status != 404 && is_same && left.empty();
}

std::optional<int64_t> S3Bucket::head(const std::string& key) const {
  const HttpAnswer answer = send({.method = "HEAD", .key = key});
  if (answer.status == 404) return std::nullopt;
  const auto length = answer.headers.find("content-length");
  return length == answer.headers.end() ? 0 : std::stoll(length->second);
}

std::vector<S3Object> S3Bucket::list(const std::string& prefix) const {
  std::vector<S3Object> objects;
  UriQuery query{{"list-type", "2"}, {"encoding-type", "url"}, {"prefix", prefix}};
  for (std::string next;;) {
    UriQuery page = query;
    if (!next.empty()) page.emplace_back("continuation-token", next);
    const HttpAnswer answer = send({.method = "GET", .query = std::move(page)});
    if (answer.status == 404) fail_call({.method = "LIST", .key = prefix}, answer);
    const std::string& xml = answer.body;
    if (xml.find("<ListBucketResult") == xml.npos) {
      fail(ExitCode::kBadData,
           fmt::format("LIST s3://{}/{}: the response is not a listing", bucket_, prefix),
           "check that AWS_ENDPOINT_URL_S3 points to an S3 server");
    }
    for (size_t at = xml.find("<Contents>"); at != xml.npos; at = xml.find("<Contents>", at + 1)) {
      objects.push_back(
          {uri_decode(xml_text(xml, "Key", at)), std::stoll(xml_text(xml, "Size", at))});
    }
    next = xml_text(xml, "NextContinuationToken");
    if (next.empty()) return objects;
  }
}

void S3Bucket::remove(const std::string& key) const { send({.method = "DELETE", .key = key}); }

}  // namespace hum
