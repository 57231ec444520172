#include "app/extraction/extract.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "app/extraction/extract_database.h"
#include "app/extraction/extract_upkeep.h"
#include "app/extraction/metrics.h"
#include "app/extraction/shard_store.h"
#include "app/extraction/sqlite_table.h"
#include "app/extraction/worker.h"
#include "app/play/recordings.h"
#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "app/stop.h"
#include "app/training/inputs.h"
#include "base/elapsed.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "base/s3.h"
#include "data/synthesis/features.h"
#include "models/weights_folder.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kHeardBy = "basic-pitch";

// For a folder or files as the source.
void require_local(const std::string& place) {
  if (!is_s3_url(place)) return;
  fail(ExitCode::kUsage, place + ": the table of a folder's recordings needs a local folder",
       fmt::format("-o features/, then aws s3 sync features/ {}; or --from postgresql://..., which "
                   "keeps the table in a database",
                   place));
}

void validate(const ExtractOptions& options) {
  if (options.stems) {
    fail(ExitCode::kUsage, "--stems: hum data extract does not separate recordings",
         "separate them first: hum separate music/ --stems vocals -o stems/; then hum data extract "
         "stems/ --recursive -o features/");
  }
  const std::string& from = options.database.from;
  if (options.inputs.empty() && from.empty()) {
    fail(ExitCode::kUsage, "no recordings were given", "hum data extract music/ -o features/");
  }
  if (!options.inputs.empty() && !from.empty()) {
    fail(ExitCode::kUsage, "recordings were given beside those of the database",
         "name files and folders, or --from, not both");
  }
  if (from.empty()) require_local(options.output);
  if (from.empty()) require_no_database_flags(options);
  if (options.recursive && !from.empty()) {
    fail(ExitCode::kUsage, "--recursive is for folders", "leave it out: --table names all rows");
  }
  if (options.batch < 1) {
    fail(ExitCode::kUsage, fmt::format("--batch {} is below 1", options.batch), "--batch 8");
  }
  if (!(options.lease_s >= 1 && options.lease_s <= 86400)) {
    fail(ExitCode::kUsage, fmt::format("--lease {} is outside 1..86400", options.lease_s),
         "--lease 30");
  }
  if (!(options.max_seconds > 0)) {
    fail(ExitCode::kUsage, "--max-seconds must be positive", "--max-seconds 43200");
  }
}

std::vector<FoundFile> find_files(const ExtractOptions& options) {
  for (const std::string& input : options.inputs) {
    require_no_database(input);
    if (is_standard_stream(input)) {
      fail(ExitCode::kUsage, "features are not extracted from stdin", "name a file or a folder");
    }
    require_exists(input, "check the name of the recording or its folder");
  }
  std::vector<FoundFile> files;
  for (const auto& found : find_recordings(options.inputs, options.recursive, is_named_as_sound)) {
    std::error_code error;
    const auto bytes = fs::file_size(found.path, error);
    files.push_back({fs::absolute(found.path).lexically_normal().string(),
                     error ? 0 : static_cast<int64_t>(bytes)});
  }
  return files;
}

// shards.json of rendered items, or of another extraction, would be replaced.
void require_no_other_items(const ShardStore& store, const std::string& place,
                            const ExtractOptions& options) {
  const bool has_table = !is_s3_url(place) && fs::exists(fs::path(place) / kTableFile);
  const bool is_own =
      options.database.from.empty() ? has_table : !has_table && has_job(options, place, store);
  if (is_own || (!has_table && !store.has_list())) return;
  fail(ExitCode::kUsage, place + ": holds other training items", "choose another place with -o");
}

Extraction planned(const fs::path& folder, const std::vector<FoundFile>& files) {
  Extraction plan{.folder = folder.string(), .place = folder.string(), .found = std::ssize(files)};
  if (!fs::exists(folder / kTableFile)) {
    plan.added = plan.found;
    return plan;
  }
  SqliteTable table(folder / kTableFile, nullptr, kUsualLease_s);
  plan.added = table.count_new(files);
  plan.counts = table.counts();
  return plan;
}

// Opens the table and adds the recordings.
std::unique_ptr<RecordingTable> fill_table(const ExtractOptions& options, const std::string& place,
                                           ShardStore& store, const std::vector<FoundFile>& files,
                                           const Json& made_with, Extraction& result) {
  if (options.database.from.empty()) {
    auto table =
        std::make_unique<SqliteTable>(fs::path(place) / kTableFile, made_with, options.lease_s);
    result.place = place;
    result.found = std::ssize(files);
    result.added = table->add(files);
    return table;
  }
  return open_job(options, place, store, made_with, result);
}

// All that decides what the features of a recording are.
Json made_with(const FeatureTools& tools) {
  Json made_with = {{"version", data::kFeaturesVersion},
                    {"feature_columns", data::kMelodyFeatures},
                    {"heard_by", tools.heard_by},
                    {"codec", tools.encoder.fingerprint}};
  if (tools.keep_audio) made_with[data::kSoundOption] = true;
  return made_with;
}

// Shows how many recordings have ended, and how fast this process is.
class Report {
 public:
  Report(RecordingTable& table, ExtractionMetrics& metrics, const TableCounts& counts)
      : table_(table), metrics_(metrics), progress_("extract", counts.all()) {
    metrics_.table_holds(counts);
  }

  void extracted_one(double seconds) {
    sound_s_ += seconds;
    ++here_;
    show();
  }
  // Other processes work, too.
  TableCounts refresh() {
    const TableCounts counts = table_.counts();
    metrics_.table_holds(counts);
    ended_ = counts.all() - counts.waiting - counts.claimed;
    here_ = 0;
    show();
    return counts;
  }
  double sound_s() const { return sound_s_; }
  double took_s() const { return seconds_since(start_); }

 private:
  void show() {
    progress_.update(ended_ + here_, fmt::format("{:.1f} s of sound a second",
                                                 sound_s_ / std::max(took_s(), 1e-3)));
  }

  RecordingTable& table_;
  ExtractionMetrics& metrics_;
  Progress progress_;
  Clock::time_point start_ = Clock::now();
  int64_t ended_ = 0, here_ = 0;
  double sound_s_ = 0;
};

// Works until every recording has ended, also those that others have claimed: their processes may
// die.
void work_to_the_end(Worker& worker, Report& report) {
  while (stop_signal() == 0) {
    if (worker.work()) {
      report.refresh();
      continue;
    }
    if (report.refresh().is_finished()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

void work(const ExtractOptions& options, RecordingTable& table, ShardStore& store,
          const FeatureTools& tools, ExtractionMetrics& metrics, Extraction& result) {
  Report report(table, metrics, table.counts());
  Worker worker(table, store, tools, metrics,
                {.batch = options.batch,
                 .max_seconds = options.max_seconds,
                 .lease_s = options.lease_s,
                 .should_stop = [] { return stop_signal() != 0; },
                 .extracted_one = [&](double seconds) { report.extracted_one(seconds); }});
  work_to_the_end(worker, report);
  result.sound_s = report.sound_s();
  result.took_s = report.took_s();
}

}  // namespace

Extraction extract(const ExtractOptions& options) {
  validate(options);
  const bool is_in_database = !options.database.from.empty();
  const auto files = is_in_database ? std::vector<FoundFile>() : find_files(options);
  require_no_database(options.output);
  const std::string place = place_of_output(options.output);
  ExtractionMetrics metrics;
  const auto store = open_store(place, [&] { metrics.repeated_request(); });
  if (is_in_database) prepare_database(options);
  require_no_other_items(*store, place, options);
  if (options.dry_run) {
    return is_in_database ? planned_in_database(options, place) : planned(place, files);
  }
  std::optional<MetricsFile> metrics_file;
  if (!options.metrics_file.empty()) metrics_file.emplace(options.metrics_file, metrics);
  runtime::Session session(session_options());
  const models::codec::CodecSession codec(
      session, models::weights_part(weights_folder(options.weights), "codec"));
  const FeatureTools tools{transcriber(session, {}), kHeardBy, token_encoder(codec),
                           options.keep_audio};
  std::optional<OutputFolder> folder;  // removed again if this process may not use it
  if (!is_s3_url(place)) folder.emplace(place);
  Extraction result{.folder = place};
  const auto table = fill_table(options, place, *store, files, made_with(tools), result);
  work(options, *table, *store, tools, metrics, result);
  write_list(*table, *store);
  result.counts = table->counts();
  metrics.table_holds(result.counts);
  result.stop_signal = stop_signal();
  return result;
}

}  // namespace hum::app
