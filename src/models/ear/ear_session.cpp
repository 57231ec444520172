#include "models/ear/ear_session.h"

#include <algorithm>

#include "base/bf16.h"
#include "models/ear/grid.h"
#include "models/ear/model.h"
#include "models/stored_model.h"

namespace hum::models::ear {

using graph::DType;
using runtime::HostTensor;

namespace {

constexpr int64_t kWindow = 1002, kContext = 75;  // frames
constexpr int64_t kStep = kWindow - 2 * kContext;
constexpr int64_t kEvents = 3, kColumns = kEvents + 2 * kPitches;

// Probabilities of all heads, one row a frame. Shapes: -> [1, T, kColumns].
Value probabilities(const Ear::Prediction& p) {
  const auto sigmoid = [](const Value& x_BT) {
    return graph::expand_dims(graph::logistic(x_BT), 2);
  };
  return graph::concatenate({sigmoid(p.voiced_BT), sigmoid(p.onset_BT), sigmoid(p.offset_BT),
                             graph::softmax(p.f0_BTP, 2), graph::softmax(p.note_BTP, 2)},
                            2);
}

void copy_row(std::span<const float> row, int64_t frame, Frames& frames) {
  const auto at = static_cast<size_t>(frame);
  frames.voiced[at] = row[0];
  frames.onset[at] = row[1];
  frames.offset[at] = row[2];
  std::ranges::transform(row.subspan(kEvents, kPitches), frames.f0.row(frame).begin(), to_bf16);
  std::ranges::copy(row.subspan(kEvents + kPitches, kPitches), frames.note.row(frame).begin());
}

}  // namespace

struct EarSession::State {
  State(runtime::Session& session, const std::filesystem::path& folder)
      : stored(session, folder, "hum-ear") {
    const Value audio = graph::parameter("audio", {DType::kF32, {1, kWindow * kHop}});
    program = stored.compile("ear/listen", {audio},
                             {probabilities(stored.model().predict(audio, DType::kF32))});
  }

  StoredModel<Ear> stored;
  std::optional<runtime::Executable> program;
};

EarSession::EarSession(runtime::Session& session, const std::filesystem::path& weights)
    : state_(std::make_unique<State>(session, weights)) {}

EarSession::~EarSession() = default;

Frames EarSession::listen(std::span<const float> samples, float gain,
                          const std::function<void(double done)>& progress) const {
  const auto size = (std::ssize(samples) + kHop - 1) / kHop;
  const auto count = static_cast<size_t>(size);
  Frames frames{.voiced = std::vector<float>(count),
                .onset = std::vector<float>(count),
                .offset = std::vector<float>(count),
                .f0 = audio::Matrix<uint16_t>(size, kPitches),
                .note = audio::Matrix<float>(size, kPitches)};
  for (int64_t done = 0; done < size;) {
    // The first frame of the window; the sound lies in silence.
    const int64_t first = done == 0 ? 0 : done - kContext;
    HostTensor window({DType::kF32, {1, kWindow * kHop}});
    const auto rest = samples.subspan(static_cast<size_t>(first * kHop));
    const size_t some = std::min(rest.size(), static_cast<size_t>(kWindow * kHop));
    std::ranges::transform(rest.first(some), window.as<float>().begin(),
                           [&](float sample) { return gain * sample; });
    const HostTensor output = state_->stored.run(*state_->program, {&window});
    const bool is_last = first + kWindow >= size;
    const int64_t end = is_last ? size : first + kContext + kStep;
    for (; done < end; ++done) {
      copy_row(output.as<float>().subspan(static_cast<size_t>((done - first) * kColumns), kColumns),
               done, frames);
    }
    if (progress) progress(static_cast<double>(done) / static_cast<double>(size));
  }
  return frames;
}

}  // namespace hum::models::ear
