#include "data/synthesis/fluid.h"

#include <fluidsynth.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "audio/resample.h"
#include "base/error.h"
#include "base/log.h"
#include "data/synthesis/fluid_events_impl.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

using internal::FluidAction;
using internal::FluidEvent;
using internal::kFluidBlock;
using internal::kFluidRate;

constexpr int kMidiChannels = 16;
constexpr int kDrumChannel = 9, kDrumBank = 128;
constexpr int kPolyphony = 96;
// Ten voices at full velocity stay below 1.
constexpr double kGain = 0.3;
constexpr int kExpressionController = 11;

void log_fluid(int level, const char* text, void*) {
  const auto severity = level <= FLUID_ERR ? spdlog::level::warn : spdlog::level::debug;
  spdlog::log(severity, "fluidsynth: {}", text);
}

void route_fluid_log() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const int level : {FLUID_PANIC, FLUID_ERR, FLUID_WARN, FLUID_INFO, FLUID_DBG}) {
      fluid_set_log_function(level, log_fluid, nullptr);
    }
  });
}

using Settings = std::unique_ptr<fluid_settings_t, decltype(&delete_fluid_settings)>;
using Synth = std::unique_ptr<fluid_synth_t, decltype(&delete_fluid_synth)>;

struct ProgramPlace {
  int bank, number;
};
ProgramPlace place_of(int program) {
  return program < kDrumKit ? ProgramPlace{0, program}
                            : ProgramPlace{kDrumBank, program - kDrumKit};
}

// The first synthesizer of a process fills tables that all of them share. FluidSynth lets another
// thread's go on meanwhile, with what is there so far.
fluid_synth_t* new_synth(fluid_settings_t* settings) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return new_fluid_synth(settings);
}

Settings dry_settings() {
  Settings settings(new_fluid_settings(), delete_fluid_settings);
  HUM_CHECK(settings != nullptr, "fluidsynth: no settings");
  fluid_settings_setnum(settings.get(), "synth.sample-rate", kFluidRate);
  fluid_settings_setnum(settings.get(), "synth.gain", kGain);
  fluid_settings_setint(settings.get(), "synth.polyphony", kPolyphony);
  fluid_settings_setint(settings.get(), "synth.reverb.active", 0);
  fluid_settings_setint(settings.get(), "synth.chorus.active", 0);
  fluid_settings_setint(settings.get(), "synth.lock-memory", 0);
  fluid_settings_setint(settings.get(), "synth.threadsafe-api", 0);
  return settings;
}

}  // namespace

struct FluidRenderer::Impl {
  Settings settings;
  Synth synth;
  int font = -1;
  std::vector<float> left, right;  // of the render under way, at kFluidRate
  int64_t blocks_done = 0;

  explicit Impl(const std::filesystem::path& sound_font);
  void advance(int64_t blocks);
  void silence();
  void prime_voices();
  void select(int program);
  void send(const FluidEvent& event);
  // Fills left and right.
  void play(std::span<const audio::Note> notes, int program, double seconds,
            std::span<const ExpressionPoint> expression);
  // Those two, interleaved.
  audio::AudioBuffer played() const;
};

FluidRenderer::Impl::Impl(const std::filesystem::path& sound_font)
    : settings(dry_settings()), synth(nullptr, delete_fluid_synth) {
  if (!std::filesystem::exists(sound_font)) {
    fail(ExitCode::kNoInput, fmt::format("sound font {} does not exist", sound_font.string()));
  }
  synth.reset(new_synth(settings.get()));
  HUM_CHECK(synth != nullptr, "fluidsynth: no synthesiser");
  font = fluid_synth_sfload(synth.get(), sound_font.c_str(), 1);
  if (font == FLUID_FAILED) {
    fail(ExitCode::kBadData, fmt::format("{} is not a sound font", sound_font.string()),
         "apt install fluid-soundfont-gm");
  }
}

// Renders into the buffers, which are large enough during a render, or into nothing.
void FluidRenderer::Impl::advance(int64_t blocks) {
  std::array<float, kFluidBlock> unused_left, unused_right;
  for (int64_t i = 0; i < blocks; ++i, ++blocks_done) {
    const int64_t at = blocks_done * kFluidBlock;
    const bool kept = at + kFluidBlock <= static_cast<int64_t>(left.size());
    float* l = kept ? left.data() + at : unused_left.data();
    float* r = kept ? right.data() + at : unused_right.data();
    fluid_synth_write_float(synth.get(), kFluidBlock, l, 0, 1, r, 0, 1);
  }
}

void FluidRenderer::Impl::silence() {
  for (int channel = 0; channel < kMidiChannels; ++channel) {
    fluid_synth_all_sounds_off(synth.get(), channel);
  }
  // FluidSynth frees voices while it renders; one block is enough, the bound is for safety.
  for (int i = 0; i < 64 && (i == 0 || fluid_synth_get_active_voice_count(synth.get()) > 0); ++i) {
    advance(1);
  }
  fluid_synth_system_reset(synth.get());
}

// A reused voice carries the filter ramp of its last note into the first block of the next one
// (measured at -50 dB). So all voices play the same sound before every render.
void FluidRenderer::Impl::prime_voices() {
  silence();
  for (int key = 36; key < 96; ++key) {
    for (int channel = 0; channel < kDrumChannel; ++channel) {
      if (fluid_synth_get_active_voice_count(synth.get()) >= kPolyphony) break;
      fluid_synth_noteon(synth.get(), channel, key, 90);
    }
  }
  advance(1);
  silence();
}

void FluidRenderer::Impl::select(int program) {
  const auto [bank, number] = place_of(program);
  for (int channel = 0; channel < kMidiChannels; ++channel) {
    if (channel == kDrumChannel) continue;
    if (fluid_synth_program_select(synth.get(), channel, font, bank, number) == FLUID_FAILED) {
      fail(ExitCode::kBadData, fmt::format("the sound font has no program {}", program),
           "use a General MIDI sound font");
    }
    fluid_synth_pitch_wheel_sens(synth.get(), channel, internal::kBendRange);
  }
}

void FluidRenderer::Impl::send(const FluidEvent& event) {
  switch (event.action) {
    case FluidAction::kNoteOff:
      fluid_synth_noteoff(synth.get(), event.channel, event.key);
      break;
    case FluidAction::kExpression:
      for (int channel = 0; channel < kMidiChannels; ++channel) {
        fluid_synth_cc(synth.get(), channel, kExpressionController, event.value);
      }
      break;
    case FluidAction::kWheel:
      fluid_synth_pitch_bend(synth.get(), event.channel, event.value);
      break;
    case FluidAction::kNoteOn:
      fluid_synth_noteon(synth.get(), event.channel, event.key, event.value);
      break;
  }
}

void FluidRenderer::Impl::play(std::span<const audio::Note> notes, int program, double seconds,
                               std::span<const ExpressionPoint> expression) {
  HUM_REQUIRE(seconds > 0, "render: length must be positive, got {} s", seconds);
  HUM_REQUIRE(program >= 0 && program < 2 * kDrumKit, "render: program {} is not in 0..255",
              program);
  const int64_t samples = 2 * sample_of(seconds);
  const int64_t blocks = (samples + kFluidBlock - 1) / kFluidBlock;
  left.clear();
  right.clear();
  prime_voices();
  select(program);
  left.resize(blocks * kFluidBlock);
  right.resize(blocks * kFluidBlock);
  blocks_done = 0;
  for (const auto& event : internal::fluid_events(notes, expression)) {
    if (event.block >= blocks) break;
    advance(event.block - blocks_done);
    send(event);
  }
  advance(blocks - blocks_done);
  left.resize(samples);
  right.resize(samples);
}

audio::AudioBuffer FluidRenderer::Impl::played() const {
  audio::AudioBuffer sound{kFluidRate, 2, {}};
  sound.samples.reserve(2 * left.size());
  for (size_t i = 0; i < left.size(); ++i) {
    sound.samples.push_back(left[i]);
    sound.samples.push_back(right[i]);
  }
  return sound;
}

FluidRenderer::FluidRenderer(const std::filesystem::path& sound_font) {
  route_fluid_log();
  impl_ = std::make_unique<Impl>(sound_font);
}

FluidRenderer::~FluidRenderer() = default;

bool FluidRenderer::has(int program) const {
  const auto [bank, number] = place_of(program);
  fluid_sfont_t* const font = fluid_synth_get_sfont_by_id(impl_->synth.get(), impl_->font);
  return font != nullptr && fluid_sfont_get_preset(font, bank, number) != nullptr;
}

std::vector<float> FluidRenderer::render(std::span<const audio::Note> notes, int program,
                                         double seconds,
                                         std::span<const ExpressionPoint> expression) {
  impl_->play(notes, program, seconds, expression);
  auto& mono = impl_->left;
  for (size_t i = 0; i < mono.size(); ++i) mono[i] = (mono[i] + impl_->right[i]) / 2;
  return audio::resample(mono, kFluidRate, kSampleRate);
}

audio::AudioBuffer FluidRenderer::render_stereo(std::span<const audio::Note> notes, int program,
                                                double seconds,
                                                std::span<const ExpressionPoint> expression) {
  impl_->play(notes, program, seconds, expression);
  return audio::resample(impl_->played(), kSampleRate);
}

audio::AudioBuffer FluidRenderer::render_full_rate(std::span<const audio::Note> notes, int program,
                                                   double seconds) {
  impl_->play(notes, program, seconds, {});
  return impl_->played();
}

}  // namespace hum::data
