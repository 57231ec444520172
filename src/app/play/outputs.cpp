#include "app/play/outputs.h"

#include <cstdio>
#include <utility>

#include "app/play/recordings.h"
#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "base/scratch_folder.h"
#include "pipeline/recording.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxTakes = 100;

// Maps "out.wav" to "out-2.wav" if there are several takes.
fs::path of_take(const fs::path& path, int64_t take, int64_t takes) {
  if (takes == 1) return path;
  fs::path result = path;
  result.replace_filename(
      fmt::format("{}-{}{}", path.stem().string(), take + 1, path.extension().string()));
  return result;
}

// `stem` with an extension that a flag names.
fs::path with_extension(const fs::path& stem, const std::string& extension, const char* flag) {
  if (!extension.starts_with('.')) {
    fail(ExitCode::kUsage,
         fmt::format("--{} {} must be an extension when -o is a folder", flag, extension),
         fmt::format("--{} {}", flag, flag == std::string_view("midi") ? ".mid" : ".png"));
  }
  return fs::path(stem.string() + extension);
}

// No output may replace another one, or a file in `kept`.
void require_outputs(const std::vector<OutputPlan>& plans, const std::vector<fs::path>& kept) {
  std::set<fs::path> names, inputs;
  for (const auto& path : kept) inputs.insert(real_path(path));
  for (const auto& plan : plans) inputs.insert(real_path(plan.input));
  auto require = [&](const fs::path& path, std::initializer_list<std::string_view> extensions) {
    require_not_read(path, inputs);
    pipeline::require_output(path, extensions);
    if (names.insert(path.lexically_normal()).second) return;
    fail(ExitCode::kUsage, fmt::format("two outputs would be named {}", path.string()),
         "write recordings with the same name to separate folders");
  };
  for (const OutputPlan& plan : plans) {
    for (const auto& sound : plan.sounds) {
      if (!is_standard_stream(sound)) require(sound, kSoundExtensions);
    }
    if (!plan.midi.empty()) require(plan.midi, {".mid", ".midi", ".csv", ".json"});
    for (const auto& picture : plan.pictures) require(picture, {".png", ".svg"});
  }
}

// Refuses "out.wav" as the folder for several recordings.
void require_folder_name(const fs::path& output) {
  if (is_standard_stream(output)) {
    fail(ExitCode::kUsage, "several recordings need a folder, and stdout takes one sound",
         "-o sounds/");
  }
  if (is_folder(output) || !is_named_as_sound(output)) return;
  fail(ExitCode::kUsage,
       fmt::format("several recordings need a folder, and {} names a file", output.string()),
       fmt::format("-o {}", (output.parent_path() / output.stem()).string()));
}

// Refuses `-o out.wav --format flac`. The default format may stand beside any name.
void require_same_format(const fs::path& output, SoundFormat format) {
  const std::string extension = fmt::format(".{}", to_name(format));
  const bool is_chosen = format != OutputOptions().format;
  if (!is_chosen || !is_named_as_sound(output) || audio::extension_of(output) == extension) return;
  fail(ExitCode::kUsage,
       fmt::format("--format {} does not fit the name {}", to_name(format), output.string()),
       fmt::format("-o {}, or leave out --format",
                   fs::path(output).replace_extension(extension).string()));
}

void require_for_stdout(const OutputOptions& options) {
  require_no_terminal(stdout, "the sound");
  if (options.takes == 1) return;
  fail(ExitCode::kUsage, "stdout takes one sound, and --takes makes several", "-o out.wav");
}

// Files of several takes are numbered.
OutputPlan numbered(const fs::path& input, const fs::path& sound, const fs::path& midi,
                    const fs::path& picture, int64_t takes) {
  OutputPlan plan{.input = input, .sounds = {}, .midi = midi, .pictures = {}};
  for (int64_t take = 0; take < takes; ++take) {
    plan.sounds.push_back(of_take(sound, take, takes));
    if (!picture.empty()) plan.pictures.push_back(of_take(picture, take, takes));
  }
  return plan;
}

OutputPlan plan_in_folder(const FoundRecording& recording, const OutputOptions& options,
                          const std::string& instrument) {
  const fs::path stem =
      fs::path(options.output) / recording.subfolder / (recording.name + "-" + instrument);
  const fs::path sound = stem.string() + "." + std::string(to_name(options.format));
  fs::path midi, picture;
  if (!options.midi.empty()) midi = with_extension(stem, options.midi, "midi");
  if (!options.picture.empty()) picture = with_extension(stem, options.picture, "picture");
  return numbered(recording.path, sound, midi, picture, options.takes);
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
  bool to_folder = inputs.size() > 1 || options.output.ends_with('/') || is_folder(output);
  for (const std::string& input : inputs) to_folder = to_folder || is_folder(input);
  const auto recordings = find_recordings(inputs, options.recursive);
  PlannedOutputs planned;
  if (to_folder) {
    require_folder_name(output);
    planned.folder = std::make_unique<OutputFolder>(output);
  } else if (is_standard_stream(output)) {
    require_for_stdout(options);
  } else {
    require_same_format(output, options.format);
  }
  for (const auto& recording : recordings) {
    if (!to_folder) {
      planned.plans.push_back(
          numbered(recording.path, output, options.midi, options.picture, options.takes));
      continue;
    }
    if (!recording.subfolder.empty()) planned.folder->add(output / recording.subfolder);
    planned.plans.push_back(plan_in_folder(recording, options, instrument));
  }
  require_outputs(planned.plans, kept);
  return planned;
}

fs::path format_name(const fs::path& sound, SoundFormat on_stdout) {
  return is_standard_stream(sound) ? fs::path(fmt::format("stdout.{}", to_name(on_stdout))) : sound;
}

void write_to_stdout(std::string_view extension, std::string_view what,
                     const std::function<void(const fs::path&)>& write) {
  const ScratchFolder folder;
  const fs::path file = folder / fmt::format("output.{}", extension);
  write(file);
  write_bytes(stdout, read_file(file), what);
}

void write_sound(const fs::path& path, const audio::AudioBuffer& sound, audio::SampleFormat samples,
                 SoundFormat on_stdout) {
  if (!is_standard_stream(path)) return audio::write_audio(path, sound, samples);
  write_to_stdout(to_name(on_stdout), "the sound",
                  [&](const fs::path& file) { audio::write_audio(file, sound, samples); });
}

void require_not_read(const fs::path& output, const std::set<fs::path>& inputs) {
  if (!inputs.contains(real_path(output))) return;
  fail(ExitCode::kUsage, output.string() + " is an input and would be overwritten",
       "choose another output with -o");
}

}  // namespace hum::app
