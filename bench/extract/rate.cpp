// extract-rate: how fast is hum data extract, folder to folder? Beside the processor time of its
// stages, each alone; beside Python; and how much memory does a process need with a recording of
// ten hours?
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <future>
#include <iostream>
#include <limits>
#include <optional>

#include "app/extraction/features.h"
#include "app/extraction/shard_store.h"
#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "app/training/inputs.h"
#include "base/elapsed.h"
#include "base/error.h"
#include "base/files.h"
#include "base/rng.h"
#include "base/scratch_folder.h"
#include "bench/bars.h"
#include "bench/extract/extraction.h"
#include "bench/locations.h"
#include "bench/peer_settings.h"
#include "bench/peers.h"
#include "bench/program.h"
#include "data/shards/array_files.h"
#include "data/shards/item_folder.h"
#include "data/shards/manifest.h"
#include "data/shards/tar.h"
#include "data/synthesis/timing.h"
#include "models/weights_folder.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kCores = 2;
constexpr double kLeastUse = 0.85, kLeastSpeedup = 1.5, kLeastEqual = 0.99, kMostMemory_gb = 1.5;
constexpr int kPieces = 60;  // of ten minutes

// Of this process, all threads.
double processor_s() {
  timespec time{};
  HUM_CHECK(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Of the children that have ended.
double children_s() {
  rusage used{};
  HUM_CHECK(::getrusage(RUSAGE_CHILDREN, &used) == 0);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// An hour in 40 files of 5 s to 10 min, in three formats; every fourth is mono.
std::vector<MusicFile> hour_of_music(bool smoke) {
  if (smoke) return {{5, ".wav"}, {8, ".flac", 1}, {7, ".mp3"}};
  const std::string formats[] = {".wav", ".flac", ".mp3"};
  Rng rng(1, "lengths");
  std::vector<MusicFile> files = {{600, ".mp3"}, {5, ".wav"}};
  double rest_s = 3600 - 605;
  while (files.size() < 40) {
    const double left = static_cast<double>(40 - files.size());
    const double seconds = left == 1 ? rest_s : rest_s / left * rng.uniform(0.3, 1.7);
    files.push_back({seconds, formats[files.size() % 3], files.size() % 4 == 0 ? 1 : 2});
    rest_s -= seconds;
  }
  return files;
}

// Processor time of each stage, alone.
struct Stages {
  double read_s = 0, hear_s = 0, prepare_s = 0, encode_s = 0, store_s = 0;
  double all() const { return read_s + hear_s + prepare_s + encode_s + store_s; }
};

template <typename Body>
auto timed(double& sum_s, const Body& body) {
  const double start = processor_s();
  auto result = body();
  sum_s += processor_s() - start;
  return result;
}

// Every stage of one recording after the other, so that memory holds one recording.
class StagesAlone {
 public:
  explicit StagesAlone(fs::path folder)
      : folder_(std::move(folder)),
        codec_(session_, models::weights_part(app::weights_folder(""), "codec")),
        tools_{app::transcriber(session_, {}), "basic-pitch", app::token_encoder(codec_)} {
    // The programs are compiled or loaded before the clock starts.
    const int64_t window = data::kItemSamples;
    tools_.transcribe(std::vector<float>(static_cast<size_t>(window)));
    tools_.encoder.encode(
        std::vector<float>(static_cast<size_t>(app::CodePool::kEncodedTogether * window)));
  }

  void add(const fs::path& recording) {
    app::RecordingParts parts({.number = 1, .location = recording}, *decoders_,
                              app::kLongestRecording_s);
    while (auto part = timed(stages_.read_s, [&] { return parts.next(); })) add(*part);
  }
  // Ends the decoder, whose processor time is known then.
  const Stages& finish() {
    const double before_s = children_s();
    decoders_.reset();
    stages_.read_s += children_s() - before_s;
    return stages_;
  }

 private:
  void add(const app::RecordingSound& part) {
    const auto mono = app::mean_of(part.channels);
    const auto notes = timed(stages_.hear_s, [&] { return tools_.transcribe(mono); });
    std::vector<std::vector<float>> batches;
    app::FeatureTools prepare = tools_;
    prepare.transcribe = [&](std::span<const float>) { return notes; };
    prepare.encoder.encode = [&](std::span<const float> windows) {
      batches.emplace_back(windows.begin(), windows.end());
      return std::vector<int32_t>(static_cast<size_t>(app::CodePool::kEncodedTogether *
                                                      data::kItemFrames * tools_.encoder.books));
    };
    app::CodePool pool(prepare.encoder);
    auto features = timed(stages_.prepare_s, [&] {
      auto begun = app::begin_features(part, prepare, pool);
      pool.flush();
      return begun;
    });
    for (const auto& windows : batches) {
      timed(stages_.encode_s, [&] { return tools_.encoder.encode(windows); });
    }
    timed(stages_.store_s, [&] { return store(features); });
  }

  bool store(app::RecordingFeatures& features) {
    app::add_references(features);
    data::TarWriter archive;
    for (const auto& sample : features.samples) data::add_features(archive, sample);
    const std::string bytes = archive.finish();
    app::FolderStore(folder_).put(app::shard_entry(bytes, std::ssize(features.samples)), bytes);
    return true;
  }

  fs::path folder_;
  runtime::Session session_{app::session_options()};
  const models::codec::CodecSession codec_;
  app::FeatureTools tools_;
  std::optional<decode::Decoders> decoders_{app::decoding_limits(kHumProgram)};
  Stages stages_;
};

struct HumSetting {
  std::string name;
  int processes, threads;
};
const HumSetting kHumSettings[] = {{"1 process, 2 threads", 1, 2}, {"2 processes", 2, 1}};

double extract_s(const HumSetting& setting, const fs::path& music, const fs::path& output) {
  const auto start = Clock::now();
  extract_in(setting.processes, {music, "-o", output},
             {{"HUM_THREADS", std::to_string(setting.threads)}});
  return seconds_since(start);
}

// Where the packages of a peer are.
std::string packages_of(const std::string& peer) {
  std::string out = run_program({fmt::format("{}/{}/bin/python", kBuildFolder, peer), "-c",
                                 "import sysconfig; print(sysconfig.get_path('purelib'))"})
                        .out;
  out.erase(out.find_last_not_of('\n') + 1);
  return out;
}

// The slowest of the processes, which share the recordings out.
double python_s(int processes, const std::vector<fs::path>& recordings, const fs::path& output) {
  const std::string codec =
      models::weights_part(app::weights_folder(""), "codec") / "model.safetensors";
  std::vector<std::future<double>> running;
  for (int process = 0; process < processes; ++process) {
    std::vector<std::string> arguments = {codec, output};
    for (size_t i = static_cast<size_t>(process); i < recordings.size();
         i += static_cast<size_t>(processes)) {
      arguments.push_back(recordings[i]);
    }
    arguments.insert(arguments.end(), {"--torch", packages_of(kPeers), "--threads",
                                       std::to_string(kCores / processes)});
    running.push_back(std::async(std::launch::async, [arguments] {
      const auto run = run_program(peer_command("extract_python.py", arguments, kPeersNotes));
      return last_line_json(run.out)["milliseconds"].get<double>() / 1000;
    }));
  }
  double slowest_s = 0;
  for (auto& run : running) slowest_s = std::max(slowest_s, run.get());
  return slowest_s;
}

// The share of hum's tokens of sound that are those of Python.
double equal_codes(const fs::path& features, const fs::path& peer) {
  constexpr size_t kSignals = 3;
  const data::ItemFolder items(features);
  double equal = 0, all = 0;
  for (int64_t i = 0; i < items.size(); ++i) {
    const data::ItemView& item = items[i];
    const Json meta = item.meta();
    const std::string key = meta.at("recording").get<std::string>().substr(0, 16);
    const std::string file = read_file(peer / (key + ".npy"));
    const auto theirs = data::npy_values<uint16_t>(file);
    const size_t one = item.stereo_codes.size() / 2;
    const auto window = meta.at("window").get<size_t>();
    const auto own = theirs.subspan(window * kSignals * one, kSignals * one);
    std::vector<uint16_t> ours(item.stereo_codes.begin(), item.stereo_codes.end());
    ours.insert(ours.end(), item.mono_codes.begin(),
                item.mono_codes.begin() + static_cast<std::ptrdiff_t>(one));
    for (size_t k = 0; k < ours.size(); ++k) equal += ours[k] == own[k] ? 1 : 0;
    all += static_cast<double>(ours.size());
  }
  return equal / all;
}

int64_t bytes_of(const fs::path& features) {
  int64_t bytes = 0;
  for (const auto& shard : data::read_manifest(features).shards) bytes += shard.bytes;
  return bytes;
}

void compare_with_stages(eval::Bar& bar, const std::vector<fs::path>& recordings,
                         const ScratchFolder& folder, double wall_s) {
  ::setenv("HUM_THREADS", "1", /*overwrite=*/1);
  fs::create_directories(folder.path() / "alone");
  StagesAlone alone(folder.path() / "alone");
  for (const fs::path& recording : recordings) alone.add(recording);
  ::unsetenv("HUM_THREADS");
  const Stages& s = alone.finish();
  bar.ours["stages_processor_s"] = {{"read", s.read_s},
                                    {"hear", s.hear_s},
                                    {"prepare", s.prepare_s},
                                    {"encode", s.encode_s},
                                    {"store", s.store_s}};
  bar.checks.at_least("use_of_cores", s.all() / (kCores * wall_s), kLeastUse);
}

void compare_with_python(eval::Bar& bar, const std::vector<fs::path>& recordings,
                         const ScratchFolder& folder, double wall_s) {
  if (!is_installed(kPeers) || !is_installed(kPeersNotes)) {
    bar.reason = "bench/peers/install.sh peers and peers-notes";
    return;
  }
  double fastest_s = std::numeric_limits<double>::infinity();
  for (int processes = 1; processes <= kCores; ++processes) {
    const double seconds = python_s(processes, recordings, folder.path() / "python");
    bar.peer[fmt::format("{} processes, s", processes)] = seconds;
    fastest_s = std::min(fastest_s, seconds);
  }
  bar.value = fastest_s / wall_s;
  bar.checks.at_least("speedup", fastest_s / wall_s, kLeastSpeedup);
  bar.checks.at_least("equal_codes",
                      equal_codes(folder.path() / kHumSettings[0].name, folder.path() / "python"),
                      kLeastEqual);
}

// The peak of a process with two threads that extracts the music and a recording of ten hours.
double memory_gb(const fs::path& music, const fs::path& piece, int pieces,
                 const ScratchFolder& folder) {
  write_repeated(folder.path() / "long.wav", piece, pieces);
  const auto run = run_hum({"data", "extract", music, folder / "long.wav", "-o", folder / "memory"},
                           {{"HUM_THREADS", std::to_string(kCores)}});
  return static_cast<double>(run.peak_bytes) / 1e9;
}

}  // namespace

eval::Bar extract_rate(const Scale& scale) {
  use_cores(kCores);
  const ScratchFolder folder;
  const fs::path music = folder.path() / "music";
  const auto files = hour_of_music(scale.smoke);
  const auto recordings = write_music(music, files);
  double sound_s = 0;
  for (const MusicFile& file : files) sound_s += file.seconds;
  eval::Bar bar{.name = "extract-rate",
                .unit = "x Python (basic-pitch on ONNX Runtime, the codec in PyTorch)",
                .bar = fmt::format(
                    "{:.0f} s of music in {} files, folder to folder: processor time of the "
                    "stages alone / (cores x time) >= {}; >= {} x Python, codes >= {} equal; "
                    "<= {} GB with a recording of ten hours",
                    sound_s, files.size(), kLeastUse, kLeastSpeedup, kLeastEqual, kMostMemory_gb)};
  const auto start = Clock::now();
  extract_in(1, {recordings[1], "-o", folder / "cold"}, {{"HUM_CACHE", folder / "cache"}});
  bar.ours["cold_s"] = seconds_since(start);
  extract_in(1, {recordings[1], "-o", folder / "warm"});
  double wall_s = std::numeric_limits<double>::infinity();
  for (const HumSetting& setting : kHumSettings) {
    const double seconds = extract_s(setting, music, folder.path() / setting.name);
    bar.ours[setting.name + ", s"] = seconds;
    wall_s = std::min(wall_s, seconds);
  }
  bar.ours["sound_s_per_core_s"] = sound_s / (kCores * wall_s);
  bar.ours["bytes_per_sound_s"] =
      static_cast<double>(bytes_of(folder.path() / kHumSettings[0].name)) / sound_s;
  compare_with_stages(bar, recordings, folder, wall_s);
  compare_with_python(bar, recordings, folder, wall_s);
  bar.checks.at_most("memory_gb",
                     memory_gb(music, recordings.front(), scale.smoke ? 3 : kPieces, folder),
                     kMostMemory_gb);
  std::cerr << to_text(bar.ours, 2) << "\n";
  return bar;
}

}  // namespace hum::bench
