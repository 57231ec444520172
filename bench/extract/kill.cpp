// extract-kill: workers, their PostgreSQL server and the S3 server of their shards, SeaweedFS, are
// killed at random moments under load. Every recording ends in exactly one listed shard, with the
// files of an undisturbed run.
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <thread>

#include "base/elapsed.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/postgres.h"
#include "base/rng.h"
#include "base/s3.h"
#include "base/scratch_folder.h"
#include "base/testing/postgres_server.h"
#include "base/testing/process.h"
#include "base/testing/s3_server.h"
#include "base/testing/seaweed_server.h"
#include "bench/bars.h"
#include "bench/extract/extraction.h"
#include "bench/locations.h"
#include "bench/program.h"
#include "data/shards/manifest.h"
#include "data/shards/testing.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kCores = 2, kWorkers = 2;
constexpr double kLease_s = 5;
constexpr double kMost_s = 20 * 60;

struct Kills {
  int workers = 0, postgres = 0, seaweed = 0;
  int all() const { return workers + postgres + seaweed; }
};
struct Load {
  int recordings;
  Kills kills;
};
constexpr Load kFullLoad{240, {25, 10, 10}}, kSmokeLoad{20, {3, 1, 1}};

constexpr const char *kBucket = "hum-test", *kOutput = "s3://hum-test/features";

// Of 4 to 12 s.
std::vector<MusicFile> music(int recordings) {
  Rng rng(1, "recordings");
  std::vector<MusicFile> files;
  for (int i = 0; i < recordings; ++i) {
    files.push_back({rng.uniform(4, 12), i % 3 == 0 ? ".flac" : ".wav", 1 + i % 2});
  }
  return files;
}

// Processes of one extraction. A worker that ends before all is done is replaced.
class Workers {
 public:
  Workers(std::string url, fs::path log) : url_(std::move(url)), log_(std::move(log)) {
    for (auto& worker : workers_) worker = start();
  }

  void kill(int64_t worker) { workers_[static_cast<size_t>(worker)]->signal(SIGKILL); }
  // Replaces those that have been killed, and those that gave up waiting for a server. Throws:
  // kFailure if one ended otherwise. Returns how many have ended because nothing waits.
  int tend() {
    int done = 0;
    for (auto& worker : workers_) {
      if (worker != nullptr && !testing::is_running(worker->pid())) {
        const int code = worker->wait();
        worker.reset();
        const bool is_replaced =
            code == 128 + SIGKILL || code == static_cast<int>(ExitCode::kTemporary);
        if (is_replaced) {
          worker = start();
        } else if (code != 0) {
          fail(ExitCode::kFailure,
               fmt::format("a worker ended with {}: {}", code, read_file(log_)));
        }
      }
      done += worker == nullptr ? 1 : 0;
    }
    return done;
  }
  bool has(int64_t worker) const { return workers_[static_cast<size_t>(worker)] != nullptr; }

 private:
  std::unique_ptr<testing::Process> start() const {
    return std::make_unique<testing::Process>(
        std::vector<std::string>{kHumProgram, "data", "extract", "--from", url_, "-o", kOutput,
                                 "--batch", "2", "--lease", fmt::format("{}", kLease_s)},
        testing::ProcessOptions{.environment = {{"HUM_THREADS", "1"}}, .err = log_});
  }

  std::string url_;
  fs::path log_;
  std::unique_ptr<testing::Process> workers_[kWorkers];
};

int64_t count(const std::string& url, const std::string& states) {
  return Postgres(url)
      .query("SELECT count(*) FROM hum.recordings WHERE state IN (" + states + ")")
      .integer(0, 0);
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

struct Servers {
  testing::PostgresServer postgres{testing::Durability::kFull};
  testing::SeaweedServer seaweed{testing::Election::kUsual};
};

// Kills when recordings are in work, a random time later. Throws: kFailure if too few were left.
void kill_all(Workers& workers, Servers& servers, const std::string& url, Kills left) {
  Rng rng(1, "kill");
  while (left.all() > 0) {
    HUM_REQUIRE(count(url, "'waiting', 'claimed'") > kWorkers,
                "extract-kill: all is done before {} kills", left.all());
    if (count(url, "'claimed'") > 0) {
      sleep_for(rng.uniform(0, 1));
      const int64_t worker = rng.integer(0, kWorkers - 1), victim = rng.integer(1, left.all());
      if (victim <= left.seaweed) {
        servers.seaweed.kill();
        sleep_for(rng.uniform(0, 1));
        servers.seaweed.start();
        --left.seaweed;
      } else if (victim <= left.seaweed + left.postgres) {
        servers.postgres.kill_all();
        sleep_for(rng.uniform(0, 1));
        servers.postgres.start();
        --left.postgres;
      } else if (workers.has(worker)) {
        workers.kill(worker);
        --left.workers;
      }
      spdlog::info("still to kill: {} workers, {} PostgreSQL, {} SeaweedFS", left.workers,
                   left.postgres, left.seaweed);
    }
    sleep_for(0.1);
    workers.tend();
  }
}

void make_table(const std::string& url, const std::vector<fs::path>& recordings) {
  Postgres owner(url);
  owner.run_script(run_hum({"data", "extract", "--init-sql"}).out);
  owner.query("CREATE TABLE recordings(id bigserial PRIMARY KEY, location text)");
  for (const fs::path& recording : recordings) {
    owner.query("INSERT INTO recordings(location) VALUES($1)", recording.string());
  }
}

// Copies what the workers have written.
void download(const S3Bucket& bucket, const fs::path& folder) {
  create_folder(folder);
  const std::string prefix = parse_s3_url(kOutput).prefix + "/";
  for (const S3Object& object : bucket.list(prefix)) {
    bucket.get_to_file(object.key, folder / object.key.substr(prefix.size()));
  }
}

// Files of shards that are not listed, unfinished ones included.
int64_t unlisted(const fs::path& folder) {
  int64_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files += entry.path().extension() == ".tar" ? 1 : 0;
  }
  return files - std::ssize(data::read_manifest(folder).shards);
}

}  // namespace

eval::Bar extract_kill(const Scale& scale) {
  use_cores(kCores);
  const auto begun = Clock::now();
  const Load load = scale.smoke ? kSmokeLoad : kFullLoad;
  const ScratchFolder folder;
  const auto recordings = write_music(folder.path() / "music", music(load.recordings));
  const fs::path output = folder.path() / "features", undisturbed = folder.path() / "undisturbed";
  extract_in(1, {folder / "music", "-o", undisturbed});
  Servers servers;
  const testing::S3Variables variables(servers.seaweed.options());
  const std::string url = servers.postgres.new_database();
  make_table(url, recordings);
  {
    Workers workers(url, folder.path() / "log");
    // Until the first worker has read the table of recordings.
    while (count(url, "'claimed', 'done'") == 0) {
      sleep_for(0.1);
      workers.tend();
    }
    kill_all(workers, servers, url, load.kills);
    while (workers.tend() < kWorkers) sleep_for(0.2);
  }
  run_hum({"data", "extract", "gc", "--from", url});
  download(S3Bucket(servers.seaweed.options(), kBucket), output);
  const int64_t done = count(url, "'done'");
  const auto files = data::files_of(output);  // throws if a sample is listed twice
  const double took_s = seconds_since(begun);
  eval::Bar bar{.name = "extract-kill",
                .value = done,
                .unit = "recordings, each in one listed shard",
                .bar = fmt::format("{} SIGKILLs of workers, {} of PostgreSQL and {} of SeaweedFS "
                                   "under load: every recording in exactly one listed shard, with "
                                   "the files of an undisturbed run; nothing unlisted after gc; <= "
                                   "{:.0f} min",
                                   load.kills.workers, load.kills.postgres, load.kills.seaweed,
                                   kMost_s / 60)};
  bar.checks.at_least("done", static_cast<double>(done), load.recordings);
  bar.checks.at_most("differing files",
                     static_cast<double>(differing_files(data::files_of(undisturbed), files)), 0);
  bar.checks.at_least("files", static_cast<double>(files.size()), 6.0 * load.recordings);
  bar.checks.at_most("unlisted", static_cast<double>(unlisted(output)), 0);
  bar.checks.at_most("seconds", took_s, kMost_s);
  return bar;
}

}  // namespace hum::bench
