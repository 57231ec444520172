// serve-load: many clients, each of whom sends its next hum when it has the last one's sound. Their
// requests come from this process, on the same cores.
#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/quantile.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "bench/program.h"
#include "bench/serve/service.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kCores = 2, kClients = 50, kRecordings = 32, kSamples = 120;
constexpr Seconds kDuration{600}, kSmokeDuration{6};
constexpr std::chrono::minutes kLongestJob{15};
constexpr double kMinShare = 0.85, kMaxSlower = 2, kMaxGrowth = 0.03;

Json generate(const fs::path& input, const std::string& output) {
  return parse_json(
      run_hum({"generate", input.string(), "--preset", "violin", "-o", output, "--json"}).out);
}

// Seconds per recording of a `hum generate` of so many, without loading its models.
double generate_s(int recordings) {
  const ScratchFolder folder;
  const fs::path in = folder / "in";
  fs::create_directories(in);
  for (int i = 0; i < recordings; ++i) {
    fs::copy_file(example_recording(), in / fmt::format("{}.wav", i));
  }
  const Json parsed = generate(in, folder / "out/");
  const Json reports = parsed.is_array() ? parsed : Json::array({parsed});
  double seconds = 0;
  for (const Json& report : reports) {
    const Json& laps = report["seconds"];
    seconds += laps["total"].get<double>() - laps["load"].get<double>();
  }
  return seconds / recordings;
}

// What `hum generate` makes of the recording.
std::string generated_sound() {
  const ScratchFolder folder;
  generate(example_recording(), folder / "out.wav");
  return read_file(folder / "out.wav");
}

// Of server and workers: their memory, with its share of what they have in common.
double pss_mb(Service& service) {
  auto processes = service.workers();
  processes.push_back(service.process().pid());
  double kb = 0;
  for (const pid_t process : processes) {
    std::ifstream rollup(fmt::format("/proc/{}/smaps_rollup", process));
    for (std::string line; std::getline(rollup, line);) {
      if (line.starts_with("Pss:")) kb += std::stod(line.substr(4));
    }
  }
  return kb * 1024 / 1e6;
}

struct Load {
  Service service{1};
  const std::string recording = read_file(example_recording());
  const std::string sound = generated_sound();
  Clock::time_point end;
  std::mutex mutex;  // of what follows
  int64_t in_time = 0, lost = 0, other = 0;
  std::vector<double> mean_waits_s;  // of each client, from the upload to the whole sound
  std::exception_ptr fault;
};

// One job from its upload to its removal.
void run_job(Load& load) {
  Service& service = load.service;
  std::string id;
  const auto try_to_begin = [&] {
    id = service.begin(load.recording, {{"preset", "violin"}});
    return !id.empty();
  };
  HUM_REQUIRE(testing::eventually(try_to_begin), "the service takes no job");
  std::optional<Json> job;
  const auto try_to_end = [&] {
    service.follow(id);
    job = service.job(id);
    return job && has_ended(*job);
  };
  HUM_REQUIRE(testing::eventually(try_to_end, kLongestJob), "job {} does not end", id);
  const std::string path = "/v1/jobs/" + id;
  const auto sound = service.ask("GET", path + "/results/take-1.wav");
  const bool is_in_time = Clock::now() < load.end;
  service.ask("DELETE", path);
  const std::scoped_lock lock(load.mutex);
  if ((*job)["status"] != "done" || sound.status != 200) {
    ++load.lost;
  } else {
    load.in_time += is_in_time ? 1 : 0;
    load.other += sound.body == load.sound ? 0 : 1;
  }
}

void run_client(Load& load) {
  std::vector<double> waits_s;
  while (Clock::now() < load.end) {
    const auto start = Clock::now();
    run_job(load);
    waits_s.push_back(Seconds(Clock::now() - start).count());
  }
  const std::scoped_lock lock(load.mutex);
  load.mean_waits_s.push_back(std::accumulate(waits_s.begin(), waits_s.end(), 0.0) /
                              static_cast<double>(waits_s.size()));
}

// Returns how much memory the service has at equal intervals.
std::vector<double> run_clients(Load& load, int clients, Seconds duration) {
  load.end = Clock::now() + std::chrono::duration_cast<Clock::duration>(duration);
  std::vector<std::jthread> threads;
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&] {
      try {
        run_client(load);
      } catch (...) {
        const std::scoped_lock lock(load.mutex);
        load.fault = std::current_exception();
      }
    });
  }
  std::vector<double> memory_mb;
  while (Clock::now() < load.end) {
    std::this_thread::sleep_for(duration / kSamples);
    memory_mb.push_back(pss_mb(load.service));
    const std::scoped_lock lock(load.mutex);
    if (memory_mb.size() % (kSamples / 10) == 0) {
      spdlog::info("{} jobs, {:.0f} MB", load.in_time, memory_mb.back());
    }
  }
  return memory_mb;
}

// The median of samples in this part of the time.
double median_in(const std::vector<double>& samples, double from, double to) {
  const auto at = [&](double share) {
    return samples.begin() + static_cast<int64_t>(share * static_cast<double>(samples.size()));
  };
  return median(std::vector<double>(at(from), std::max(at(from) + 1, at(to))));
}

}  // namespace

eval::Bar serve_load(const Scale& scale) {
  use_cores(kCores);
  const int clients = scale.smoke ? 3 : kClients, recordings = scale.smoke ? 1 : kRecordings;
  const Seconds duration = scale.smoke ? kSmokeDuration : kDuration;
  Load load;  // which fills the cache
  if (!scale.smoke) generate_s(recordings);
  const double before_s = generate_s(recordings);
  load.service.start();
  load.service.wait_until_ready();
  const auto memory_mb = run_clients(load, clients, duration);
  if (load.fault) std::rethrow_exception(load.fault);
  const double after_s = generate_s(recordings), generated_s = (before_s + after_s) / 2;
  const double jobs_per_s = static_cast<double>(load.in_time) / duration.count();
  const double mean_s = median(load.mean_waits_s);
  const double slowest_s = std::ranges::max(load.mean_waits_s);
  // Minute 2 to 3 of ten, and the last one.
  const double early_mb = median_in(memory_mb, 0.2, 0.3), late_mb = median_in(memory_mb, 0.9, 1);
  eval::Bar bar{
      .name = "serve-load",
      .value = jobs_per_s,
      .unit = "hums of 9 s per second",
      .bar = fmt::format("{} clients in a closed loop for {:.0f} s, {} cores: nothing is lost, "
                         "throughput >= {} x hum generate ({} recordings in a call), the slowest "
                         "client's mean <= {} x the median, memory grows < {:.0f} % after a fifth",
                         clients, duration.count(), kCores, kMinShare, recordings, kMaxSlower,
                         100 * kMaxGrowth)};
  bar.checks.at_most("lost", static_cast<double>(load.lost), 0);
  bar.checks.at_most("other_samples", static_cast<double>(load.other), 0);
  bar.checks.at_least("share_of_generate", jobs_per_s * generated_s, kMinShare);
  bar.checks.at_most("slowest_client", slowest_s / mean_s, kMaxSlower);
  bar.checks.at_most("memory_growth", late_mb / early_mb - 1, kMaxGrowth);
  bar.peer["hum_generate"] = {{"s_per_recording_before", before_s},
                              {"s_per_recording_after", after_s}};
  bar.ours = {{"jobs", load.in_time},
              {"median_wait_s", mean_s},
              {"slowest_wait_s", slowest_s},
              {"memory_mb", late_mb}};
  return bar;
}

}  // namespace hum::bench
