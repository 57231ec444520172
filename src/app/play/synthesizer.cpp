#include "app/play/synthesizer.h"

#include <algorithm>
#include <cmath>

#include "base/env.h"
#include "base/files.h"
#include "data/synthesis/level.h"
#include "data/synthesis/melody.h"
#include "data/synthesis/timing.h"
#include "models/basic_pitch/transcriber.h"
#include "models/batched_program.h"
#include "models/codec/code_vectors.h"
#include "models/codec/token_file.h"
#include "models/weights_folder.h"
#include "pipeline/channel_rendering.h"
#include "pipeline/recording.h"
#include "pipeline/windows.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using models::humming::TimbreReference;

constexpr double kReference_s = 5, kMinReference_s = 1;
constexpr uint64_t kReferenceSeed = 20261101;  // of a melody that no training item has

// The start of the sound: the first sample within 40 dB of the loudest.
size_t first_sound(std::span<const float> samples) {
  float peak = 0;
  for (const float sample : samples) peak = std::max(peak, std::fabs(sample));
  const auto found =
      std::ranges::find_if(samples, [&](float x) { return std::fabs(x) >= 0.01F * peak; });
  return static_cast<size_t>(found - samples.begin());
}

fs::path reference_file(const fs::path& weights, const data::Preset& preset) {
  return models::weights_part(weights, "references") / (std::string(preset.name) + ".safetensors");
}

}  // namespace

fs::path weights_folder(const std::string& named, std::string_view setting) {
  const std::string folder = named.empty() ? env_string("HUM_WEIGHTS") : named;
  if (folder.empty()) return data_folder() / "weights";
  const ErrorContext context(
      [&] { return fmt::format("reading {}", named.empty() ? "HUM_WEIGHTS" : setting); });
  models::require_weights_folder(folder);
  return folder;
}

pipeline::TranscribeFunction transcriber(runtime::Session& session,
                                         const models::basic_pitch::NoteOptions& options) {
  models::basic_pitch::validate(options);
  using models::basic_pitch::Transcriber;
  const auto model =
      session.shared<Transcriber>([&] { return std::make_shared<const Transcriber>(session); });
  return
      [model, options](std::span<const float> samples) { return model->notes(samples, options); };
}

std::vector<const data::Preset*> known_presets(const fs::path& weights) {
  std::vector<const data::Preset*> known;
  for (const data::Preset& preset : data::presets()) {
    if (fs::exists(reference_file(weights, preset))) known.push_back(&preset);
  }
  return known;
}

std::vector<float> render_reference(const data::Preset& preset, data::FluidRenderer& renderer) {
  const auto melody = data::make_melody(kReferenceSeed, static_cast<uint64_t>(preset.program),
                                        preset, {.seconds = kReference_s, .expressive_share = 0});
  return data::levelled(renderer.render(melody.notes, preset.program, kReference_s));
}

models::humming::SamplingOptions sampling_of(const SynthesisOptions& options) {
  auto sampling = options.sampling;
  if (options.strength == SynthesisOptions::kNeutralStrength) return sampling;
  sampling.temperature = 0.4 + 0.8 * options.strength;
  sampling.guidance = 2 - options.strength;
  sampling.draft = 0.8 - 0.6 * options.strength;
  return sampling;
}

void validate(const SynthesisOptions& options) {
  models::humming::validate(options.sampling);
  if (!(options.strength >= 0 && options.strength <= 1)) {
    fail(ExitCode::kUsage, fmt::format("--strength {} is outside 0..1", options.strength),
         "0 stays close to melody and timbre, 1 is free");
  }
  const models::humming::SamplingOptions neutral;
  const auto& own = options.sampling;
  const bool is_set = own.temperature != neutral.temperature || own.draft != neutral.draft ||
                      own.guidance_of_melody() != neutral.guidance ||
                      own.guidance_of_timbre() != neutral.guidance;
  if (options.strength != SynthesisOptions::kNeutralStrength && (is_set || own.greedy)) {
    fail(ExitCode::kUsage, "--strength sets --temperature, --guidance and --draft",
         "omit --strength, or omit --temperature, --greedy, --draft and all --guidance flags");
  }
}

Synthesizer::Synthesizer(runtime::Session& session, fs::path weights)
    : session_(session), weights_(std::move(weights)), humming_(session, weights_) {}

models::codec::CodecSession& Synthesizer::codec() {
  if (!codec_) {
    codec_ = std::make_unique<models::codec::CodecSession>(session_,
                                                           models::weights_part(weights_, "codec"));
  }
  return *codec_;
}

TimbreReference Synthesizer::encode(std::vector<float> samples) {
  data::normalise_level(samples);
  return humming_.reference(codec().encode(samples));
}

TimbreReference Synthesizer::preset_reference(const data::Preset& preset,
                                              std::vector<std::string>& warnings) {
  const fs::path stored = reference_file(weights_, preset);
  if (fs::exists(stored)) {
    const auto tokens = models::codec::read_token_file(stored);
    const auto& sizes = humming_.common();
    if (tokens.books * audio::channel_count(sizes.channels) != sizes.books) {
      fail(ExitCode::kBadData,
           fmt::format("{}: its {} codebooks belong to another codec", stored.string(),
                       tokens.books),
           "hum data references replaces the presets' references");
    }
    return humming_.reference(tokens.codes);
  }
  if (!known_presets(weights_).empty()) {
    warnings.push_back(
        fmt::format("the weights were not trained on {}; only its reference determines its sound",
                    preset.name));
  }
  data::FluidRenderer renderer;
  return encode(render_reference(preset, renderer));
}

std::vector<float> read_clip(const fs::path& path, double max_seconds,
                             std::vector<std::string>& warnings) {
  auto recording = pipeline::read_recording(path, max_seconds);
  for (const auto& warning : recording.warnings) {
    warnings.push_back(audio::name_of(path) + ": " + warning);
  }
  auto& samples = recording.samples;
  samples.erase(samples.begin(), samples.begin() + static_cast<int64_t>(first_sound(samples)));
  const double seconds = static_cast<double>(samples.size()) / data::kSampleRate;
  if (seconds < kMinReference_s) {
    fail(ExitCode::kBadData,
         fmt::format("{}: {:.2f} s of sound is too little to learn a timbre from",
                     audio::name_of(path), seconds),
         fmt::format("use a recording of {} to {} s", kMinReference_s, kReference_s));
  }
  samples.resize(std::min(samples.size(), static_cast<size_t>(data::sample_of(kReference_s))));
  return std::move(samples);
}

void Synthesizer::load(const SynthesisOptions& options) {
  humming_.load(!options.fast, options.decoder == Decoder::kGuided);
  if (options.decoder == Decoder::kPlain) codec();
}

pipeline::Instrument Synthesizer::instrument(TimbreReference reference,
                                             const SynthesisOptions& options, bool in_stereo) {
  validate(options);
  load(options);
  pipeline::Instrument result{.latent = humming_.common().latent, .together = models::kBatchRows};
  result.latents = [this, reference = std::move(reference), fast = options.fast,
                    sampling =
                        sampling_of(options)](std::span<const pipeline::LatentWindow> windows) {
    std::vector<models::humming::Window> told;
    for (const auto& window : windows) {
      told.push_back({.melody = window.melody,
                      .timbre = &reference,
                      .seed = static_cast<int64_t>(window.seed),
                      .number = window.window,
                      .frames = window.frames});
    }
    return fast ? humming_.drafts(told) : humming_.latents(told, sampling);
  };
  auto render = guided_decoder();
  if (options.decoder == Decoder::kPlain) {
    render = pipeline::one_by_one<pipeline::SoundWindow>(
        [this](const auto& window) { return codec().decode_latents(window.latents); });
  }
  result.channels = in_stereo ? audio::channel_count(channels()) : 1;
  result.render = in_stereo ? pipeline::render_channels(std::move(render), channels())
                            : pipeline::render_mix(std::move(render), channels());
  return result;
}

pipeline::RenderFunction Synthesizer::guided_decoder() const {
  return [this](std::span<const pipeline::SoundWindow> windows) {
    std::vector<models::humming::VoiceWindow> told;
    for (const auto& window : windows) {
      told.push_back({window.latents, window.melody, window.excitation, window.noise});
    }
    return humming_.render(told);
  };
}

pipeline::Instrument Synthesizer::token_instrument(std::span<const int32_t> codes, int64_t books) {
  HUM_REQUIRE(!codes.empty(), "token_instrument: no codes");
  const int64_t width = codec().config().latent;
  auto table = models::codec::sum_code_vectors(codec().codebooks(), codes, books);
  const std::vector<float> last(table.end() - width, table.end());
  for (int64_t i = 0; i < 2 * pipeline::kWindowFrames; ++i) {
    table.insert(table.end(), last.begin(), last.end());
  }
  auto latents = [table = std::move(table), width](const pipeline::LatentWindow& window) {
    return pipeline::cut_rows(table, width, pipeline::kLatentWindows.first_frame(window.window),
                              pipeline::kWindowFrames);
  };
  return {.latent = width,
          .latents = pipeline::one_by_one<pipeline::LatentWindow>(std::move(latents)),
          .render = guided_decoder()};
}

}  // namespace hum::app
