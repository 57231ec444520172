#include "app/play/synthesizer.h"

#include <algorithm>
#include <utility>

#include "app/play/stored_decays.h"
#include "app/play/stored_residuals.h"
#include "base/env.h"
#include "base/folders.h"
#include "data/synthesis/features.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "models/basic_pitch/transcriber.h"
#include "models/batched_program.h"
#include "models/codec/code_vectors.h"
#include "models/codec/token_file.h"
#include "models/humming/equaliser.h"
#include "models/weights_folder.h"
#include "pipeline/channel_rendering.h"
#include "pipeline/windows.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using models::codec::TokenFile;
using models::humming::BandCorrection;
using models::humming::LateDecay;
using models::humming::Residual;

// models/ and pipeline/ do not depend on each other.
static_assert(models::humming::kMaxExcitationTail_s <= pipeline::kMaxRelease_s);

// The windows in which the models draft a reference: one after another, the last one padded.
int64_t windows_of_frames(int64_t frames) {
  return (frames + models::humming::kWindowFrames - 1) / models::humming::kWindowFrames;
}

// Of the noise when the models play a reference's own notes.
constexpr uint64_t kBandSeed = 1;

pipeline::RenderFunction with_equaliser(pipeline::RenderFunction render,
                                        std::shared_ptr<const BandCorrection> bands, double share) {
  return [render = std::move(render), bands = std::move(bands),
          share](std::span<const pipeline::SoundWindow> windows) {
    auto sounds = render(windows);
    for (size_t i = 0; i < sounds.size(); ++i) {
      models::humming::correct_bands(sounds[i], windows[i].melody, *bands, share);
    }
    return sounds;
  };
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
                                         const models::basic_pitch::NoteOptions& options,
                                         std::function<void(double done)> progress) {
  models::basic_pitch::validate(options);
  using models::basic_pitch::Transcriber;
  const auto model =
      session.shared<Transcriber>([&] { return std::make_shared<const Transcriber>(session); });
  return [model, options, progress = std::move(progress)](std::span<const float> samples) {
    return model->notes(samples, options, progress);
  };
}

Synthesizer::Synthesizer(runtime::Session& session, fs::path weights)
    : session_(session), weights_(std::move(weights)), humming_(session, weights_) {}

models::codec::CodecSession& Synthesizer::codec() {
  const std::scoped_lock lock(codec_mutex_);
  if (!codec_) {
    codec_ = std::make_unique<models::codec::CodecSession>(session_,
                                                           models::weights_part(weights_, "codec"));
  }
  return *codec_;
}

TimbreSource Synthesizer::source_of(std::span<const int32_t> read, std::vector<float> melody,
                                    const TokenFile& all) const {
  TimbreSource source{humming_.reference(read), humming_.code_latents(all.codes), all.notes};
  if (!melody.empty()) melody.resize(models::humming::kReferenceFrames * data::kAllMelodyFeatures);
  source.reference.melody = std::move(melody);
  return source;
}

TimbreSource Synthesizer::clip_timbre(std::vector<TimbreClip> clips) {
  JoinedClips joined = join_clips(std::move(clips), codec());
  auto source = source_of(joined.read_codes, std::move(joined.read_melody), joined.all);
  source.sound = std::move(joined.sound);
  if (!source.notes.empty()) {
    source.decay = std::make_shared<const LateDecay>(decay_of(source.sound, source.notes));
  }
  return source;
}

TimbreSource Synthesizer::preset_timbre(const data::Preset& preset,
                                        std::vector<std::string>& warnings, bool with_stored) {
  const fs::path stored = reference_file(weights_, preset);
  if (fs::exists(stored)) {
    const auto tokens = models::codec::read_token_file(stored);
    if (!reads(tokens)) {
      fail(ExitCode::kBadData,
           fmt::format("{}: its {} codebooks belong to another codec", stored.string(),
                       tokens.books),
           "hum data references replaces the presets' references");
    }
    TimbreSource timbre = stored_timbre(tokens);
    if (with_stored) add_stored(preset, timbre);
    return timbre;
  }
  if (!known_presets(weights_).empty()) {
    warnings.push_back(
        fmt::format("the weights were not trained on {}; only its reference determines its sound",
                    preset.name));
  }
  data::FluidRenderer renderer;
  TimbreSource timbre = stored_timbre(reference_tokens(preset, renderer, codec()));
  timbre.decay = std::make_shared<const LateDecay>(preset_decay(preset, renderer));
  return timbre;
}

bool Synthesizer::reads(const TokenFile& reference) const {
  const auto& sizes = humming_.common();
  const bool fits =
      std::ranges::all_of(reference.codes, [&](int32_t c) { return c < sizes.entries; });
  return fits && reference.books * audio::channel_count(sizes.channels) == sizes.books;
}

TimbreSource Synthesizer::stored_timbre(const TokenFile& reference) const {
  std::vector<float> melody;
  if (!reference.notes.empty()) {
    melody = data::melody_features(reference.notes, models::humming::kReferenceFrames,
                                   data::kAllMelodyFeatures);
  }
  return source_of(reference.codes, std::move(melody), reference);
}

bool Synthesizer::has_residual(const TimbreSource& timbre) const {
  return !timbre.notes.empty() && channels() == audio::Channels::kMono;
}

void Synthesizer::add_stored(const data::Preset& preset, TimbreSource& timbre) const {
  if (!timbre.decay) timbre.decay = stored_decay(weights_, preset);
  if (!has_residual(timbre)) return;
  timbre.residual = stored_residual(weights_, preset, humming_.common().latent);
  if (!timbre.residual) timbre.residual = residual(timbre);
}

std::shared_ptr<const Residual> Synthesizer::residual(const TimbreSource& timbre) const {
  if (!has_residual(timbre)) return nullptr;
  const int64_t latent = humming_.common().latent, width = data::kAllMelodyFeatures;
  const int64_t frames = std::ssize(timbre.latents) / latent, windows = windows_of_frames(frames);
  const auto melody = data::melody_features(timbre.notes, windows * models::humming::kWindowFrames,
                                            data::kAllMelodyFeatures);
  std::vector<float> drafts;
  // One by one, with the program that short melodies use.
  for (int64_t w = 0; w < windows; ++w) {
    const auto part = pipeline::cut_rows(melody, width, w * models::humming::kWindowFrames,
                                         models::humming::kWindowFrames);
    const auto draft = humming_.draft(part, timbre.reference);
    drafts.insert(drafts.end(), draft.begin(), draft.end());
  }
  drafts.resize(timbre.latents.size());
  return std::make_shared<const Residual>(timbre.latents, drafts,
                                          data::melody_features(timbre.notes, frames, width),
                                          frames_of_one_note(timbre.notes, frames));
}

std::shared_ptr<const BandCorrection> Synthesizer::band_correction(const TimbreSource& timbre) {
  TimbreSource uncorrected = timbre;
  uncorrected.sound.clear();
  auto plays = instrument(std::move(uncorrected), {.residual = 1});
  plays.together = 1;  // the programs that short melodies use
  auto played = pipeline::play(timbre.notes, plays, kBandSeed);
  played.resize(timbre.sound.size());
  data::normalise_level(played);
  const int64_t frames = std::ssize(timbre.sound) / data::kFrameSamples;
  return std::make_shared<const BandCorrection>(
      timbre.sound, played, data::melody_features(timbre.notes, frames, data::kAllMelodyFeatures),
      frames_of_one_note(timbre.notes, frames));
}

void Synthesizer::add_residuals(TimbreSource& timbre, Decoder decoder) {
  if (!has_residual(timbre)) return;
  if (!timbre.residual) timbre.residual = residual(timbre);
  const bool has_bands = decoder == Decoder::kGuided && !timbre.sound.empty();
  if (has_bands && !timbre.bands) timbre.bands = band_correction(timbre);
}

void Synthesizer::load(const SynthesisOptions& options) {
  humming_.load(options.lm, options.decoder == Decoder::kGuided);
  if (options.decoder == Decoder::kPlain) codec();
}

pipeline::Instrument Synthesizer::instrument(TimbreSource timbre, const SynthesisOptions& options,
                                             bool in_stereo) {
  validate(options);
  load(options);
  pipeline::Instrument result{.latent = humming_.common().latent, .together = models::kBatchRows};
  const bool is_corrected = options.residual > 0;
  if (is_corrected) add_residuals(timbre, options.decoder);
  auto correction = is_corrected ? std::move(timbre.residual) : nullptr;
  result.latents = [this, correction = std::move(correction), share = options.residual,
                    reference = std::move(timbre.reference), lm = options.lm,
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
    auto latents = lm ? humming_.latents(told, sampling) : humming_.drafts(told);
    for (size_t i = 0; correction && i < latents.size(); ++i) {
      correction->add(latents[i], windows[i].melody, share);
    }
    return latents;
  };
  auto render = guided_decoder();
  if (options.decoder == Decoder::kPlain) {
    render = pipeline::one_by_one<pipeline::SoundWindow>(
        [this](const auto& window) { return codec().decode_latents(window.latents); });
  } else {
    result.excitation_tail_s = humming_.excitation_tail_s();
    if (is_corrected && timbre.bands) {
      render = with_equaliser(std::move(render), std::move(timbre.bands), options.residual);
    }
  }
  if (is_corrected && timbre.decay && humming_.loses_count_of_ages()) {
    result.decay_db = [decay = std::move(timbre.decay), share = options.residual](
                          double pitch, int64_t age) { return share * decay->gain_db(pitch, age); };
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
  const auto& config = codec().config();
  const int64_t width = config.sound_latent(), sound_books = config.sound_books();
  auto table = models::codec::sum_code_vectors(
      codec().sound_codebooks(),
      models::codec::first_books(codes, config.quantizer.books, sound_books),
      std::min(books, sound_books));
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
          .render = guided_decoder(),
          .excitation_tail_s = humming_.excitation_tail_s()};
}

}  // namespace hum::app
