// extract-scale: processes share a table of a million recordings in PostgreSQL. Does a claim stay
// short, and does twice the number of processes do twice the work? The work itself is a sleep.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>
#include <thread>

#include "app/extraction/postgres_table.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/quantile.h"
#include "base/scratch_folder.h"
#include "base/testing/postgres_server.h"
#include "bench/bars.h"
#include "bench/program.h"

namespace hum::bench {
namespace {

using app::PostgresTable;
using Clock = std::chrono::steady_clock;

constexpr int kCores = 2, kProcesses[] = {1, 2, 4};
constexpr int64_t kRows = 1'000'000, kBatch = 32, kSmokeRows = 20'000;
constexpr std::chrono::milliseconds kWork{100};
constexpr double kPhase_s = 60, kSmokePhase_s = 0.5, kLease_s = 30;
constexpr double kMostMedian_ms = 5, kMostP99_ms = 25, kLeastOfLinear = 0.9;

const app::PostgresJob kJob{.name = "scale", .made_with = {{"codec", "none"}}, .output = "/none"};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// What one process does until the time is over. Returns {"claims_ms": [], "numbers": []}.
Json work(const std::string& url, double seconds) {
  PostgresTable table(Postgres(url), kJob, kLease_s);
  Json report = {{"claims_ms", Json::array()}, {"numbers", Json::array()}};
  for (const auto start = Clock::now(); ms_since(start) < 1000 * seconds;) {
    const auto asked = Clock::now();
    const app::Claim claim = table.claim(kBatch);
    report["claims_ms"].push_back(ms_since(asked));
    HUM_REQUIRE(!claim.recordings.empty(), "extract-scale: the table is empty");
    std::this_thread::sleep_for(kWork);
    std::vector<app::RecordingResult> results;
    for (const auto& recording : claim.recordings) {
      results.push_back({.number = recording.number, .seconds = 100, .windows = {3, 0, 0}});
    }
    const std::string shard = fmt::format("features-{}.tar", claim.lease);
    HUM_REQUIRE(table.announce(claim.lease, shard) &&
                    table.finish(claim.lease, results,
                                 data::ShardEntry{shard, 3 * kBatch, 100'000, "none"}),
                "extract-scale: a lease was lost");
    for (const auto& result : results) report["numbers"].push_back(result.number);
  }
  return report;
}

struct Phase {
  double median_ms = 0, p99_ms = 0, rows_per_s = 0;
};

// Several processes at once. Adds the recordings that they did to `done`.
Phase measure(const std::string& url, int processes, double seconds, std::set<int64_t>& done) {
  const ScratchFolder folder;
  const auto file_of = [&](int process) { return folder / fmt::format("{}.json", process); };
  std::vector<pid_t> children;
  for (int process = 0; process < processes; ++process) {
    children.push_back(::fork());
    HUM_CHECK(children.back() >= 0);
    if (children.back() > 0) continue;
    try {
      write_file(file_of(process), to_text(work(url, seconds)));
    } catch (const std::exception& error) {
      spdlog::error("{}", error.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    HUM_REQUIRE(::waitpid(child, &status, 0) == child && status == 0,
                "extract-scale: a process failed");
  }
  std::vector<double> claims_ms;
  int64_t rows = 0;
  for (int process = 0; process < processes; ++process) {
    const Json report = read_json(file_of(process));
    for (const double ms : report["claims_ms"]) claims_ms.push_back(ms);
    for (const int64_t number : report["numbers"]) {
      HUM_REQUIRE(done.insert(number).second, "extract-scale: recording {} was done twice", number);
      ++rows;
    }
  }
  std::ranges::sort(claims_ms);
  return {quantile(claims_ms, 0.5), quantile(claims_ms, 0.99), static_cast<double>(rows) / seconds};
}

// As if earlier runs had done nine tenths of the recordings and no other, and the table had been
// vacuumed since. Returns those that are done.
std::set<int64_t> do_nine_tenths(Postgres& owner, int64_t rows) {
  owner.query(
      "UPDATE hum.recordings SET state = 'done', attempts = 1, sha256 = md5(number::text), "
      "shard = 'features-' || number / 32, seconds = 100, kept = 3 "
      "WHERE number <= $1 AND state = 'waiting'",
      rows * 9 / 10);
  owner.query(
      "UPDATE hum.recordings SET state = 'waiting', attempts = 0, sha256 = NULL, shard = NULL, "
      "seconds = 0, kept = 0 WHERE number > $1 AND state = 'done'",
      rows * 9 / 10);
  owner.query("VACUUM ANALYZE hum.recordings");
  const auto numbers =
      owner.query("SELECT number FROM hum.recordings WHERE state = 'done'").integers();
  return {numbers.begin(), numbers.end()};
}

void make_table(Postgres& owner, const std::string& url, int64_t rows) {
  app::create_postgres_schema(owner);
  owner.query("CREATE TABLE recordings(id bigint PRIMARY KEY, location text)");
  owner.query(
      "INSERT INTO recordings SELECT i, '/music/' || i || '.wav' FROM generate_series(1, $1) i",
      rows);
  PostgresTable(Postgres(url), kJob, kLease_s).sync({});
}

void judge(eval::Bar& bar, eval::TextTable& table, const std::string& place,
           const std::vector<Phase>& phases) {
  for (size_t i = 0; i < phases.size(); ++i) {
    const Phase& phase = phases[i];
    const int processes = kProcesses[i];
    const double linear = phase.rows_per_s / (processes * phases[0].rows_per_s);
    const std::string name = fmt::format("{}, {} processes", place, processes);
    table.row({name, fmt::format("{:.2f}", phase.median_ms), fmt::format("{:.1f}", phase.p99_ms),
               fmt::format("{:.0f}", phase.rows_per_s), fmt::format("{:.2f}", linear)});
    bar.checks.at_most(name + ": median ms", phase.median_ms, kMostMedian_ms);
    bar.checks.at_most(name + ": p99 ms", phase.p99_ms, kMostP99_ms);
    bar.checks.at_least(name + ": of linear", linear, kLeastOfLinear);
    bar.ours[name] = {{"rows_per_s", phase.rows_per_s}};
  }
}

}  // namespace

eval::Bar extract_scale(const Scale& scale) {
  use_cores(kCores);
  const int64_t rows = scale.smoke ? kSmokeRows : kRows;
  const double seconds = scale.smoke ? kSmokePhase_s : kPhase_s;
  testing::PostgresServer server(testing::Durability::kFull);
  const std::string url = server.new_database();
  Postgres owner(url);
  make_table(owner, url, rows);
  eval::Bar bar{
      .name = "extract-scale",
      .unit = "ms for a claim, 99th percentile, 4 processes, 90 % done",
      .bar = fmt::format("{} recordings in PostgreSQL, batches of {}, {} ms of work a "
                         "batch, 1, 2 and 4 processes, at the start and when 90 % are "
                         "done: no row twice; claim median <= {} ms, p99 <= {} ms; rows "
                         "a second >= {} of linear",
                         rows, kBatch, kWork.count(), kMostMedian_ms, kMostP99_ms, kLeastOfLinear)};
  eval::TextTable table({"", "claim ms, median", "p99", "rows/s", "of linear"});
  std::set<int64_t> done;
  std::vector<Phase> at_start, near_end;
  for (const int processes : kProcesses) {
    at_start.push_back(measure(url, processes, seconds, done));
  }
  for (const int processes : kProcesses) {
    done = do_nine_tenths(owner, rows);
    near_end.push_back(measure(url, processes, seconds, done));
  }
  judge(bar, table, "start", at_start);
  judge(bar, table, "90 % done", near_end);
  bar.value = near_end.back().p99_ms;
  std::cerr << table.text();
  return bar;
}

}  // namespace hum::bench
