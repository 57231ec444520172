// Reads and writes calibrations as JSON.
#include "base/fields_json.h"
#include "base/folders.h"
#include "plan/calibration.h"

namespace hum::plan {

namespace {

constexpr int kVersion = 1;

Json file_to_json(FileFit file) {
  return {{"name", file.name},
          {"sha256", file.sha256},
          {"in_sample", hum::to_json(file.in_sample)},
          {"leave_one_model_out", hum::to_json(file.leave_one_model_out)}};
}

FileFit file_from_json(const Json& json) {
  FileFit file{json.at("name"), json.at("sha256"), {}, {}};
  from_json(json.at("in_sample"), file.in_sample);
  from_json(json.at("leave_one_model_out"), file.leave_one_model_out);
  return file;
}

Calibration from_file(const Json& json) {
  if (json.at("format_version") != kVersion)
    fail(ExitCode::kBadData, fmt::format("not a calibration file of version {}", kVersion),
         "hum plan calibrate writes one");
  Calibration c{.device = json.at("device"), .stack = json.at("stack")};
  from_json(json.at("efficiency"), c.efficiency);
  for (const double value : to_vector(c.efficiency)) {
    if (!(value > 0))
      fail(ExitCode::kBadData, "efficiencies must be above zero",
           "hum plan calibrate writes such a file");
  }
  c.models = json.at("models");
  c.interval_log = json.at("interval_log");
  for (const auto& file : json.at("files")) c.files.push_back(file_from_json(file));
  // Absent in older version 1 files, in which all efficiencies were fitted.
  c.borrowed = json.value("borrowed", c.borrowed);
  c.lender = json.value("lender", c.lender);
  c.interval_assumed = json.value("interval_assumed", false);
  c.notes = json.value("notes", c.notes);
  for (const auto& [name, range] : json.at("covered").items())
    c.covered[name] = {range.at(0), range.at(1)};
  return c;
}

}  // namespace

std::filesystem::path calibration_path(const std::string& device) {
  return data_folder() / "hardware/calibration" / (device + ".json");
}

Calibration read_calibration(const std::filesystem::path& path) {
  const ErrorContext context([&] { return "reading the calibration " + path.string(); });
  const Json json = read_json(path);
  try {
    return from_file(json);
  } catch (const Json::exception& error) {
    fail(ExitCode::kBadData, fmt::format("not a calibration file: {}", error.what()),
         "hum plan calibrate writes one");
  }
}

Json to_json(const Calibration& calibration) {
  Efficiency efficiency = calibration.efficiency;
  Json json = {{"format_version", kVersion},
               {"device", calibration.device},
               {"stack", calibration.stack},
               {"efficiency", hum::to_json(efficiency)},
               {"interval_probability", kIntervalProbability},
               {"interval_log", calibration.interval_log},
               {"interval_assumed", calibration.interval_assumed},
               {"borrowed", calibration.borrowed},
               {"lender", calibration.lender},
               {"notes", calibration.notes},
               {"models", calibration.models},
               {"files", Json::array()},
               {"covered", Json::object()}};
  for (const FileFit& file : calibration.files) json["files"].push_back(file_to_json(file));
  for (const auto& [name, range] : calibration.covered)
    json["covered"][name] = {range.lowest, range.highest};
  return json;
}

void write_calibration(const std::filesystem::path& path, const Calibration& calibration) {
  write_json(path, to_json(calibration));
}

}  // namespace hum::plan
