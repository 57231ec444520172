#include "serve/service.h"

#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <thread>

#include "app/play/synthesizer.h"
#include "app/stop.h"
#include "base/background_log.h"
#include "base/error.h"
#include "base/log.h"
#include "base/owner_lock.h"
#include "base/process.h"
#include "decode/sandbox.h"
#include "serve/access/certificate.h"
#include "serve/access/gate.h"
#include "serve/api/api.h"
#include "serve/api/metrics.h"
#include "serve/http/server.h"
#include "serve/jobs/worker.h"
#include "serve/page/page.h"
#include "serve/storage/data_folder.h"
#include "serve/supervisor.h"

namespace hum::serve {
namespace {

constexpr int64_t kMostWorkers = 64;
constexpr std::chrono::milliseconds kPoll{20}, kSweepEvery{500};
constexpr std::chrono::minutes kOrphansEvery{10};
// Longer than a worker's own limit for its job.
constexpr std::chrono::milliseconds kWorkerDrain{30'000}, kServerDrain{25'000};

// Repairs and tidies: what dead workers left goes back to the queue, what has expired is removed.
class Sweeper {
 public:
  Sweeper(Records& records, Store& store, std::filesystem::path locks)
      : records_(records), store_(store), locks_(std::move(locks)) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

 private:
  void run(const std::stop_token& stop) {
    auto orphans_due = std::chrono::steady_clock::now();
    while (!stop.stop_requested()) {
      try {
        sweep();
        if (std::chrono::steady_clock::now() >= orphans_due) {
          remove_orphans(records_, store_);
          orphans_due = std::chrono::steady_clock::now() + kOrphansEvery;
        }
      } catch (
          const std::exception& error) {  // a full disk, for example: the next turn may succeed
        spdlog::error("sweeping: {}", error.what());
      }
      for (auto slept = kPoll; slept < kSweepEvery && !stop.stop_requested(); slept += kPoll) {
        std::this_thread::sleep_for(kPoll);
      }
    }
  }
  void sweep() {
    const Swept swept =
        records_.sweep([this](const std::string& owner) { return is_unlocked(locks_, owner); });
    for (const std::string& job : swept.removed_jobs) store_.remove_all(job_prefix(job));
    for (const std::string& upload : swept.removed_uploads) store_.remove(upload_key(upload));
    if (swept.requeued > 0)
      spdlog::warn("{} jobs of dead workers were queued again", swept.requeued);
    if (swept.dead > 0) spdlog::error("{} jobs were given up; see the dead letters", swept.dead);
  }

  Records& records_;
  Store& store_;
  std::filesystem::path locks_;
  std::jthread thread_;  // last: it uses the others
};

void add_page(Router& router) {
  for (const PageFile& file : page_files()) {
    router.add("GET", std::string(file.path), [&file](Request&) {
      Response response{.content_type = std::string(file.content_type),
                        .body = std::string(file.bytes)};
      response.headers.set("ETag", std::string(file.etag));
      response.headers.set("Cache-Control", "no-cache");
      return response;
    });
  }
}

std::vector<std::string> worker_command(const ServiceOptions& options,
                                        const std::filesystem::path& data) {
  std::vector<std::string> command = {options.program.string(), "worker", "--data", data.string()};
  if (!options.weights.empty()) {
    command.push_back("--weights");
    command.push_back(options.weights);
  }
  return command;
}

void validate(const ServiceOptions& options) {
  if (options.workers < 0 || options.workers > kMostWorkers) {
    fail(ExitCode::kUsage,
         fmt::format("--workers {} is outside 0..{}", options.workers, kMostWorkers),
         "one worker uses all cores");
  }
  if (!(options.max_seconds >= 1 && options.max_seconds <= 3600)) {
    fail(ExitCode::kUsage, fmt::format("--max-seconds {} is outside 1..3600", options.max_seconds));
  }
}

// The server of /metrics, on its own port.
std::unique_ptr<HttpServer> metrics_server(const Address& address, ListeningSocket socket,
                                           std::vector<std::string> hosts,
                                           std::function<std::string()> text) {
  Router router;
  router.add("GET", "/metrics", [text = std::move(text)](Request&) {
    return Response{.content_type = kMetricsType, .body = text()};
  });
  ServerOptions options{.address = address.host, .port = address.port, .hosts = std::move(hosts)};
  options.handler_threads = 1;
  options.max_connections = 16;
  return std::make_unique<HttpServer>(options, std::move(router), std::move(socket));
}

// The ports of the service, taken before anything is created.
struct Ports {
  ListeningSocket api;
  std::optional<ListeningSocket> metrics;

  Ports(const Address& address, const std::optional<Address>& metrics_address)
      : api(address.host, address.port) {
    if (metrics_address) metrics.emplace(metrics_address->host, metrics_address->port);
  }
};

// The server with all that it needs, in the order in which it is built.
class Service {
 public:
  Service(const ServiceOptions& options, const Address& address,
          const std::optional<Address>& metrics_address, Ports ports)
      : data_(open_data_folder(options.data)),
        only_server_(locks_folder(data_), "server",
                     fmt::format("{}: another hum serve uses this folder", data_.string()),
                     "stop it first, or name another folder with --data"),
        gate_(options.keys.empty() ? Gate() : Gate(options.keys, secret_file(data_))),
        store_(store_folder(data_)),
        records_(records_file(data_), queue_rules()),
        watched_(records_file(data_)),
        events_(watched_, [](const Job& job, int64_t position) { return job_json(job, position); }),
        api_(records_, store_, events_,
             {.max_seconds = options.max_seconds,
              .weights = options.weights,
              .decoder = options.program}),
        server_(server_options(options, address), routes(), std::move(ports.api)) {
    if (metrics_address) {
      metrics_server_ = metrics_server(*metrics_address, std::move(*ports.metrics),
                                       served_names(options, *metrics_address),
                                       [this] { return metrics_text(); });
    }
    if (options.workers > 0) {
      supervisor_ = std::make_unique<Supervisor>(SupervisorOptions{
          .command = worker_command(options, data_), .workers = static_cast<int>(options.workers)});
    }
  }

  Listening listening() const {
    return {server_.url(), server_.port(),
            metrics_server_ ? metrics_server_->url() + "/metrics" : std::string(), fingerprint_};
  }

  void run_until_stopped() {
    const Sweeper sweeper(records_, store_, locks_folder(data_));
    while (app::stop_signal() == 0) std::this_thread::sleep_for(kPoll);
    spdlog::info("stopping: the running jobs end or return to the queue");
    if (supervisor_) supervisor_->begin_drain();
    server_.drain(kServerDrain);
    if (supervisor_ && !supervisor_->finish_drain(kWorkerDrain)) {
      spdlog::warn("a worker did not end in time; its job will be done again");
    }
  }

 private:
  QueueRules queue_rules() const {
    QueueRules rules;
    if (gate_.has_keys()) {
      rules.quota_of = [this](const std::string& caller) { return gate_.quota_of(caller); };
    }
    return rules;
  }
  ServerOptions server_options(const ServiceOptions& given, const Address& address) {
    ServerOptions options{.address = address.host,
                          .port = address.port,
                          .spool_folder = store_.aside(),
                          .tls_certificate = given.tls_cert,
                          .tls_key = given.tls_key,
                          .hosts = served_names(given, address),
                          .proxies = given.trusted_proxy,
                          .cors_origins = given.cors_origin};
    if (!given.tls.empty()) {
      options.tls_certificate = options.tls_key = certificate_file(data_);
      fingerprint_ = ensure_certificate(options.tls_key, certified_names(given, address));
    }
    options.admit = [this](Request& request) { return gate_.admit(request); };
    options.finished = [this](const Exchange& exchange) { metrics_.count(exchange); };
    return options;
  }
  Router routes() {
    Router router;
    gate_.add_routes(router);
    api_.add_routes(router);
    add_page(router);
    return router;
  }
  std::string metrics_text() {
    return metrics_.text({.counts = records_.counts(),
                          .workers = records_.workers(),
                          .connections = server_.connections(),
                          .followed_jobs = events_.followed()});
  }

  std::filesystem::path data_;
  OwnerLock only_server_;
  Gate gate_;
  std::string fingerprint_;
  FolderStore store_;
  SqliteRecords records_, watched_;
  JobEvents events_;
  Api api_;
  Metrics metrics_;
  HttpServer server_;
  std::unique_ptr<HttpServer> metrics_server_;
  std::unique_ptr<Supervisor> supervisor_;
};

}  // namespace

void run_service(const ServiceOptions& options, const std::function<void(Listening)>& ready) {
  validate(options);
  const Address address = parse_address(options.listen, "listen");
  const auto metrics_address = options.metrics.empty()
                                   ? std::nullopt
                                   : std::optional(parse_address(options.metrics, "metrics"));
  validate_access(options, address, metrics_address);
  app::weights_folder(options.weights);  // fails now if there is none
  ::umask(077);
  wait_with_little_memory();
  const BackgroundLog log;
  if (!decode::has_landlock()) {
    spdlog::warn(
        "the kernel has no Landlock: ffmpeg, which reads webm and m4a, may open any file "
        "that this user may read");
  }
  Service service(options, address, metrics_address, Ports(address, metrics_address));
  ready(service.listening());
  service.run_until_stopped();
}

void run_worker(const WorkerServiceOptions& options) {
  ::umask(077);
  const auto data = joined_data_folder(options.data);
  const BackgroundLog log;
  const std::string owner = fmt::format("worker-{}-{}", ::getpid(), new_id().substr(0, 8));
  const OwnerLock alive(locks_folder(data), owner);
  FolderStore store(store_folder(data));
  SqliteRecords records(records_file(data));
  Worker worker(records, store, {.owner = owner, .weights = options.weights, .must_stop = [] {
                                   return app::stop_signal() != 0;
                                 }});
  worker.run();
}

}  // namespace hum::serve
