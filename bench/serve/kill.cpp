// serve-kill: server and workers are killed at random moments under load. Every accepted job ends
// once, with the samples of an undisturbed run.
#include <atomic>
#include <csignal>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/rng.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "bench/program.h"
#include "bench/serve/service.h"

namespace hum::bench {
namespace {

constexpr int kCores = 2, kKills = 25, kClients = 3, kSeeds = 4;
constexpr std::chrono::milliseconds kPoll{100};

struct Shared {
  Service service{1};
  std::atomic<bool> is_over = false;
};

struct Ended {
  std::string status, sound;
  int64_t seed = 0;
};

struct Tally {
  std::mutex mutex;
  std::map<std::string, Ended> jobs;  // by id
  std::exception_ptr fault;
};

// Runs jobs one after another until it is over; each ends before it returns.
void run_client(Shared& shared, const std::string& recording, int number, Tally& tally) {
  for (int64_t i = 0; !shared.is_over; ++i) {
    const int64_t seed = 1 + (i + number) % kSeeds;
    const std::string key = fmt::format("client-{}-{}", number, i);
    std::string id;
    const auto try_to_begin = [&] {
      id = shared.service.begin(recording, {{"preset", "violin"}, {"seed", seed}}, key);
      return !id.empty();
    };
    HUM_REQUIRE(testing::eventually(try_to_begin), "the service takes no job");
    Ended ended{.seed = seed};
    const auto try_to_end = [&] {
      std::this_thread::sleep_for(kPoll);
      const auto job = shared.service.job(id);
      if (!job || !has_ended(*job)) return false;
      const auto sound = shared.service.ask("GET", "/v1/jobs/" + id + "/results/take-1.wav");
      if (sound.status == 0) return false;
      ended.status = (*job)["status"];
      ended.sound = sound.body;
      return true;
    };
    constexpr std::chrono::minutes kLongest{10};
    HUM_REQUIRE(testing::eventually(try_to_end, kLongest), "job {} does not end", id);
    const std::scoped_lock lock(tally.mutex);
    HUM_REQUIRE(tally.jobs.emplace(id, std::move(ended)).second, "two requests made job {}", id);
  }
}

// Kills workers and server in turn; returns how many of each.
std::pair<int, int> kill_all(Shared& shared, int kills) {
  Rng rng(1, "kill");
  int workers = 0, servers = 0;
  while (workers < kills || servers < kills) {
    std::this_thread::sleep_for(std::chrono::duration<double>(rng.uniform(2, 8)));
    if (servers >= kills || (workers < kills && rng.chance(0.5))) {
      for (const pid_t worker : shared.service.workers()) {
        workers += ::kill(worker, SIGKILL) == 0 ? 1 : 0;
      }
    } else {
      shared.service.process().signal(SIGKILL);
      shared.service.process().wait();
      shared.service.start();
      ++servers;
    }
    spdlog::info("killed {} workers, {} servers", workers, servers);
  }
  return {workers, servers};
}

}  // namespace

eval::Bar serve_kill(const Scale& scale) {
  use_cores(kCores);
  const int kills = scale.smoke ? 1 : kKills;
  const std::string recording = read_file(example_recording());
  Shared shared;
  shared.service.start();
  shared.service.wait_until_ready();
  std::map<int64_t, std::string> undisturbed;
  for (int64_t seed = 1; seed <= kSeeds; ++seed) {
    const ScratchFolder folder;
    run_hum({"generate", example_recording().string(), "--preset", "violin", "--seed",
             std::to_string(seed), "-o", folder / "out.wav"});
    undisturbed[seed] = read_file(folder / "out.wav");
  }
  Tally tally;
  std::pair<int, int> killed;
  {
    std::vector<std::jthread> clients;
    for (int number = 0; number < kClients; ++number) {
      clients.emplace_back([&, number] {
        try {
          run_client(shared, recording, number, tally);
        } catch (...) {
          const std::scoped_lock lock(tally.mutex);
          tally.fault = std::current_exception();
        }
      });
    }
    killed = kill_all(shared, kills);
    shared.is_over = true;
  }
  if (tally.fault) std::rethrow_exception(tally.fault);
  int64_t unequal = 0, undone = 0;
  for (const auto& [id, ended] : tally.jobs) {
    if (ended.status != "done") {
      ++undone;
    } else if (ended.sound != undisturbed[ended.seed]) {
      ++unequal;
    }
  }
  const Json listed = parse_json(shared.service.ask("GET", "/v1/jobs?limit=100").body)["jobs"];
  eval::Bar bar{.name = "serve-kill",
                .value = static_cast<int64_t>(tally.jobs.size()),
                .unit = "jobs, all of which ended once",
                .bar = fmt::format("{} SIGKILLs each of worker and server under load: every "
                                   "accepted job is done once, with the samples of hum generate",
                                   kills)};
  bar.checks.at_least("killed_workers", killed.first, kills);
  bar.checks.at_least("killed_servers", killed.second, kills);
  bar.checks.at_most("not_done", static_cast<double>(undone), 0);
  bar.checks.at_most("other_samples", static_cast<double>(unequal), 0);
  bar.checks.holds("no_job_twice", listed.size() == std::min<size_t>(tally.jobs.size(), 100));
  return bar;
}

}  // namespace hum::bench
