#include "app/training/inputs.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "app/training/crop_changes.h"
#include "app/training/inputs_impl.h"
#include "app/training/predicted_latents.h"
#include "app/training/token_data.h"
#include "base/fields_json.h"
#include "base/rng.h"
#include "data/shards/manifest.h"
#include "data/synthesis/features.h"
#include "data/synthesis/timing.h"
#include "models/codec/code_vectors.h"
#include "models/humming/melody_columns.h"

namespace hum::app {
namespace {

using internal::chosen;
using internal::shaped;
using models::humming::CommonConfig;
using runtime::HostTensor;

// models/ does not depend on data/, so both name the columns that conditioning reads.
static_assert(models::humming::kMelodyPitch == static_cast<int64_t>(data::MelodyFeature::kPitch));
static_assert(models::humming::kMelodySounding ==
              static_cast<int64_t>(data::MelodyFeature::kSounding));
static_assert(models::humming::kMelodyOnset == static_cast<int64_t>(data::MelodyFeature::kOnset));
static_assert(models::humming::kMelodySinceOnset ==
              static_cast<int64_t>(data::MelodyFeature::kSinceOnset));
static_assert(models::humming::kMelodySinceEnd ==
              static_cast<int64_t>(data::MelodyFeature::kSinceEnd));
static_assert(models::humming::kMelodyCountFrames == data::kCountFrames);
static_assert(models::humming::kMelodyLongSinceOnset ==
              static_cast<int64_t>(data::MelodyFeature::kLongSinceOnset));
static_assert(models::humming::kMelodyLongCountFrames == data::kLongCountFrames);
static_assert(models::humming::kAllMelodyFeatures == data::kAllMelodyFeatures);

// Items without their tokens.
struct CropData {
  explicit CropData(const ModelConfiguration& configuration)
      : items(configuration.stage.data), split(split_items(items.size(), configuration.stage)) {
    items.require_sound(configuration.row->name);
  }
  data::ItemFolder items;
  ItemSplit split;
};

HostTensor audio_crops(const CropData& data, const InputRequest& request, const Draw& draw) {
  const StageConfig& stage = request.configuration.stage;
  const int64_t samples = request.configuration.step_shape().samples;
  const auto audio =
      data::audio_batch(data.items, draw.order, draw.seed, draw.step, stage.batch, samples);
  return HostTensor::of({stage.batch, samples}, std::span<const float>(audio));
}

bool wants(const nn::TrainSpec& spec, std::string_view field) {
  return std::ranges::find(spec.batch, field, &nn::Field::name) != spec.batch.end();
}

OpenedInput waveform_crops(const InputRequest& request) {
  const StageConfig& stage = request.configuration.stage;
  const auto data = std::make_shared<const CropData>(request.configuration);
  return opened(stage, data->split, [data, request](const Draw& draw) {
    return chosen(request.spec, {{"audio", audio_crops(*data, request, draw)}});
  });
}

OpenedInput labelled_crops(const InputRequest& request) {
  const StageConfig& stage = request.configuration.stage;
  const auto data = std::make_shared<const CropData>(request.configuration);
  const auto presets = item_presets(stage.data);
  const Json named = request.model.config().at("presets");
  if (named != Json(presets)) {
    fail(ExitCode::kConfig,
         fmt::format("model.presets names {} presets, but {} holds {} others", named.size(),
                     stage.data, presets.size()),
         "omit model.presets to use those of the data");
  }
  const auto changes = std::make_shared<const CropChanges>(request);
  const auto batch = [data, request, &stage, changes, classes = presets.size()](const Draw& draw) {
    HostTensor labels({graph::DType::kI32, {stage.batch}});
    for (int64_t b = 0; b < stage.batch; ++b) {  // presets take turns
      const int64_t item = draw.order.item(draw.step * stage.batch + b);
      labels.as<int32_t>()[static_cast<size_t>(b)] =
          static_cast<int32_t>(data->items[item].index % classes);
    }
    HostTensor audio = audio_crops(*data, request, draw);
    changes->apply(draw, audio);
    return chosen(request.spec, {{"audio", std::move(audio)}, {"preset", std::move(labels)}});
  };
  OpenedInput input = opened(stage, data->split, batch);
  if (changes->has_copies()) input.builds_on = {"codec"};
  return input;
}

OpenedInput token_items(const InputRequest& request) {
  const CommonConfig common = common_of(request.model);
  const auto data = open_tokens(request, common);
  const StageConfig& stage = request.configuration.stage;
  require_fits(*data, common, request.configuration.path.string());
  const MelodyNeeds melody{common.melody_features, wants(request.spec, "reference_melody")};
  OpenedInput input = opened(stage, data->split, [data, request, &stage, melody](const Draw& draw) {
    return chosen(request.spec, named(item_arrays(*data, stage, draw, melody)));
  });
  input.builds_on = {"codec"};
  input.frozen = codebooks_for(request.model, *data);
  return input;
}

// Replaces the true latents by the draft, which is all that generation has before it draws tokens.
OpenedInput token_items_with_drafts(const InputRequest& request) {
  const CommonConfig common = common_of(request.model);
  const auto data = open_tokens(request, common);
  const StageConfig& stage = request.configuration.stage;
  require_fits(*data, common, request.configuration.path.string());
  std::shared_ptr<const Drafts> drafts;
  if (wants(request.spec, "draft")) drafts = std::make_shared<const Drafts>(request, *data);
  const graph::Dims melody_dims = {stage.batch, data::kItemFrames, common.melody_features};
  MelodyNeeds melody{.features = common.melody_features};
  if (drafts) melody = both(melody, drafts->needs());
  const auto batch = [data, request, &stage, drafts, melody, melody_dims](const Draw& draw) {
    auto arrays = item_arrays(*data, stage, draw, melody);
    std::optional<HostTensor> draft;
    if (drafts) draft = drafts->of(arrays);
    arrays.melody = models::humming::first_columns(arrays.melody.as<float>(), melody_dims);
    auto all = named(std::move(arrays));
    if (draft) all.emplace_back("draft", std::move(*draft));
    return chosen(request.spec, std::move(all));
  };
  OpenedInput input = opened(stage, data->split, batch);
  input.builds_on = {"codec", "upsampler", "predictor"};
  input.frozen = codebooks_for(request.model, *data);
  return input;
}

// Throws: kConfig unless the model plays one channel with the data's latents.
void require_one_channel(const InputRequest& request, const CommonConfig& common, int64_t latent) {
  if (common.channels == audio::Channels::kMono && common.latent == latent) return;
  fail(ExitCode::kConfig,
       fmt::format("{}: the voice plays one channel, and the data's latents have {} numbers",
                   request.configuration.path.string(), latent),
       fmt::format("model: {{common: {{latent: {}}}}}, without channels", latent));
}

OpenedInput crops_with_notes(const InputRequest& request) {
  const CommonConfig common = common_of(request.model);
  const auto data = open_tokens(request, common);
  data->items.require_sound(request.configuration.row->name);
  const StageConfig& stage = request.configuration.stage;
  const int64_t latent = data->tokens.latent() / audio::channel_count(data->tokens.channels());
  require_one_channel(request, common, latent);
  models::humming::VoiceConfig voice;
  from_json(request.model.config(), voice);
  const auto predicted = std::make_shared<const PredictedLatents>(request, *data);
  const data::VoiceBatchOptions options{static_cast<int>(common.melody_features),
                                        voice.excitation_tail_s};
  const auto make = [data, request, &stage, predicted, latent, options](const Draw& draw) {
    const int64_t batch = stage.batch, frames = stage.frames,
                  samples = frames * data::kFrameSamples;
    auto crops = data::voice_batch(data->items, data->tokens, draw.order, draw.seed, draw.step,
                                   batch, frames, options);
    predicted->replace(draw, crops);
    return chosen(request.spec,
                  {{"audio", shaped({batch, samples}, crops.audio)},
                   {"latents", shaped({batch, frames, latent}, crops.latents)},
                   {"melody", shaped({batch, frames, options.melody_columns}, crops.melody)},
                   {"excitation", shaped({batch, samples}, crops.excitation)}});
  };
  OpenedInput input = opened(stage, data->split, make);
  input.builds_on = {"codec", "upsampler", "predictor"};
  return input;
}

// Whole items with what the predictor hears and what the voice plays.
OpenedInput items_with_sound(const InputRequest& request) {
  const Json config = request.model.config();
  const CommonConfig heard = common_of(config.at("predictor")),
                     played = common_of(config.at("voice"));
  const auto data = open_tokens(request, heard);
  data->items.require_sound(request.configuration.row->name);
  require_fits(*data, heard, request.configuration.path.string());
  const StageConfig& stage = request.configuration.stage;
  const MelodyNeeds melody{heard.melody_features, wants(request.spec, "reference_melody")};
  const data::VoiceBatchOptions options{static_cast<int>(played.melody_features),
                                        config.at("voice").at("excitation_tail_s")};
  const auto make = [data, request, &stage, melody, options](const Draw& draw) {
    const int64_t batch = stage.batch, frames = data::kItemFrames,
                  samples = frames * data::kFrameSamples;
    const auto sound = data::voice_batch(data->items, data->tokens, draw.order, draw.seed,
                                         draw.step, batch, frames, options);
    auto arrays = named(item_arrays(*data, stage, draw, melody));
    arrays.emplace_back("audio", shaped({batch, samples}, sound.audio));
    arrays.emplace_back("played", shaped({batch, frames, options.melody_columns}, sound.melody));
    arrays.emplace_back("excitation", shaped({batch, samples}, sound.excitation));
    return chosen(request.spec, std::move(arrays));
  };
  OpenedInput input = opened(stage, data->split, make);
  input.builds_on = {"codec"};
  input.frozen = codebooks_for(request.model, *data);
  return input;
}

}  // namespace

OpenedInput open_input(const InputRequest& request) {
  switch (request.configuration.row->input) {
    case models::TrainingInput::kWaveformCrops:
      return waveform_crops(request);
    case models::TrainingInput::kLabelledCrops:
      return labelled_crops(request);
    case models::TrainingInput::kCropsWithNotes:
      return crops_with_notes(request);
    case models::TrainingInput::kSungCrops:
      return internal::sung_crops(request);
    case models::TrainingInput::kStems:
      return internal::stem_mixtures(request);
    case models::TrainingInput::kTokenItems:
      return token_items(request);
    case models::TrainingInput::kTokenItemsWithDrafts:
      return token_items_with_drafts(request);
    case models::TrainingInput::kItemsWithSound:
      return items_with_sound(request);
    case models::TrainingInput::kNone:
      break;
  }
  HUM_CHECK(false, "a model without a training input");
  return {};
}

void fill_in_classes(ModelConfiguration& configuration,
                     const std::function<std::vector<std::string>()>& presets) {
  if (configuration.row->input != models::TrainingInput::kLabelledCrops) return;
  Json& named = configuration.model["presets"];
  if (named.empty()) named = presets();
}

std::vector<std::string> item_presets(const std::filesystem::path& folder) {
  const Json options = data::read_manifest(folder).options;
  if (!options.contains("items")) {
    fail(ExitCode::kBadData, folder.string() + ": these items name no presets",
         "use rendered items: hum data make --config data -o FOLDER");
  }
  return options.at("items").at("presets");
}

data::TokenEncoder token_encoder(const models::codec::CodecSession& codec) {
  return {.books = codec.config().sound_books(),
          .fingerprint = codec.fingerprint(),
          .encode = [codec = &codec](std::span<const float> windows) {
            const auto& config = codec->config();
            return models::codec::first_books(codec->encode_windows(windows),
                                              config.quantizer.books, config.sound_books());
          }};
}

}  // namespace hum::app
