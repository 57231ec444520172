#include "base/s3.h"

#include <fmt/chrono.h>

#include <functional>

#include "base/env.h"
#include "base/error.h"
#include "base/files.h"
#include "base/http.h"

namespace hum {
namespace {

constexpr std::string_view kScheme = "s3://";

struct Call {
  std::string method;
  std::string key;
  UriQuery query = {};
  std::string_view body = {};
  // Receives the body of a response. Created anew for each attempt.
  std::function<std::function<void(std::string_view)>()> new_sink = {};
  std::stop_token stop = {};
};

// The text of the first <tag> at or after `from`; empty if there is none.
std::string xml_text(std::string_view xml, std::string_view tag, size_t from = 0) {
  const size_t open = xml.find(fmt::format("<{}>", tag), from);
  if (open == xml.npos) return "";
  const size_t first = open + tag.size() + 2;
  const size_t last = xml.find(fmt::format("</{}>", tag), first);
  return last == xml.npos ? "" : std::string(xml.substr(first, last - first));
}

std::string utc_now() {
  const auto now =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(now));
}

HttpRequest signed_request(const S3Options& options, const std::string& bucket, const Call& call) {
  const S3Target target = s3_target(options, bucket, call.key);
  UnsignedRequest parts{
      .method = call.method, .path = target.path, .query = canonical_query(call.query)};
  parts.headers = {{"host", target.host},
                   {"x-amz-content-sha256", sha256(call.body)},
                   {"x-amz-date", utc_now()}};
  if (!options.credentials.session_token.empty()) {
    parts.headers["x-amz-security-token"] = options.credentials.session_token;
  }
  HttpRequest request{.method = call.method, .body = call.body};
  request.url = fmt::format("{}://{}{}{}{}", target.scheme, target.host, target.path,
                            parts.query.empty() ? "" : "?", parts.query);
  for (const auto& [name, value] : parts.headers) {
    request.headers.push_back(fmt::format("{}: {}", name, value));
  }
  const std::string allowed = authorization(parts, options.credentials, options.region);
  request.headers.push_back("Authorization: " + allowed);
  request.connect_timeout = options.connect_timeout;
  request.transfer_timeout = options.transfer_timeout;
  request.stall_timeout = options.stall_timeout;
  request.stop = call.stop;
  return request;
}

bool may_pass(const HttpAnswer& answer) {
  if (!answer.failure.empty()) return answer.may_retry;
  return answer.status >= 500 || answer.status == 429 ||
         xml_text(answer.body, "Code") == "RequestTimeout";
}

struct Refusal {
  std::string_view code;
  ExitCode exit_code;
  std::string_view hint;
};
constexpr Refusal kRefusals[] = {
    {"NoSuchBucket", ExitCode::kConfig, "create the bucket, or correct its name and AWS_REGION"},
    {"PermanentRedirect", ExitCode::kConfig, "set AWS_REGION to the bucket's region"},
    {"AuthorizationHeaderMalformed", ExitCode::kConfig, "set AWS_REGION to the bucket's region"},
    {"ExpiredToken", ExitCode::kNoPermission,
     "AWS_SESSION_TOKEN has expired: log in and export the three AWS_ variables again"},
    {"InvalidAccessKeyId", ExitCode::kNoPermission, "correct AWS_ACCESS_KEY_ID"},
    {"SignatureDoesNotMatch", ExitCode::kNoPermission, "correct AWS_SECRET_ACCESS_KEY"},
    {"RequestTimeTooSkewed", ExitCode::kNoPermission, "set this machine's clock"},
};

[[noreturn]] void fail_with(const HttpAnswer& answer, const std::string& what) {
  if (!answer.failure.empty()) {
    fail(ExitCode::kTemporary, fmt::format("{}: {}", what, answer.failure),
         "check the network, and AWS_ENDPOINT_URL_S3 if it is set");
  }
  const std::string code = xml_text(answer.body, "Code");
  const std::string message =
      fmt::format("{}: HTTP {}{}{} {}", what, answer.status, code.empty() ? "" : ", ", code,
                  xml_text(answer.body, "Message"));
  if (const auto region = answer.headers.find("x-amz-bucket-region");
      answer.status / 100 == 3 && region != answer.headers.end()) {
    fail(ExitCode::kConfig, message,
         "the bucket's region differs: set AWS_REGION=" + region->second);
  }
  for (const Refusal& refusal : kRefusals) {
    if (refusal.code == code) fail(refusal.exit_code, message, std::string(refusal.hint));
  }
  if (answer.status == 401 || answer.status == 403) {
    fail(ExitCode::kNoPermission, message,
         "the credentials do not allow this: check the bucket policy, AWS_ACCESS_KEY_ID and "
         "AWS_SESSION_TOKEN");
  }
  const bool passing = answer.status >= 500 || answer.status == 429;
  fail(passing ? ExitCode::kTemporary : ExitCode::kFailure, message,
       passing ? "the server is overloaded or broken: try again later" : "");
}

// The first response that is a success or reports a missing object.
HttpAnswer send(const S3Options& options, const std::string& bucket, const Call& call) {
  auto longest = options.first_pause;
  for (int attempt = 1;; ++attempt, longest *= 2) {
    HttpRequest request = signed_request(options, bucket, call);
    if (call.new_sink) request.sink = call.new_sink();
    HttpAnswer answer = send_http(request);
    if (answer.failure.empty()) {
      if (answer.status / 100 == 2) return answer;
      const std::string code = xml_text(answer.body, "Code");
      if (answer.status == 404 && code != "NoSuchBucket") return answer;
    }
    if (!may_pass(answer) || attempt >= options.attempts || call.stop.stop_requested()) {
      fail_with(answer, fmt::format("{} s3://{}/{}", call.method, bucket, call.key));
    }
    pause(jittered(longest), call.stop);
  }
}

}  // namespace

S3Options s3_options_from_environment() {
  const auto first_of = [](std::string_view first, std::string_view second) {
    const std::string value = env_string(first);
    return value.empty() ? env_string(second) : value;
  };
  S3Options options{.credentials = {env_string("AWS_ACCESS_KEY_ID"),
                                    env_string("AWS_SECRET_ACCESS_KEY"),
                                    env_string("AWS_SESSION_TOKEN")}};
  if (options.credentials.access_key_id.empty() || options.credentials.secret_access_key.empty()) {
    fail(ExitCode::kConfig, "S3: no credentials found",
         "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for a role)");
  }
  const std::string region = first_of("AWS_REGION", "AWS_DEFAULT_REGION");
  if (!region.empty()) options.region = region;
  options.endpoint = first_of("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
  return options;
}

bool is_s3_url(std::string_view url) { return url.starts_with(kScheme); }

S3Place parse_s3_url(std::string_view url) {
  HUM_CHECK(is_s3_url(url));
  const std::string_view place = url.substr(kScheme.size());
  const size_t slash = std::min(place.find('/'), place.size());
  std::string_view prefix = place.substr(std::min(slash + 1, place.size()));
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (slash == 0) {
    fail(ExitCode::kConfig, fmt::format("{}: the bucket is missing", url),
         "write s3://bucket/prefix");
  }
  return {std::string(place.substr(0, slash)), std::string(prefix)};
}

S3Target s3_target(const S3Options& options, const std::string& bucket, std::string_view key) {
  const std::string path = "/" + uri_encode(key, /*keep_slashes=*/true);
  if (options.endpoint.empty()) {
    const std::string host = fmt::format("s3.{}.amazonaws.com", options.region);
    // The certificate covers only one label before s3.
    if (bucket.find('.') != bucket.npos) return {"https", host, "/" + bucket + path};
    return {"https", bucket + "." + host, path};
  }
  std::string_view rest = options.endpoint;
  const size_t colon = rest.find("://");
  const std::string_view scheme = colon == rest.npos ? "" : rest.substr(0, colon);
  if (scheme != "http" && scheme != "https") {
    fail(ExitCode::kConfig, fmt::format("the S3 endpoint '{}' is not a URL", options.endpoint),
         "set AWS_ENDPOINT_URL_S3=https://host:port");
  }
  rest.remove_prefix(colon + 3);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t slash = std::min(rest.find('/'), rest.size());
  // S3 also lists a bucket at "/bucket", as every path-style client requests it.
  return {std::string(scheme), std::string(rest.substr(0, slash)),
          fmt::format("{}/{}{}", rest.substr(slash), bucket, key.empty() ? "" : path)};
}

std::optional<std::string> S3Bucket::get(const std::string& key, std::stop_token stop) const {
  HttpAnswer answer =
      send(options_, bucket_, {.method = "GET", .key = key, .stop = std::move(stop)});
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
  const Call call{.method = "GET", .key = key, .new_sink = new_sink, .stop = std::move(stop)};
  if (send(options_, bucket_, call).status == 404) return false;
  file->commit();
  return true;
}

void S3Bucket::put(const std::string& key, std::string_view bytes, std::stop_token stop) const {
  const Call call{.method = "PUT", .key = key, .body = bytes, .stop = std::move(stop)};
  const HttpAnswer answer = send(options_, bucket_, call);
  if (answer.status == 404) fail_with(answer, fmt::format("PUT s3://{}/{}", bucket_, key));
}

std::optional<int64_t> S3Bucket::head(const std::string& key) const {
  const HttpAnswer answer = send(options_, bucket_, {.method = "HEAD", .key = key});
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
    const HttpAnswer answer = send(options_, bucket_, {.method = "GET", .query = std::move(page)});
    if (answer.status == 404) fail_with(answer, fmt::format("LIST s3://{}/{}", bucket_, prefix));
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

void S3Bucket::remove(const std::string& key) const {
  send(options_, bucket_, {.method = "DELETE", .key = key});
}

}  // namespace hum
