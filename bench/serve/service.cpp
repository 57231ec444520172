#include "bench/serve/service.h"

#include <chrono>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/files.h"
#include "bench/locations.h"

namespace hum::bench {

double Service::start() {
  const auto begin = std::chrono::steady_clock::now();
  process_ = nullptr;
  process_ = std::make_unique<serve::Process>(
      std::vector<std::string>{kHumProgram, "serve", "--listen", fmt::format("127.0.0.1:{}", port_),
                               "--data", folder_ / "data", "--workers", std::to_string(workers_),
                               "--json"},
      folder_.path() / "log");
  const std::string line = process_->first_line();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (line.empty()) fail(ExitCode::kFailure, "hum serve does not start: " + log());
  if (url_.empty()) {
    const Json listening = parse_json(line);
    port_ = listening["port"];
    url_ = listening["url"];
  }
  return seconds;
}

std::string Service::log() const { return read_file(folder_.path() / "log"); }

void Service::wait_until_ready() const {
  if (serve::eventually([&] { return ask("GET", "/ready").status == 200; })) return;
  fail(ExitCode::kFailure, "no worker becomes ready: " + log());
}

HttpAnswer Service::ask(const std::string& method, const std::string& path, std::string_view body,
                        const std::vector<std::string>& headers,
                        const std::function<void(std::string_view)>& sink) const {
  serve::Call call{.method = method, .path = path, .headers = headers, .body = body};
  if (sink) call.new_sink = [&] { return sink; };
  return serve::Client(serve::ServerAccess{.url = url_}).send(call);
}

std::string Service::begin(std::string_view recording, const Json& options,
                           const std::string& key) const {
  serve::FormWriter form;
  form.text("options", to_text(options)).file("audio", recording);
  std::vector<std::string> headers = {form.content_type()};
  if (!key.empty()) headers.push_back("Idempotency-Key: " + key);
  const std::string body = form.body();
  const HttpAnswer answer = ask("POST", "/v1/jobs", body, headers);
  if (answer.status == 202) return parse_json(answer.body)["id"];
  // A server that was just killed, or is full, will take it later.
  if (answer.status == 0 || answer.status == 503 || answer.status == 429) return "";
  fail(ExitCode::kFailure, fmt::format("the job was refused: {}", answer.body));
}

std::optional<Json> Service::job(const std::string& id) const {
  const HttpAnswer answer = ask("GET", "/v1/jobs/" + id);
  if (answer.status == 200) return parse_json(answer.body);
  if (answer.status == 0 || answer.status == 503) return std::nullopt;
  fail(ExitCode::kFailure, fmt::format("job {} is lost: {}", id, answer.body));
}

void Service::follow(const std::string& id, const std::stop_token& stop,
                     const std::function<void()>& came) const {
  HttpRequest request{.method = "GET", .url = url_ + "/v1/jobs/" + id + "/events"};
  request.stall_timeout = std::chrono::seconds(0);  // there may be nothing to tell for a long time
  request.sink = [&](std::string_view) {
    if (came) came();
  };
  request.stop = stop;
  send_http(request);
}

std::vector<pid_t> Service::workers() const {
  std::vector<pid_t> workers;
  for (const pid_t child : process_->children()) {
    std::ifstream file(fmt::format("/proc/{}/cmdline", child));
    const std::string words{std::istreambuf_iterator<char>(file), {}};
    if (words.find(std::string("\0worker\0", 8)) != std::string::npos) workers.push_back(child);
  }
  return workers;
}

}  // namespace hum::bench
