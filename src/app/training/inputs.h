// Makes the arrays of a training step from a folder of training items: one function for each kind
// of models::TrainingInput, independent of the model that uses it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/training/configuration.h"
#include "data/shards/item_codes.h"
#include "models/codec/codec_session.h"
#include "train/loop.h"

namespace hum::app {

// A request for batches of a configured model. The opened input refers to all of these.
struct InputRequest {
  runtime::Session& session;
  const ModelConfiguration& configuration;
  const models::AnyModel& model;
  const nn::TrainSpec& spec;
};

struct OpenedInput {
  // The fields of the spec's batch, in the same order.
  train::BatchSource batches;
  // The same of the held-out items; none if stage.held_out is 0.
  train::HeldOut held_out;
  // Parts of the weights that make the arrays.
  std::vector<std::string> builds_on;
  // Buffers that come from other models (codebooks); they replace those of the starting weights.
  std::vector<train::NamedTensor> frozen;
};

// Throws: what reading the items throws; kConfig when model and items do not match; kBadData when
// there are too few items.
OpenedInput open_input(const InputRequest& request);

// For labelled crops, `presets` supplies the classes if the configuration leaves them out;
// otherwise it is not called.
void fill_in_classes(ModelConfiguration& configuration,
                     const std::function<std::vector<std::string>()>& presets);

// Names of the presets in a folder of items, in the order of their items. Throws: what
// data::read_manifest throws.
std::vector<std::string> item_presets(const std::filesystem::path& folder);

// The codec's encoder; of a split codec the sound part alone. Refers to the codec.
data::TokenEncoder token_encoder(const models::codec::CodecSession& codec);

}  // namespace hum::app
