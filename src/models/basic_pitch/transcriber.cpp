#include "models/basic_pitch/transcriber.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "models/basic_pitch/windows.h"

namespace hum::models::basic_pitch {
namespace {

// Copies one map of a run, [windows, 172, columns], to its place in the recording.
void join_run(const runtime::HostTensor& map, int64_t first_window, Matrix<float>& joined) {
  const auto values = map.as<float>();
  const auto size = static_cast<size_t>(kWindowFrames * joined.columns);
  for (int64_t i = 0; i < kWindowsPerRun; ++i) {
    join_window(values.subspan(static_cast<size_t>(i) * size, size), first_window + i, joined);
  }
}

}  // namespace

Transcriber::Transcriber(runtime::Session& session, const std::filesystem::path& weights)
    : session_(session), network_(nullptr) {
  const Network network = build_network(read_weights(weights), kWindowsPerRun);
  network_ = session.compile("basic_pitch", network.function);
  for (const auto& tensor : network.weights) weights_.push_back(session.to_device(tensor));
}

Posteriors Transcriber::posteriors(std::span<const float> samples,
                                   const std::function<void(double done)>& progress) const {
  const auto bad = std::ranges::find_if(samples, [](float x) { return !std::isfinite(x); });
  if (bad != samples.end()) {
    fail(ExitCode::kBadData,
         fmt::format("sample {} of {} is not a finite number", bad - samples.begin(),
                     samples.size()),
         "export the recording again");
  }
  const auto count = static_cast<int64_t>(samples.size());
  const int64_t frames = frame_count(count);
  Posteriors result{{frames, kPitches}, {frames, kPitches}, {frames, kContourBins}};
  runtime::HostTensor sound({graph::DType::kF32, {kWindowsPerRun, kWindowSamples}});
  const int64_t total = window_count(count);
  for (int64_t first = 0; first < total; first += kWindowsPerRun) {
    const auto windows = sound.as<float>();
    for (int64_t i = 0; i < kWindowsPerRun; ++i) {
      cut_window(samples, first + i,
                 windows.subspan(static_cast<size_t>(i * kWindowSamples), kWindowSamples));
    }
    std::vector<runtime::Tensor> arguments = {session_.to_device(sound)};
    arguments.insert(arguments.end(), weights_.begin(), weights_.end());
    const auto maps = network_.run(arguments);
    join_run(session_.to_host(maps[0]), first, result.note);
    join_run(session_.to_host(maps[1]), first, result.onset);
    join_run(session_.to_host(maps[2]), first, result.contour);
    const int64_t done = std::min(first + kWindowsPerRun, total);
    if (progress) progress(static_cast<double>(done) / static_cast<double>(total));
  }
  return result;
}

std::vector<audio::Note> Transcriber::notes(
    std::span<const float> samples, const NoteOptions& options,
    const std::function<void(double done)>& progress) const {
  validate(options);
  return create_notes(posteriors(samples, progress), options);
}

}  // namespace hum::models::basic_pitch
