// Reads the weights of Descript's codec in the layout of the published files: the same names and
// arguments, in safetensors (tools/convert_dac.py writes them). Does not read pickles.
#pragma once

#include <filesystem>
#include <vector>

#include "models/codec/dac_config.h"
#include "models/codec/dac_layers.h"
#include "runtime/host_tensor.h"

namespace hum::models::codec {

struct DacCheckpoint {
  DacConfig config;
  // One per parameter of Dac(config, weights), in that order.
  std::vector<runtime::HostTensor> tensors;
};

// Reads config.json ({"model_type": "dac", "model": {arguments}}) and the shards of a folder. A
// kernel may be stored as weight_g and weight_v (the published form), as
// parametrizations.weight.original0 and original1 (the same from newer PyTorch), or (kFolded only)
// as weight.
// Throws: kNoInput; kBadData naming the tensor that is missing, unused or of another shape; kConfig
// naming the field.
DacCheckpoint read_dac(const std::filesystem::path& folder,
                       DacWeights weights = DacWeights::kFolded);

}  // namespace hum::models::codec
