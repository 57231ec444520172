// What models learn from: one function for each kind of models::TrainingInput, from a folder of
// training items to the arrays of a step. Which model takes them does not matter here.
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

// A configured model that wants batches. What is opened for it refers to all of these.
struct InputRequest {
  runtime::Session& session;
  const ModelConfiguration& configuration;
  const models::AnyModel& model;
  const nn::TrainSpec& spec;
};

struct OpenedInput {
  // The fields of the spec's batch, in its order.
  train::BatchSource batches;
  // Parts of the weights that the arrays are made with.
  std::vector<std::string> builds_on;
  // Buffers that the model takes from elsewhere (codebooks), set whatever weights it starts from.
  std::vector<train::NamedTensor> frozen;
};

// Throws: what reading the items throws; kConfig when model and items do not fit, kBadData when
// there are too few items.
OpenedInput open_input(const InputRequest& request);

// Of labelled crops, the classes of a configuration that leaves them out are `presets`, which is
// not called otherwise.
void fill_in_classes(ModelConfiguration& configuration,
                     const std::function<std::vector<std::string>()>& presets);

// Names of the presets that a folder of items was made of, in the order they take turns.
// Throws: what data::read_manifest throws.
std::vector<std::string> item_presets(const std::filesystem::path& folder);

// Refers to the codec.
data::TokenEncoder token_encoder(const models::codec::CodecSession& codec);

}  // namespace hum::app
