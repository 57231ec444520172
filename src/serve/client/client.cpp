#include "serve/client/client.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "serve/storage/records.h"

namespace hum::serve {
namespace {

using std::chrono::milliseconds;

// A server that asks for more asks for too much.
constexpr std::chrono::hours kLongestRetryAfter{24};

bool is_passing(const HttpAnswer& answer) {
  if (!answer.failure.empty()) return answer.may_retry;
  return answer.status == 429 || (answer.status >= 502 && answer.status <= 504);
}

std::string text_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

constexpr const char* kKeyHint =
    "set HUM_KEY or --server-key to the token that `hum serve add-key` has printed";

struct Meaning {
  int status;
  ExitCode code;
  const char* hint;
};
constexpr Meaning kMeanings[] = {
    {401, ExitCode::kNoPermission, kKeyHint},
    {403, ExitCode::kNoPermission, "this key does not allow it: ask those who run the server"},
    {404, ExitCode::kNoInput, "it may have been removed or expired"},
    {413, ExitCode::kBadData, "shorten the recording, or send it as flac, ogg or mp3"},
    {415, ExitCode::kBadData, "--server must name a hum serve of this version or a newer one"},
    {422, ExitCode::kBadData, ""},
    {429, ExitCode::kTemporary, "try again later"},
    {421, ExitCode::kConfig, "those who run the server must allow this host name"},
};

Meaning meaning_of(int status) {
  for (const Meaning& row : kMeanings) {
    if (row.status == status) return row;
  }
  if (status >= 500) return {status, ExitCode::kTemporary, "try again later"};
  return {status, ExitCode::kUnavailable, "check that --server is the address of a hum serve"};
}

struct Distrust {
  CertificateFault fault;
  const char* text;  // "its certificate ..."
  const char* hint;
};
constexpr Distrust kDistrusts[] = {
    {CertificateFault::kExpired, "has expired",
     "those who run the server must renew it; if they have, check the clock of this machine"},
    {CertificateFault::kNotYetValid, "is not valid yet",
     "check the clock of this machine; else those who run the server must replace it"},
    {CertificateFault::kOtherName, "is for another name",
     "use a name or address of the certificate in --server; those who run the server can add one"},
    {CertificateFault::kUnknownIssuer, "is signed by nobody who is trusted here",
     "give the certificate to trust, the server's or its signer's, with --server-ca"},
};

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

}  // namespace

FormWriter::FormWriter() : boundary_("hum-" + new_id()) {}

FormWriter& FormWriter::text(std::string_view name, std::string_view value) {
  body_ += fmt::format("--{}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{}\r\n",
                       boundary_, name, value);
  return *this;
}

FormWriter& FormWriter::file(std::string_view name, std::string_view bytes) {
  body_ +=
      fmt::format("--{}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"sound\"\r\n\r\n",
                  boundary_, name);
  body_ += bytes;
  body_ += "\r\n";
  return *this;
}

std::string FormWriter::content_type() const {
  return "Content-Type: multipart/form-data; boundary=" + boundary_;
}

Client::Client(ServerAccess access, Patience patience, std::stop_token stop)
    : access_(std::move(access)), patience_(patience), stop_(std::move(stop)) {
  std::string& url = access_.url;
  while (url.ends_with('/')) url.pop_back();
  const bool is_url = url.starts_with("http://") || url.starts_with("https://");
  if (!is_url || url.find_first_of(" ?#") != url.npos || has_control_character(url)) {
    fail(ExitCode::kUsage, fmt::format("--server '{}' is not the URL of a server", url),
         "--server http://127.0.0.1:8417, as hum serve prints it");
  }
  if (has_control_character(access_.key)) {
    fail(ExitCode::kUsage, "the key of the server has control characters",
         "copy it again, without a line end");
  }
  if (!access_.ca.empty()) require_exists(access_.ca, "--server-ca names a certificate (PEM)");
}

HttpAnswer Client::send(const Call& call) const {
  HttpRequest request{.method = call.method,
                      .url = access_.url + call.path,
                      .headers = call.headers,
                      .body = call.body,
                      .stall_timeout = call.stall_timeout,
                      .stop = stop_,
                      .ca_file = access_.ca};
  if (!access_.key.empty()) request.headers.push_back("Authorization: Bearer " + access_.key);
  if (call.new_sink) request.sink = call.new_sink();
  return send_http(request);
}

HttpAnswer Client::ask(const Call& call) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point failing_since;
  int long_attempts = 0;
  for (int attempt = 1;; ++attempt) {
    const auto begin = Clock::now();
    HttpAnswer answer = send(call);
    const auto end = Clock::now();
    if (stop_.stop_requested()) fail(ExitCode::kFailure, "stopped", "run the command again");
    if (answer.failure.empty()) {
      has_answered_ = true;
      if (answer.status / 100 == 2) return answer;
    }
    if (!is_passing(answer)) refuse(answer);
    const milliseconds wait = pause_after(answer, attempt);
    const bool was_long = end - begin > patience_.long_attempt;
    if (was_long) ++long_attempts;
    if (attempt == 1 || (was_long && long_attempts < patience_.long_attempts)) failing_since = end;
    const bool is_over = Clock::now() + wait > failing_since + patience_.longest;
    if (has_answered_ ? is_over : attempt >= patience_.first_attempts) refuse(answer);
    if (told_) {
      told_({!answer.failure.empty(), reason_of(answer), wait,
             has_answered_ ? patience_.longest : wait});
    }
    pause(wait);
  }
}

Json Client::ask_json(const Call& call) {
  Json json = try_parse_json(ask(call).body);
  if (!json.is_object()) fail_unlike_hum();
  return json;
}

void Client::fail_unlike_hum() const {
  fail(ExitCode::kBadData, fmt::format("{} does not answer as a hum serve does", access_.url),
       "check that --server is the address of a hum serve");
}

void Client::pause(milliseconds time) const {
  hum::pause(time, stop_);
  if (stop_.stop_requested()) fail(ExitCode::kFailure, "stopped", "run the command again");
}

// Not before the server's Retry-After.
milliseconds Client::pause_after(const HttpAnswer& answer, int attempt) const {
  const auto longest =
      std::min(patience_.first_pause * (1 << std::min(attempt - 1, 16)), patience_.longest_pause);
  const milliseconds back_off = jittered(longest);
  const auto found = answer.headers.find("retry-after");
  if (found == answer.headers.end()) return back_off;
  const std::string& text = found->second;
  int64_t seconds = 0;  // a date is taken for none
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  constexpr int64_t kMost_s = std::chrono::seconds(kLongestRetryAfter).count();
  const std::chrono::seconds wanted(std::clamp<int64_t>(seconds, 0, kMost_s));
  return std::max<milliseconds>(back_off, wanted);
}

std::string Client::reason_of(const HttpAnswer& answer) const {
  if (!answer.failure.empty()) {
    return fmt::format("the server {} does not answer: {}", access_.url, answer.failure);
  }
  const Json problem = try_parse_json(answer.body);
  const std::string detail = problem.is_object() ? text_in(problem, "detail") : "";
  return detail.empty() ? fmt::format("{} answers HTTP {}", access_.url, answer.status) : detail;
}

void Client::refuse_connection(const HttpAnswer& answer) const {
  const auto distrust = std::ranges::find(kDistrusts, answer.certificate, &Distrust::fault);
  if (distrust != std::end(kDistrusts)) {
    fail(ExitCode::kUnavailable,
         fmt::format("{} is not trusted: its certificate {}", access_.url, distrust->text),
         distrust->hint);
  }
  const auto tells = [&](std::string_view text) {
    return answer.failure.find(text) != std::string::npos;
  };
  std::string hint = hint_;
  if (!access_.ca.empty() && tells(access_.ca)) {
    hint = "--server-ca must name a file with certificates (PEM)";
  } else if (tells("wrong version number")) {
    hint = "it may speak HTTP: begin --server with http://";
  } else if (hint.empty()) {
    hint = has_answered_ ? "check that it still runs, and the network"
                         : "start it with 'hum serve', or name another one with --server";
  }
  fail(ExitCode::kUnavailable, reason_of(answer), hint);
}

void Client::refuse(const HttpAnswer& answer) const {
  if (!answer.failure.empty()) refuse_connection(answer);
  const Meaning meaning = meaning_of(answer.status);
  const Json problem = try_parse_json(answer.body);
  // The server's hint is better, except where it speaks of headers.
  std::string hint = problem.is_object() && answer.status != 401 ? text_in(problem, "hint") : "";
  if (hint.empty() && is_passing(answer)) hint = hint_;
  if (hint.empty()) hint = meaning.hint;
  fail(meaning.code, reason_of(answer), hint);
}

}  // namespace hum::serve
