#include "tests/serve/running_service.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>

#include "base/elapsed.h"
#include "base/error.h"
#include "base/files.h"
#include "base/quantile.h"
#include "serve/client/remote_job.h"
#include "tests/e2e/tiny_weights.h"
#include "tests/serve/hostile_sounds.h"

namespace hum::serve {

namespace fs = std::filesystem;

using hum::testing::eventually;
using hum::testing::Process;
using hum::testing::resident_bytes;

double RunningService::start() {
  const auto begin = std::chrono::steady_clock::now();
  process_ = nullptr;
  process_ = std::make_unique<Process>(
      std::vector<std::string>{options_.program.string(), "serve", "--listen",
                               fmt::format("127.0.0.1:{}", port_), "--data", folder_ / "data",
                               "--workers", std::to_string(options_.workers), "--json"},
      hum::testing::ProcessOptions{.environment = options_.environment, .err = folder_ / "log"});
  const std::string line = process_->first_line();
  const double seconds = seconds_since(begin);
  if (line.empty()) fail(ExitCode::kFailure, "hum serve does not start: " + log());
  if (url_.empty()) {
    const Json listening = parse_json(line);
    port_ = listening["port"];
    url_ = listening["url"];
  }
  return seconds;
}

std::string RunningService::log() const { return read_file(folder_.path() / "log"); }

void RunningService::wait_until_ready() const {
  if (eventually([&] { return ask("GET", "/ready").status == 200; })) return;
  fail(ExitCode::kFailure, "no worker becomes ready: " + log());
}

HttpAnswer RunningService::ask(const std::string& method, const std::string& path,
                               std::string_view body, const std::vector<std::string>& headers,
                               const std::function<void(std::string_view)>& sink) const {
  Call call{.method = method, .path = path, .headers = headers, .body = body};
  if (sink) call.new_sink = [&] { return sink; };
  return Client(ServerAccess{.url = url_}).send(call);
}

std::string RunningService::begin(std::string_view recording, const Json& options,
                                  const std::string& key) const {
  FormWriter form;
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

std::optional<Json> RunningService::job(const std::string& id) const {
  const HttpAnswer answer = ask("GET", "/v1/jobs/" + id);
  if (answer.status == 200) return parse_json(answer.body);
  if (answer.status == 0 || answer.status == 503) return std::nullopt;
  fail(ExitCode::kFailure, fmt::format("job {} is lost: {}", id, answer.body));
}

std::string RunningService::do_job(std::string_view recording, const Json& options) const {
  std::string id;
  const auto try_to_begin = [&] { return !(id = begin(recording, options)).empty(); };
  HUM_REQUIRE(eventually(try_to_begin), "the service takes no job: {}", log());
  std::optional<Json> last;
  const auto try_to_end = [&] {
    follow(id);
    last = job(id);
    return last && has_ended(*last);
  };
  HUM_REQUIRE(eventually(try_to_end), "job {} does not end: {}", id, log());
  HUM_REQUIRE((*last)["status"] == "done", "the job ended: {}", to_text(*last));
  return id;
}

void RunningService::follow(const std::string& id, const std::stop_token& stop,
                            const std::function<void()>& came) const {
  HttpRequest request{.method = "GET", .url = url_ + "/v1/jobs/" + id + "/events"};
  request.stall_timeout = std::chrono::seconds(0);  // there may be nothing to tell for a long time
  request.sink = [&](std::string_view) {
    if (came) came();
  };
  request.stop = stop;
  send_http(request);
}

std::vector<pid_t> RunningService::workers() const {
  std::vector<pid_t> workers;
  for (const pid_t child : process_->children()) {
    std::ifstream file(fmt::format("/proc/{}/cmdline", child));
    const std::string words{std::istreambuf_iterator<char>(file), {}};
    if (words.find(std::string("\0worker\0", 8)) != std::string::npos) workers.push_back(child);
  }
  return workers;
}

fs::path tiny_weights() {
  static const ScratchFolder folder;
  if (fs::is_empty(folder.path())) {
    e2e::write_tiny_weights(folder.path());
    e2e::write_tiny_references(folder.path(), {"violin", "flute"});
  }
  return folder.path();
}

namespace {

// As many as a worker has jobs at once.
constexpr int kClients = 4;
constexpr int kParts = 5;
// The server returns freed memory within a second.
constexpr std::chrono::seconds kRest{2};

void do_and_remove_job(const RunningService& service, const std::string& sound) {
  const std::string path = "/v1/jobs/" + service.do_job(sound, {{"preset", "violin"}});
  HUM_REQUIRE(service.ask("GET", path + "/results/take-1.wav").status == 200, "no sound: {}", path);
  HUM_REQUIRE(service.ask("DELETE", path).status == 204, "it stays: {}", path);
}

void do_jobs(const RunningService& service, const std::string& sound, int jobs) {
  std::atomic<int> left = jobs;
  std::mutex mutex;
  std::exception_ptr fault;
  std::vector<std::jthread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      try {
        while (left-- > 0) do_and_remove_job(service, sound);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        fault = std::current_exception();
      }
    });
  }
  clients.clear();  // waits for them
  if (fault) std::rethrow_exception(fault);
}

// A leak shows in every part; a heap that jobs fragment when they meet as never before grows by
// some MB, but in few of them. The first part fills caches.
double growth_of(const std::vector<double>& after_parts) {
  std::vector<double> growths;
  for (size_t i = 1; i < after_parts.size(); ++i) {
    growths.push_back(after_parts[i] - after_parts[i - 1]);
  }
  return median(growths) * static_cast<double>(growths.size());
}

}  // namespace

MemoryGrowth growth_after(RunningService& service, int jobs) {
  const std::string sound = good_sound();
  const auto workers = service.workers();
  HUM_REQUIRE(workers.size() == 1, "the service has {} workers", workers.size());
  std::vector<double> server_mb, worker_mb;  // after each part of the jobs
  for (int part = 0; part < kParts; ++part) {
    do_jobs(service, sound, jobs / kParts);
    std::this_thread::sleep_for(kRest);
    server_mb.push_back(static_cast<double>(resident_bytes(service.process().pid())) / 1e6);
    worker_mb.push_back(static_cast<double>(resident_bytes(workers[0])) / 1e6);
  }
  HUM_REQUIRE(service.workers() == workers, "a worker died: {}", service.log());
  return {growth_of(server_mb), growth_of(worker_mb)};
}

}  // namespace hum::serve
