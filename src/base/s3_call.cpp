#include <fmt/chrono.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/s3_call_impl.h"

namespace hum {
namespace {

using Clock = std::chrono::steady_clock;

std::string utc_now() {
  const auto now =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(now));
}

HttpRequest signed_request(const S3Options& options, const AwsCredentials& credentials,
                           const std::string& bucket, const S3Call& call,
                           const std::string& body_hash) {
  const S3Target target = s3_target(options, bucket, call.key);
  UnsignedRequest parts{
      .method = call.method, .path = target.path, .query = canonical_query(call.query)};
  parts.headers = {
      {"host", target.host}, {"x-amz-content-sha256", body_hash}, {"x-amz-date", utc_now()}};
  parts.headers.insert(call.headers.begin(), call.headers.end());
  if (call.only_new) parts.headers.emplace("if-none-match", "*");
  if (!credentials.session_token.empty()) {
    parts.headers["x-amz-security-token"] = credentials.session_token;
  }
  HttpRequest request{.method = call.method, .body = call.body};
  request.url = fmt::format("{}://{}{}{}{}", target.scheme, target.host, target.path,
                            parts.query.empty() ? "" : "?", parts.query);
  for (const auto& [name, value] : parts.headers) {
    request.headers.push_back(fmt::format("{}: {}", name, value));
  }
  const std::string allowed = authorization(parts, credentials, options.region);
  request.headers.push_back("Authorization: " + allowed);
  // curl would call it a form.
  if (call.method == "POST") request.headers.emplace_back("Content-Type: application/octet-stream");
  request.connect_timeout = options.connect_timeout;
  request.transfer_timeout = options.transfer_timeout;
  request.stall_timeout = options.stall_timeout;
  request.stop = call.stop;
  return request;
}

bool may_pass(const HttpAnswer& answer) {
  if (!answer.failure.empty()) return answer.may_retry;
  const std::string code = xml_text(answer.body, "Code");
  return answer.status >= 500 || answer.status == 429 || code == "RequestTimeout" ||
         code == "ConditionalRequestConflict" || code == "OperationAborted";
}

// The response to a HEAD has no body that says so.
bool may_have_expired(const S3Call& call, const HttpAnswer& answer) {
  if (!answer.failure.empty()) return false;
  if (call.method == "HEAD") return answer.status == 400 || answer.status == 403;
  const std::string code = xml_text(answer.body, "Code");
  return code == "ExpiredToken" || code == "ExpiredTokenException" || code == "InvalidAccessKeyId";
}

bool is_result(const S3Call& call, const HttpAnswer& answer) {
  if (!answer.failure.empty()) return false;
  if (answer.status == 412) return call.only_new;
  if (answer.status == 404) return xml_text(answer.body, "Code") != "NoSuchBucket";
  return answer.status / 100 == 2;
}

struct Refusal {
  std::string_view code;
  ExitCode exit_code;
  std::string_view hint;
};
constexpr std::string_view kLogIn =
    "AWS_SESSION_TOKEN has expired: log in and export the three AWS_ variables again, or write "
    "them to ~/.aws/credentials, which is read again";
constexpr Refusal kRefusals[] = {
    {"NoSuchBucket", ExitCode::kConfig, "create the bucket, or correct its name and AWS_REGION"},
    {"PermanentRedirect", ExitCode::kConfig, "set AWS_REGION to the bucket's region"},
    {"AuthorizationHeaderMalformed", ExitCode::kConfig, "set AWS_REGION to the bucket's region"},
    {"ExpiredToken", ExitCode::kNoPermission, kLogIn},
    {"ExpiredTokenException", ExitCode::kNoPermission, kLogIn},
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

// S3 may begin a response to the joining of parts, and then fail.
void find_hidden_error(const S3Call& call, HttpAnswer& answer) {
  const bool has_error = answer.body.find("<Error>") != std::string::npos;
  if (call.method == "POST" && answer.status == 200 && has_error) answer.status = 500;
}

}  // namespace

std::string xml_text(std::string_view xml, std::string_view tag, size_t from) {
  const size_t open = xml.find(fmt::format("<{}>", tag), from);
  if (open == xml.npos) return "";
  const size_t first = open + tag.size() + 2;
  const size_t last = xml.find(fmt::format("</{}>", tag), first);
  return last == xml.npos ? "" : std::string(xml.substr(first, last - first));
}

HttpAnswer S3Bucket::send(const S3Call& call) const {
  const std::string body_hash = call.body_hash.empty() ? sha256(call.body) : call.body_hash;
  const auto start = Clock::now();
  const auto longest_pause = std::max(options_.first_pause, options_.longest_pause);
  auto longest = options_.first_pause;
  bool is_renewed = false;
  for (int attempt = 1;; ++attempt) {
    const AwsCredentials used = credentials();
    HttpRequest request = signed_request(options_, used, bucket_, call, body_hash);
    if (call.new_sink) request.sink = call.new_sink();
    HttpAnswer answer = send_http(request);
    find_hidden_error(call, answer);
    if (is_result(call, answer)) return answer;
    if (!is_renewed && may_have_expired(call, answer)) {
      is_renewed = true;
      if (renew_credentials(used)) continue;
    }
    const bool is_last = call.only_once || (attempt >= options_.attempts &&
                                            Clock::now() - start >= options_.patience);
    if (!may_pass(answer) || is_last || call.stop.stop_requested()) fail_call(call, answer);
    pause(jittered(longest), call.stop);
    if (options_.repeating) options_.repeating();
    longest = std::min(longest * 2, longest_pause);
  }
}

void S3Bucket::fail_call(const S3Call& call, const HttpAnswer& answer) const {
  fail_with(answer, fmt::format("{} s3://{}/{}", call.method, bucket_, call.key));
}

AwsCredentials S3Bucket::credentials() const {
  const std::lock_guard lock(mutex_);
  return credentials_;
}

bool S3Bucket::renew_credentials(const AwsCredentials& used) const {
  if (!options_.read_credentials) return false;
  const std::lock_guard lock(mutex_);
  // Another thread may have renewed them.
  if (credentials_ == used) credentials_ = options_.read_credentials();
  return credentials_ != used;
}

}  // namespace hum
