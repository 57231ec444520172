#include "app/evaluation/model_systems.h"

#include <algorithm>

#include "app/play/hearing.h"
#include "base/json.h"
#include "data/synthesis/features.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "eval/metrics/codebook_use.h"
#include "models/preset_classifier/classifier_session.h"
#include "models/weights_folder.h"
#include "pipeline/hum_melody.h"

namespace hum::app {
namespace {

// What comes after the notes.
std::string stages_of(const SynthesisOptions& options) {
  return options.lm ? "language model, upsampler, guided decoder" : "draft, guided decoder";
}

std::vector<float> finished(std::vector<float> samples, const eval::TestClip& clip) {
  samples.resize(clip.truth.size());
  return data::levelled(std::move(samples));
}

}  // namespace

std::filesystem::path judge_folder(const std::filesystem::path& weights) {
  const auto robust = models::weights_part(weights, "judge");
  return std::filesystem::exists(robust) ? robust : models::weights_part(weights, "classifier");
}

eval::Classifier preset_classifier(runtime::Session& session, const std::filesystem::path& folder) {
  using models::preset_classifier::ClassifierSession;
  const auto classifier = std::make_shared<const ClassifierSession>(session, folder);
  return [classifier](std::span<const float> samples, const data::Preset& preset) {
    auto judged = classifier->judge(samples);
    const auto& names = classifier->presets();
    const auto found = std::ranges::find(names, preset.name);
    const auto likeliest = std::ranges::max_element(judged.logits) - judged.logits.begin();
    return eval::Classification{
        std::move(judged.embedding), std::move(judged.logits),
        found == names.end() ? -1 : static_cast<int32_t>(found - names.begin()),
        data::find_preset(names[static_cast<size_t>(likeliest)]).family == preset.family};
  };
}

ModelSystems::ModelSystems(runtime::Session& session, const std::filesystem::path& weights)
    : synthesizer_(session, weights), hear_(hear_function(session, weights)) {}

void ModelSystems::prepare(const eval::TestClip& clip, bool with_residuals) {
  timbre_ = synthesizer_.clip_timbre(
      {{clip.reference, clip_notes(clip.reference, hear_(clip.reference).notes)}});
  if (with_residuals) synthesizer_.add_residuals(timbre_);
  codes_ = synthesizer_.codec().encode(clip.truth);
  heard_ = hear(clip);
}

std::vector<float> ModelSystems::play(std::span<const audio::Note> notes,
                                      const eval::TestClip& clip, const TimbreSource& timbre,
                                      const SynthesisOptions& options) {
  if (notes.empty()) return {};
  // The seed makes each clip's draws independent.
  return finished(pipeline::play(notes, synthesizer_.instrument(timbre, options), clip.plan.melody),
                  clip);
}

std::vector<audio::Note> ModelSystems::hear(const eval::TestClip& clip) const {
  pipeline::HumOptions options;
  options.octave = std::to_string(-clip.hum_shift_semitones / 12);
  return pipeline::notes_heard(clip.hum, hear_, options, {});
}

eval::TokenLogits ModelSystems::token_logits(const eval::TestClip& clip) {
  const auto& humming = synthesizer_.humming();
  const int64_t books = synthesizer_.codec().config().quantizer.books;
  const int64_t coarse_books = humming.coarse_books();
  const auto melody =
      data::melody_features(clip.notes, models::humming::kWindowFrames, data::kAllMelodyFeatures);
  std::vector<int32_t> known;
  for (int64_t frame = 0; frame < models::humming::kWindowFrames; ++frame) {
    const auto first = codes_.begin() + frame * books;
    known.insert(known.end(), first, first + coarse_books);
  }
  eval::TokenLogits result;
  result.logits = humming.coarse_logits(known, melody, humming.draft(melody, timbre_.reference),
                                        timbre_.reference);
  result.classes = std::ssize(result.logits) / models::humming::kWindowFrames;
  result.targets = eval::tokens_of_book(known, 0, coarse_books);
  return result;
}

eval::System ModelSystems::from_hum(const std::string& name, const SynthesisOptions& options) {
  return {.name = name,
          .what = "from the hum: notes heard in it, " + stages_of(options),
          .play = [this, options](const auto& clip) {
            return play(hear(clip), clip, timbre_, options);
          }};
}

eval::System ModelSystems::by_name() {
  return {.name = "hum, by name",
          .what = "from the hum, with the reference that is stored with the weights",
          .play = [this](const eval::TestClip& clip) {
            std::vector<std::string> warnings;
            const bool is_stored = clip.plan.split == eval::Split::kSeen;
            return play(
                hear(clip), clip,
                is_stored ? synthesizer_.preset_timbre(*clip.plan.preset, warnings) : timbre_, {});
          }};
}

eval::System ModelSystems::told_notes(const std::string& name, const std::string& what,
                                      const SynthesisOptions& options) {
  return {.name = name, .what = what, .play = [this, options](const auto& clip) {
            return play(clip.notes, clip, timbre_, options);
          }};
}

eval::System ModelSystems::told_notes(const std::string& name, const SynthesisOptions& options) {
  auto system = told_notes(name, "the same, given the true notes", options);
  // A clip is mono, so it has no tokens for two channels.
  if (options.lm && synthesizer_.channels() == audio::Channels::kMono) {
    system.tokens = [this](const auto& clip) { return token_logits(clip); };
  }
  return system;
}

std::vector<eval::System> ModelSystems::systems() {
  const SynthesisOptions lm = {.lm = true};
  return {from_hum("hum", {}), told_notes("hum, true notes", {}), from_hum("hum --lm", lm),
          told_notes("hum --lm, true notes", lm),
          told_notes("plain decoder, true notes",
                     "language model and upsampler through the codec's own decoder",
                     {.decoder = Decoder::kPlain, .lm = true})};
}

std::vector<eval::System> ModelSystems::compared_as(const std::string& name,
                                                    const SynthesisOptions& options) {
  std::vector<eval::System> result = {from_hum(name, options),
                                      told_notes(name + ", true notes", options)};
  const std::string own = options.lm ? "hum --lm" : "hum";
  result[0].against = own;
  result[1].against = own + ", true notes";
  return result;
}

eval::System ModelSystems::heard_rendering() {
  return {.name = "true rendering, heard notes",
          .what = "the real instrument plays the notes heard in the hum: the limit for any model",
          .role = eval::Role::kCeiling,
          .play = [this](const auto& clip) {
            return clip.heard_truth.empty() ? clip.play_truth(heard_) : clip.heard_truth;
          }};
}

eval::System ModelSystems::own_reference() {
  return {
      .name = "hum, own reference",
      .what = "the draft of the true notes, with the true rendering as its own timbre reference",
      .role = eval::Role::kCeiling,
      .play = [this](const eval::TestClip& clip) {
        // Without the residual, which would be the answer itself.
        const auto instrument = synthesizer_.instrument(
            synthesizer_.clip_timbre({{clip.truth, clip.notes}}), {.residual = 0});
        return finished(pipeline::play(clip.notes, instrument, clip.plan.melody), clip);
      }};
}

eval::System ModelSystems::guided_copy() {
  return {.name = "guided decoder on true tokens",
          .what = "encoded, then decoded by the guided decoder with the true notes",
          .role = eval::Role::kCeiling,
          .play = [this](const eval::TestClip& clip) {
            const auto instrument = synthesizer_.token_instrument(
                codes_, synthesizer_.codec().config().quantizer.books);
            return finished(pipeline::play(clip.notes, instrument, clip.plan.melody), clip);
          }};
}

eval::System ModelSystems::codec_copy() {
  return {.name = "codec on the true rendering",
          .what = "encoded and decoded by the plain codec",
          .role = eval::Role::kCeiling,
          .play = [this](const eval::TestClip& clip) {
            auto samples =
                synthesizer_.codec().decode(codes_, synthesizer_.codec().config().quantizer.books);
            samples.resize(clip.truth.size());
            return samples;
          }};
}

void ModelSystems::count_tokens(const std::string& name, std::span<const int32_t> codes) {
  auto& all = counted_[name];
  all.insert(all.end(), codes.begin(), codes.end());
}

Json ModelSystems::codebook_use() {
  const auto& quantizer = synthesizer_.codec().config().quantizer;
  const auto entries = static_cast<int>(quantizer.entries);
  Json rows = Json::array();
  for (int64_t book = 0; book < quantizer.books; ++book) {
    for (const auto& [name, codes] : counted_) {
      const auto tokens = eval::tokens_of_book(codes, book, quantizer.books);
      rows.push_back({{"book", book + 1},
                      {"sound", name},
                      {"entropy_bits", eval::codebook_entropy_bits(tokens, entries)},
                      {"used", eval::codebook_share_used(tokens, entries)}});
    }
  }
  return rows;
}

}  // namespace hum::app
