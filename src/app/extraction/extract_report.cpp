// What `hum data extract` and `hum data extract status` print.
#include "app/extraction/extract.h"
#include "base/bytes.h"
#include "base/log.h"
#include "base/names.h"

namespace hum::app {
namespace {

Json to_json(const TableCounts& counts) {
  return {{"recordings",
           {{"waiting", counts.waiting},
            {"claimed", counts.claimed},
            {"done", counts.done},
            {"failed", counts.failed},
            {"duplicate", counts.duplicate}}},
          {"audio_seconds", counts.seconds},
          {"windows",
           {{"kept", counts.windows.kept},
            {"silent", counts.windows.silent},
            {"without_notes", counts.windows.without_notes}}}};
}

std::string counts_text(const TableCounts& counts) {
  std::string text = fmt::format("{}, {} done", counted(counts.all(), "recording"), counts.done);
  const auto add = [&](int64_t count, std::string_view what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(counts.waiting, "waiting");
  add(counts.claimed, "in work");
  add(counts.failed, "failed");
  add(counts.duplicate, "with the bytes of another");
  text += fmt::format("; {} of 6 s", counted(counts.windows.kept, "window"));
  add(counts.windows.silent, "silent left out");
  add(counts.windows.without_notes, "without notes left out");
  return text;
}

std::string hint_of_failures(const std::string& place) {
  return fmt::format("the reasons: hum data extract status {}\n", place);
}

}  // namespace

std::string extraction_text(const ExtractOptions& options, const Extraction& extraction) {
  if (options.dry_run) {
    return fmt::format("{}, {} new in {}\n", counted(extraction.found, "recording"),
                       extraction.added, extraction.folder);
  }
  std::string text = fmt::format("{}: {}\n", extraction.folder, counts_text(extraction.counts));
  if (extraction.sound_s > 0) {
    text += fmt::format("{} of sound in {}\n", format_duration(extraction.sound_s),
                        format_duration(extraction.took_s));
  }
  if (extraction.counts.failed > 0) text += hint_of_failures(extraction.place);
  return text;
}

Json extraction_report(const ExtractOptions& options, const Extraction& extraction) {
  Json report = {{"folder", extraction.folder},
                 {"dry_run", options.dry_run},
                 {"found", extraction.found},
                 {"added", extraction.added}};
  report.update(to_json(extraction.counts));
  if (!options.dry_run) {
    report["extracted_seconds"] = extraction.sound_s;
    report["took_seconds"] = extraction.took_s;
  }
  return report;
}

std::string status_text(const ExtractionStatus& status) {
  std::string text = fmt::format("{}: {}\n{}, {}\n", status.folder, counts_text(status.counts),
                                 counted(status.shards, "shard"), format_bytes(status.bytes));
  for (const SetAside& recording : status.set_aside) {
    text += fmt::format("failed: {}: {}\n", recording.location, recording.reason);
  }
  return text;
}

Json status_report(const ExtractionStatus& status) {
  Json report = to_json(status.counts);
  report["folder"] = status.folder;
  report["shards"] = status.shards;
  report["bytes"] = status.bytes;
  report["failed"] = Json::array();
  for (const SetAside& recording : status.set_aside) {
    report["failed"].push_back({{"location", recording.location}, {"reason", recording.reason}});
  }
  return report;
}

}  // namespace hum::app
