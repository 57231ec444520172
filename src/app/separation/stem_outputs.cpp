#include "app/separation/stem_outputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "app/play/outputs.h"
#include "app/play/recordings.h"
#include "base/error.h"
#include "base/names.h"
#include "base/process.h"
#include "models/separator/config.h"
#include "pipeline/recording.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRest = "rest";

std::set<std::string> all_stems() {
  return {models::separator::kStems.begin(), models::separator::kStems.end()};
}

// All stems but these.
std::set<std::string> others_of(const std::set<std::string>& stems) {
  std::set<std::string> others = all_stems();
  for (const std::string& stem : stems) others.erase(stem);
  return others;
}

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == ',') {
      names.emplace_back();
    } else if (c != ' ') {
      names.back() += c;
    }
  }
  return names;
}

std::vector<WantedStem> listed_stems(const std::string& text) {
  const std::vector<std::string> names = split_names(text);
  std::set<std::string> named;
  for (const std::string& name : names) {
    require_stem(name, "--stems", /*may_be_rest=*/true);
    if (named.insert(name).second) continue;
    fail(ExitCode::kUsage, fmt::format("--stems names {} twice", name), "name each stem once");
  }
  std::vector<WantedStem> wanted;
  for (const std::string& name : names) {
    wanted.push_back({name, name == kRest ? others_of(named) : std::set{name}});
    if (!wanted.back().parts.empty()) continue;
    fail(ExitCode::kUsage, "--stems names all six stems, so there is no rest", "leave rest out");
  }
  return wanted;
}

void require_formats(const StemOutputOptions& options) {
  const auto both = [](bool a, bool b, const char* what) {
    if (a && b) fail(ExitCode::kUsage, std::string(what) + " exclude each other", "give one");
  };
  both(options.mp3, options.flac, "--mp3 and --flac");
  both(options.int24, options.float32, "--int24 and --float32");
  both(options.mp3, options.int24, "--mp3 and --int24");
  both(options.mp3, options.float32, "--mp3 and --float32");
  both(options.flac, options.float32, "--flac and --float32");
  both(!options.stems.empty(), !options.two_stems.empty(), "--stems and --two-stems");
}

// The pattern with its placeholders replaced.
fs::path named(const std::string& pattern, const std::string& track, const std::string& stem,
               const std::string& extension) {
  std::string name;
  for (size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '{') {
      name += pattern[at++];
      continue;
    }
    const size_t end = pattern.find('}', at);
    const std::string word = pattern.substr(at, end == std::string::npos ? end : end - at + 1);
    if (word == "{track}") {
      name += track;
    } else if (word == "{stem}") {
      name += stem;
    } else if (word == "{ext}") {
      name += extension;
    } else {
      fail(ExitCode::kUsage, fmt::format("--filename {}: {} has no meaning", pattern, word),
           "use {track}, {stem} and {ext}");
    }
    at += word.size();
  }
  const fs::path path = name;
  if (path.is_absolute() || std::ranges::find(path, "..") != path.end()) {
    fail(ExitCode::kUsage,
         fmt::format("--filename {} leads out of the folder, as {}", pattern, path.string()),
         "choose the folder with -o; rename a song whose name begins with dots");
  }
  return path;
}

void require_one_stem(const std::vector<std::string>& inputs, size_t stems,
                      const StemOutputOptions& options) {
  require_no_terminal(stdout, "the stem");
  if (inputs.size() == 1 && !is_folder(inputs[0]) && stems == 1 && !options.int24 && !options.mp3 &&
      !options.flac) {
    return;
  }
  fail(ExitCode::kUsage, "stdout takes one stem of one song, as wav with 16 bits or float",
       "hum separate song.mp3 --stems vocals -o - > vocals.wav");
}

// A file that is kept has to be a stem of this song, as far as its format and length say. Lengths
// of mp3 files are not exact, and stdin may be one.
void require_stem_of(const fs::path& kept, const fs::path& input, const audio::SoundReader& song) {
  const audio::SoundReader stem(kept, std::numeric_limits<double>::infinity());
  const auto ends_at = [](const fs::path& path, const audio::SoundReader& sound) {
    const bool is_exact = !is_standard_stream(path) && audio::extension_of(path) != ".mp3";
    return is_exact ? sound.frames() : std::nullopt;
  };
  const auto frames = ends_at(kept, stem), wanted = ends_at(input, song);
  if (stem.rate_hz() == song.rate_hz() && stem.channels() == song.channels() &&
      (!frames || !wanted || *frames == *wanted)) {
    return;
  }
  fail(ExitCode::kCannotCreate,
       fmt::format("{}: exists, and is no stem of {}: it has another rate, length or number of "
                   "channels",
                   kept.string(), audio::name_of(input)),
       "--overwrite replaces it; -o names another folder");
}

}  // namespace

void require_stem(const std::string& name, const char* flag, bool may_be_rest) {
  if (all_stems().contains(name) || (may_be_rest && name == kRest)) return;
  std::vector<std::string> names(models::separator::kStems.begin(),
                                 models::separator::kStems.end());
  if (may_be_rest) names.emplace_back(kRest);
  const auto likely = likely_name(name, names);
  fail(ExitCode::kUsage, fmt::format("{}: there is no stem '{}'", flag, name),
       fmt::format("{}the stems are {}", likely ? fmt::format("did you mean '{}'? ", *likely) : "",
                   fmt::join(names, ", ")));
}

std::vector<WantedStem> wanted_stems(const StemOutputOptions& options) {
  require_formats(options);
  if (!options.two_stems.empty()) {
    require_stem(options.two_stems, "--two-stems", /*may_be_rest=*/false);
    const std::set<std::string> one = {options.two_stems};
    return {{options.two_stems, one}, {"no_" + options.two_stems, others_of(one)}};
  }
  if (!options.stems.empty()) return listed_stems(options.stems);
  std::vector<WantedStem> wanted;
  for (const auto stem : models::separator::kStems) {
    wanted.push_back({std::string(stem), {std::string(stem)}});
  }
  return wanted;
}

bool are_only_vocals(const std::vector<WantedStem>& stems) {
  const std::set<std::string> vocals = {"vocals"};
  return std::ranges::all_of(stems, [&](const WantedStem& stem) {
    return stem.parts == vocals || stem.parts == others_of(vocals);
  });
}

PlannedStems plan_stems(const std::vector<std::string>& inputs, const StemOutputOptions& options) {
  const std::vector<WantedStem> stems = wanted_stems(options);
  PlannedStems planned;
  if (is_standard_stream(options.output)) {
    require_one_stem(inputs, stems.size(), options);
    planned.songs.push_back({inputs[0], audio::name_of(inputs[0]), {{"-", stems[0]}}, {}});
    return planned;
  }
  if (options.output.empty()) fail(ExitCode::kUsage, "-o names no folder", "-o stems/");
  const auto recordings = find_recordings(inputs, options.recursive);
  std::set<fs::path> read, written;
  for (const auto& recording : recordings) read.insert(real_path(recording.path));
  const fs::path folder = options.output;
  planned.folder = std::make_unique<OutputFolder>(folder);
  for (const auto& recording : recordings) {
    SongPlan song{recording.path, recording.name, {}, {}};
    for (const WantedStem& stem : stems) {
      const fs::path path = folder / recording.subfolder /
                            named(options.filename, recording.name, stem.name, options.extension());
      require_not_read(path, read);
      if (!written.insert(path.lexically_normal()).second) {
        fail(ExitCode::kUsage,
             fmt::format("{}: two stems would be named {}", recording.path.string(), path.string()),
             "give each song once; songs with the same name need separate folders, and --filename "
             "needs {stem}");
      }
      std::error_code ignored;
      if (!options.overwrite && fs::exists(path, ignored)) {
        song.kept.push_back({path, stem});
        continue;
      }
      planned.folder->add(path.parent_path());
      pipeline::require_output(path, {"." + options.extension()});
      song.files.push_back({path, stem});
    }
    planned.songs.push_back(std::move(song));
  }
  return planned;
}

void require_kept_stems(const SongPlan& plan, const audio::SoundReader& song) {
  for (const StemFilePlan& file : plan.kept) require_stem_of(file.path, plan.input, song);
}

}  // namespace hum::app
