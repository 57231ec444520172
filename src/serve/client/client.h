// Calls the API of a `hum serve`: retries what a busy server or a lost connection refused, and
// turns a refusal into an Error. remote_job.h runs whole jobs.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/http.h"
#include "base/json_fwd.h"

namespace hum::serve {

struct ServerAccess {
  std::string url = "http://127.0.0.1:8417";
  std::string key;  // sent as bearer token; empty: none
  std::string ca;   // file of certificates to trust, PEM; empty: those of the system
};

// Builds a body of multipart/form-data.
class FormWriter {
 public:
  FormWriter();
  FormWriter& text(std::string_view name, std::string_view value);
  FormWriter& file(std::string_view name, std::string_view bytes);
  // The header "Content-Type: ...".
  std::string content_type() const;
  std::string body() const { return body_ + "--" + boundary_ + "--\r\n"; }

 private:
  std::string boundary_, body_;
};

struct Call {
  std::string method = "GET";
  std::string path;                        // "/v1/jobs", with the query
  std::vector<std::string> headers = {};   // "Name: value"
  std::string_view body = {};              // must outlive the call
  std::chrono::seconds stall_timeout{30};  // without any bytes; 0: none
  // Makes what receives the body of a 2xx answer, anew for each attempt. Absent: it is in the
  // answer.
  std::function<std::function<void(std::string_view)>()> new_sink = {};
};

// How long a client waits for a server that is busy or restarts.
struct Patience {
  int first_attempts = 2;  // of a server that has not answered yet: its address may be wrong
  // Of one that has answered, from the end of the first failed attempt: longer than it takes to
  // stop (TimeoutStopSec in deploy/hum.service) and to start again.
  std::chrono::milliseconds longest{150'000};
  // An attempt that ran longer than `long_attempt` was connected: the server was there, and
  // `longest` counts from its end. Less than `long_attempts` times, since a server that hangs makes
  // every attempt long.
  std::chrono::milliseconds long_attempt{10'000};
  int long_attempts = 8;
  std::chrono::milliseconds first_pause{250}, longest_pause{10'000};
};

// Why a client asks again, and after which pause.
struct Waiting {
  bool is_lost = false;  // there was no answer; else the server refused
  std::string reason;
  std::chrono::milliseconds pause{};
  std::chrono::milliseconds patience{};  // it tries again for so long
};

class Client {
 public:
  // Throws: kUsage if the URL or the key is malformed; kNoInput if there is no file `ca`.
  explicit Client(ServerAccess access, Patience patience = {}, std::stop_token stop = {});

  // Sends the request once. Status 0: no answer. Throws only what the sink throws.
  HttpAnswer send(const Call& call) const;
  // Sends it until the answer is 2xx. It repeats after lost connections, 429, 502, 503 and 504, so
  // a POST needs an Idempotency-Key; not if the server's Retry-After is longer than its patience.
  // Throws: kUnavailable if the server does not answer or is not trusted; kTemporary if it stays
  // busy or has a fault; kNoPermission, kNoInput or kBadData for what it refuses, with its reason;
  // kFailure if stopped.
  HttpAnswer ask(const Call& call);
  // The JSON of the answer. Throws also: kBadData if it is none.
  Json ask_json(const Call& call);
  // For answers that no hum serve gives. Throws: kBadData.
  [[noreturn]] void fail_unlike_hum() const;

  // Waits; returns early when stopped. Throws: kFailure if stopped.
  void pause(std::chrono::milliseconds time) const;
  const std::string& url() const { return access_.url; }
  // Called before each pause.
  void on_wait(std::function<void(const Waiting&)> told) { told_ = std::move(told); }
  // The hint when it gives up waiting, in place of the usual one; a hint of the server comes first.
  void set_hint(std::string hint) { hint_ = std::move(hint); }

 private:
  std::string reason_of(const HttpAnswer& answer) const;
  [[noreturn]] void refuse_connection(const HttpAnswer& answer) const;
  std::chrono::milliseconds pause_after(const HttpAnswer& answer, int attempt) const;
  [[noreturn]] void refuse(const HttpAnswer& answer) const;

  ServerAccess access_;
  Patience patience_;
  std::stop_token stop_;
  std::function<void(const Waiting&)> told_;
  std::string hint_;
  bool has_answered_ = false;
};

}  // namespace hum::serve
