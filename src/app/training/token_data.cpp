#include "app/training/token_data.h"

#include <algorithm>

#include "base/fields_json.h"
#include "data/features/phase_free.h"
#include "data/synthesis/timing.h"
#include "models/codec/code_vectors.h"
#include "models/weights_folder.h"

namespace hum::app {

using models::humming::CommonConfig;
using models::humming::LatentModel;
using models::humming::LatentPredictor;
using runtime::HostTensor;

namespace {
constexpr uint64_t kValidationSeed = 0;
}  // namespace

ItemSplit split_items(int64_t items, const StageConfig& stage) {
  const int64_t usable = items - stage.held_out;
  if (usable < stage.batch) {
    fail(ExitCode::kBadData,
         fmt::format("{} has {} items: too few for a batch of {} with {} held out", stage.data,
                     items, stage.batch, stage.held_out),
         fmt::format("make {} or more (hum data make --count), or lower stage.held_out",
                     stage.batch + stage.held_out));
  }
  ItemSplit split = {.training = {0, usable, static_cast<uint64_t>(stage.loop.seed)}};
  if (stage.held_out > 0) {
    split.held_out.emplace(usable, stage.held_out, kValidationSeed);
    split.held_out_batches = std::max<int64_t>(1, stage.held_out / stage.batch);
  }
  return split;
}

OpenedInput opened(const StageConfig& stage, const ItemSplit& split,
                   const std::function<std::vector<HostTensor>(const Draw&)>& draw) {
  OpenedInput input;
  input.batches = [draw, order = split.training, seed = static_cast<uint64_t>(stage.loop.seed)](
                      int64_t step) { return draw({.order = order, .seed = seed, .step = step}); };
  if (split.held_out) {
    input.held_out.count = split.held_out_batches;
    input.held_out.batches = [draw, order = *split.held_out](int64_t index) {
      return draw({.order = order, .seed = kValidationSeed, .step = index, .is_training = false});
    };
  }
  return input;
}

namespace {

// Stages after the draft start from an item's own tokens, whose rest the mean over other encodings
// is not.
void require_fits_targets(const InputRequest& request) {
  if (request.configuration.stage.targets == Targets::kTokens) return;
  if (request.configuration.row->name == to_name(LatentModel::kPredictor)) return;
  fail(ExitCode::kConfig,
       fmt::format("{}: stage.targets: phase_free trains only drafts",
                   request.configuration.path.string()),
       "model_type: predictor, or stage: {targets: tokens}");
}

}  // namespace

std::shared_ptr<const TokenData> open_tokens(const InputRequest& request,
                                             const CommonConfig& common) {
  require_fits_targets(request);
  const StageConfig& stage = request.configuration.stage;
  const models::codec::CodecSession codec(request.session,
                                          models::weights_part(weights_of(stage), "codec"));
  data::ItemFolder items(stage.data, common.channels);
  const int64_t channels = audio::channel_count(items.channels());
  auto codebooks = models::codec::side_by_side(codec.sound_codebooks(), channels);
  data::TokenTable tokens(items, stage.data,
                          {.encoder = token_encoder(codec),
                           .entries = codec.config().quantizer.entries,
                           .latent = channels * codec.config().sound_latent(),
                           .codebooks = codebooks.to_floats()});
  const ItemSplit split = split_items(items.size(), stage);
  std::optional<data::StoredLatents> phase_free;
  if (stage.targets == Targets::kPhaseFree) {
    phase_free = data::phase_free_latents(items, stage.data, tokens, token_encoder(codec));
  }
  return std::make_shared<const TokenData>(TokenData{std::move(items), std::move(tokens), split,
                                                     std::move(codebooks), std::move(phase_free)});
}

CommonConfig common_of(const models::AnyModel& model) { return common_of(model.config()); }

CommonConfig common_of(const Json& config) {
  CommonConfig common;
  from_json(config.at("common"), common);
  const int64_t features = common.melody_features;
  if (features != data::kMelodyFeatures && features != data::kAllMelodyFeatures) {
    fail(ExitCode::kConfig,
         fmt::format("model.common.melody_features {} is no set of melody features", features),
         fmt::format("use {} or {}", data::kMelodyFeatures, data::kAllMelodyFeatures));
  }
  return common;
}

void require_fits(const TokenData& data, const CommonConfig& common, const std::string& whose) {
  const auto& tokens = data.tokens;
  if (common.channels == tokens.channels() && common.books == tokens.books() &&
      common.latent == tokens.latent()) {
    return;
  }
  const auto described = [](audio::Channels channels, int64_t books, int64_t latent) {
    return fmt::format("{{channels: {}, books: {}, latent: {}}}", to_name(channels), books, latent);
  };
  const std::string wanted = described(tokens.channels(), tokens.books(), tokens.latent());
  fail(ExitCode::kConfig,
       fmt::format("{} is {}, the items with this codec are {}", whose,
                   described(common.channels, common.books, common.latent), wanted),
       "use other items, or a model with common: " + wanted);
}

std::unique_ptr<const LatentPredictor> open_predictor(const InputRequest& request,
                                                      const TokenData& data, LatentModel model,
                                                      int64_t items) {
  const auto weights = weights_of(request.configuration.stage);
  const auto shape = request.configuration.step_shape();
  auto predictor = std::make_unique<const LatentPredictor>(request.session, weights, model, items,
                                                           shape.frames, shape.reference_frames);
  require_fits(data, predictor->common(), models::weights_part(weights, to_name(model)).string());
  return predictor;
}

ItemArrays arrays_of(const data::TokenBatch& batch) {
  const auto items = static_cast<int64_t>(batch.reference_frames.size());
  auto shaped = [&](const auto& values, int64_t frames) {
    const auto width = static_cast<int64_t>(values.size()) / (items * frames);
    return HostTensor::of({items, frames, width}, std::span(values));
  };
  ItemArrays arrays{batch.items,
                    shaped(batch.codes, data::kItemFrames),
                    shaped(batch.latents, data::kItemFrames),
                    shaped(batch.melody, data::kItemFrames),
                    shaped(batch.reference, data::kReferenceFrames),
                    HostTensor::of({items}, std::span(batch.reference_frames))};
  if (!batch.reference_melody.empty()) {
    arrays.reference_melody = shaped(batch.reference_melody, data::kReferenceFrames);
  }
  return arrays;
}

ItemArrays item_arrays(const TokenData& data, const StageConfig& stage, const Draw& draw,
                       const MelodyNeeds& melody) {
  auto options = batch_options(melody);
  options.replacement = {.share = draw.is_training ? stage.token_replacement : 0,
                         .seed = draw.seed};
  options.phase_free = data.phase_free ? &*data.phase_free : nullptr;
  return arrays_of(data::token_batch(data.items, data.tokens, draw.order, draw.step, stage.batch,
                                     stage.batch, options));
}

MelodyNeeds needs_of(const LatentPredictor& predictor) {
  return {predictor.common().melody_features, predictor.needs_reference_melody()};
}

MelodyNeeds both(const MelodyNeeds& a, const MelodyNeeds& b) {
  return {std::max(a.features, b.features), a.of_references || b.of_references};
}

data::TokenBatchOptions batch_options(const MelodyNeeds& melody) {
  return {.melody_columns = static_cast<int>(melody.features),
          .has_reference_melody = melody.of_references};
}

HostTensor predicted_latents(const LatentPredictor& predictor, const HostTensor& stages,
                             const ItemArrays& arrays) {
  return predictor.predict(stages, arrays.codes, arrays.melody, arrays.reference,
                           arrays.reference_frames,
                           arrays.reference_melody ? &*arrays.reference_melody : nullptr);
}

std::vector<train::NamedTensor> codebooks_for(const models::AnyModel& model,
                                              const TokenData& data) {
  std::vector<train::NamedTensor> found;
  for (const nn::Parameter& parameter : model.parameters().all()) {
    const std::string& name = parameter.name;
    const bool is_codebooks = name == "codebooks" || name.ends_with(".codebooks");
    if (is_codebooks) found.push_back({name, data.codebooks});
  }
  return found;
}

runtime::NamedTensors named(ItemArrays arrays) {
  runtime::NamedTensors all = {{"codes", std::move(arrays.codes)},
                               {"latents", std::move(arrays.latents)},
                               {"melody", std::move(arrays.melody)},
                               {"reference", std::move(arrays.reference)},
                               {"reference_frames", std::move(arrays.reference_frames)}};
  if (arrays.reference_melody) {
    all.emplace_back("reference_melody", std::move(*arrays.reference_melody));
  }
  return all;
}

}  // namespace hum::app
