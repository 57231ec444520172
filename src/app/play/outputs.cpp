#include "app/play/outputs.h"

#include <algorithm>

#include "audio/io.h"
#include "base/error.h"
#include "base/files.h"
#include "pipeline/recording.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxTakes = 100;

bool is_named_as_sound(const fs::path& path) {
  return std::ranges::find(kSoundExtensions, audio::extension_of(path)) != kSoundExtensions.end();
}

std::vector<fs::path> recordings_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool is_hidden = entry.path().filename().string().starts_with('.');
    if (is_named_as_sound(entry.path()) && !is_hidden && entry.is_regular_file())
      found.push_back(entry.path());
  }
  if (found.empty()) {
    fail(ExitCode::kNoInput, folder.string() + ": holds no recordings",
         "hum reads wav, flac, ogg and mp3");
  }
  std::ranges::sort(found);
  return found;
}

// Maps "out.wav" to "out-2.wav" if there are several takes.
fs::path of_take(const fs::path& path, int64_t take, int64_t takes) {
  if (takes == 1) return path;
  fs::path result = path;
  result.replace_filename(
      fmt::format("{}-{}{}", path.stem().string(), take + 1, path.extension().string()));
  return result;
}

fs::path with_extension(fs::path path, const std::string& extension, const char* flag) {
  if (!extension.starts_with('.')) {
    fail(ExitCode::kUsage,
         fmt::format("--{} {} must be an extension when -o is a folder", flag, extension),
         fmt::format("--{} {}", flag, flag == std::string_view("midi") ? ".mid" : ".png"));
  }
  return path.replace_extension(extension);
}

// No output may replace another one, or a file in `kept`.
void require_outputs(const std::vector<OutputPlan>& plans, const std::vector<fs::path>& kept) {
  std::set<fs::path> names, inputs;
  for (const auto& path : kept) inputs.insert(fs::weakly_canonical(path));
  for (const auto& plan : plans) inputs.insert(fs::weakly_canonical(plan.input));
  auto require = [&](const fs::path& path, std::initializer_list<std::string_view> extensions) {
    require_not_read(path, inputs);
    pipeline::require_output(path, extensions);
    if (names.insert(path.lexically_normal()).second) return;
    fail(ExitCode::kUsage, fmt::format("two outputs would be named {}", path.string()),
         "write recordings with the same name to separate folders");
  };
  for (const OutputPlan& plan : plans) {
    for (const auto& sound : plan.sounds) require(sound, kSoundExtensions);
    if (!plan.midi.empty()) require(plan.midi, {".mid", ".midi", ".csv", ".json"});
    for (const auto& picture : plan.pictures) require(picture, {".png", ".svg"});
  }
}

// Refuses "out.wav" as the folder for several recordings.
void require_folder_name(const fs::path& output) {
  if (fs::is_directory(output) || !is_named_as_sound(output)) return;
  fail(ExitCode::kUsage,
       fmt::format("several recordings need a folder, and {} names a file", output.string()),
       fmt::format("-o {}", (output.parent_path() / output.stem()).string()));
}

}  // namespace

PlannedOutputs plan_outputs(const std::vector<std::string>& inputs, const OutputOptions& options,
                            const std::string& instrument, const std::vector<fs::path>& kept) {
  if (options.output.empty()) fail(ExitCode::kUsage, "no output was given", "-o out.wav");
  if (options.takes < 1 || options.takes > kMaxTakes) {
    fail(ExitCode::kUsage, fmt::format("--takes {} is outside 1..{}", options.takes, kMaxTakes),
         "--takes 4");
  }
  const fs::path output = options.output;
  bool to_folder = inputs.size() > 1 || options.output.ends_with('/') || fs::is_directory(output);
  std::vector<fs::path> recordings;
  for (const std::string& input : inputs) {
    if (!fs::is_directory(input)) {
      recordings.emplace_back(input);
      continue;
    }
    to_folder = true;
    const auto found = recordings_in(input);
    recordings.insert(recordings.end(), found.begin(), found.end());
  }
  PlannedOutputs planned;
  if (to_folder) {
    require_folder_name(output);
    planned.folder = std::make_unique<OutputFolder>(output);
  }
  std::vector<OutputPlan>& plans = planned.plans;
  for (const auto& recording : recordings) {
    OutputPlan plan{.input = recording};
    fs::path base = output, picture = options.picture;
    plan.midi = options.midi;
    if (to_folder) {
      const std::string stem = fmt::format("{}-{}", recording.stem().string(), instrument);
      base = output / (stem + "." + std::string(to_name(options.format)));
      const fs::path plain = output / (stem + ".x");
      if (!options.midi.empty()) plan.midi = with_extension(plain, options.midi, "midi");
      if (!options.picture.empty()) picture = with_extension(plain, options.picture, "picture");
    }
    for (int64_t take = 0; take < options.takes; ++take) {
      plan.sounds.push_back(of_take(base, take, options.takes));
      if (!picture.empty()) plan.pictures.push_back(of_take(picture, take, options.takes));
    }
    plans.push_back(std::move(plan));
  }
  require_outputs(plans, kept);
  return planned;
}

void require_not_read(const fs::path& output, const std::set<fs::path>& inputs) {
  if (!inputs.contains(fs::weakly_canonical(output))) return;
  fail(ExitCode::kUsage, output.string() + " is an input and would be overwritten",
       "choose another output with -o");
}

}  // namespace hum::app
