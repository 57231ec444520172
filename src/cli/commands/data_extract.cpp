// hum data extract: features of people's own recordings, for training, and what became of them.
#include <iostream>

#include "app/extraction/extract.h"
#include "app/extraction/postgres_table.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/names.h"
#include "cli/commands/commands.h"

namespace hum::cli {
namespace {

constexpr const char* kFolderHelp = "folder of features";
constexpr const char* kJsonHelp = "print JSON";
constexpr const char* kFromHelp =
    "URL of a PostgreSQL database: postgresql://USER@HOST/DATABASE (password: ~/.pgpass)";

struct ExtractArgs {
  app::ExtractOptions options;
  bool init_sql = false, json = false;
  template <class V>
  void declare(V& v) {
    v.positional("inputs", options.inputs,
                 "recordings, and folders with recordings: wav, flac, ogg or mp3", false);
    v.short_flag('o', "output", options.output,
                 "folder for the features, or with --from s3://BUCKET/PREFIX; what it has is kept");
    v("keep_audio", options.keep_audio,
      "store the sound itself, too: codec, voice and joint learn from it");
    v("stems", options.stems, "separate recordings into stems first (not possible yet)");
    v("recursive", options.recursive, "also the recordings in subfolders");
    v("weights", options.weights,
      "folder of weights whose codec makes the tokens (default: HUM_WEIGHTS, else weights/)");
    v("max_seconds", options.max_seconds, "longest recording to accept, in seconds");
    v("batch", options.batch, "recordings that a process takes at once, and puts in one shard");
    v("lease", options.lease_s,
      "seconds after which others take over the recordings of a process that was killed");
    v("metrics_file", options.metrics_file,
      "NAME.prom: figures for Prometheus by way of node_exporter, rewritten every 10 s");
    v("dry_run", options.dry_run, "only count the recordings");
    v("json", json, kJsonHelp);
    declare_database(v);
  }
  template <class V>
  void declare_database(V& v) {
    app::RecordingSource& source = options.source;
    v("from", options.database.from, kFromHelp);
    v("table", source.table, "its table of recordings, TABLE or SCHEMA.TABLE");
    v("key_column", source.key_column, "column that identifies a recording");
    v("location_column", source.location_column, "column with the path of a recording");
    v("reference_column", source.reference_column, "column with the path of a mono version");
    v("licence_column", source.licence_column, "column with the licence, stored with the features");
    v("priority_column", source.priority_column, "column with a number; larger ones come first");
    v("write_back", source.write_back, "text column that receives done, failed or duplicate");
    v("job", options.database.job, "name of the extraction (default: that of the table)");
    v("init", options.init, "create hum's schema in the database first");
    v("init_sql", init_sql, "only print the SQL that creates it");
    v.group("Recordings from a database",
            {"from", "table", "key_column", "location_column", "reference_column", "licence_column",
             "priority_column", "write_back", "job", "init", "init_sql"});
  }
};

int extract(ExtractArgs& args) {
  if (args.init_sql) {
    std::cout << app::postgres_schema_sql();
    return 0;
  }
  const auto extraction = app::extract(args.options);
  if (args.json) {
    print_json(app::extraction_report(args.options, extraction));
  } else {
    std::cout << app::extraction_text(args.options, extraction);
  }
  if (extraction.stop_signal == 0) return 0;
  spdlog::warn("stopped; to resume, repeat the command");
  return 128 + extraction.stop_signal;
}

// Which extraction: that of a folder, or a job of a database.
struct PlaceArgs {
  std::string folder;
  app::DatabaseJob database;
  template <class V>
  void declare(V& v) {
    v.positional("folder", folder, kFolderHelp, false);
    v("from", database.from, kFromHelp);
    v("job", database.job, "name of the extraction in the database (default: its only one)");
  }
};

struct FolderArgs {
  PlaceArgs place;
  bool json = false;
  template <class V>
  void declare(V& v) {
    place.declare(v);
    v("json", json, kJsonHelp);
  }
};

int status(FolderArgs& args) {
  const auto status = app::extraction_status(args.place.folder, args.place.database);
  if (args.json) {
    print_json(app::status_report(status));
  } else {
    std::cout << app::status_text(status);
  }
  return 0;
}

struct RequeueArgs {
  PlaceArgs place;
  std::string shard;
  bool failed = false, json = false;
  template <class V>
  void declare(V& v) {
    place.declare(v);
    v("failed", failed, "the recordings that failed");
    v("shard", shard, "the recordings of this shard, which is damaged");
    v("json", json, kJsonHelp);
  }
};

int requeue(RequeueArgs& args) {
  const int64_t count =
      app::requeue(args.place.folder, args.failed, args.shard, args.place.database);
  if (args.json) {
    print_json({{"requeued", count}});
  } else {
    std::cout << fmt::format("{} waiting again; to extract them, repeat hum data extract\n",
                             count == 1 ? "1 recording is" : counted(count, "recording") + " are");
  }
  return 0;
}

int gc(FolderArgs& args) {
  const auto garbage = app::collect_garbage(args.place.folder, args.place.database);
  if (args.json) {
    print_json({{"files", garbage.files}, {"bytes", garbage.bytes}});
  } else {
    std::cout << fmt::format("{} removed, {}\n", counted(garbage.files, "file"),
                             format_bytes(garbage.bytes));
  }
  return 0;
}

}  // namespace

const Command kDataExtract = {"data extract", "extract training features from recordings",
                              "hum data extract music/ -o features/",
                              make_command<ExtractArgs, extract>};
const Command kDataExtractStatus = {
    "data extract status", "count recordings, name those that failed",
    "hum data extract status features/", make_command<FolderArgs, status>};
const Command kDataExtractRequeue = {"data extract requeue", "let recordings wait again",
                                     "hum data extract requeue --failed features/",
                                     make_command<RequeueArgs, requeue>};
const Command kDataExtractGc = {"data extract gc", "remove shards that nothing lists",
                                "hum data extract gc features/", make_command<FolderArgs, gc>};

}  // namespace hum::cli
