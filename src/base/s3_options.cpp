// Where S3 is, and with what credentials.
#include <algorithm>

#include "base/env.h"
#include "base/error.h"
#include "base/files.h"
#include "base/s3.h"
#include "base/text.h"

namespace hum {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kScheme = "s3://";

std::string first_of(std::string_view first, std::string_view second) {
  const std::string value = env_string(first);
  return value.empty() ? env_string(second) : value;
}

// The credentials in a section of an INI file; empty if there are none.
AwsCredentials parse_credentials(std::string_view text, std::string_view profile) {
  AwsCredentials credentials;
  bool is_inside = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at), " \t\r");
    at = end + 1;
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      is_inside = line.ends_with(']') && trimmed(line.substr(1, line.size() - 2)) == profile;
      continue;
    }
    const size_t equals = line.find('=');
    if (!is_inside || equals == line.npos) continue;
    const std::string_view name = trimmed(line.substr(0, equals));
    const std::string value(trimmed(line.substr(equals + 1)));
    if (name == "aws_access_key_id") credentials.access_key_id = value;
    if (name == "aws_secret_access_key") credentials.secret_access_key = value;
    if (name == "aws_session_token") credentials.session_token = value;
  }
  return credentials;
}

bool is_complete(const AwsCredentials& credentials) {
  return !credentials.access_key_id.empty() && !credentials.secret_access_key.empty();
}

fs::path credentials_file() {
  if (const auto file = env_string("AWS_SHARED_CREDENTIALS_FILE"); !file.empty()) return file;
  const std::string home = env_string("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".aws/credentials";
}

}  // namespace

AwsCredentials read_aws_credentials() {
  AwsCredentials credentials = {env_string("AWS_ACCESS_KEY_ID"),
                                env_string("AWS_SECRET_ACCESS_KEY"),
                                env_string("AWS_SESSION_TOKEN")};
  if (is_complete(credentials)) return credentials;
  const std::string profile = env_string("AWS_PROFILE", "default");
  const fs::path file = credentials_file();
  // Half a pair of variables is a mistake that the file must not hide.
  if (credentials.access_key_id.empty() && credentials.secret_access_key.empty()) {
    std::error_code none;
    if (fs::is_regular_file(file, none)) credentials = parse_credentials(read_file(file), profile);
  }
  if (is_complete(credentials)) return credentials;
  fail(ExitCode::kConfig, "S3: no credentials found",
       fmt::format("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for a "
                   "role), or write them to [{}] in {}",
                   profile, file.string()));
}

S3Options s3_options_from_environment() {
  S3Options options{.credentials = read_aws_credentials(),
                    .read_credentials = read_aws_credentials};
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

}  // namespace hum
