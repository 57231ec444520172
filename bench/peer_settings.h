// The fastest settings for each peer: those that its users know to affect speed. All do the same
// work; each is measured, and hum is compared with the fastest.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace hum::bench {

struct PeerSetting {
  std::string name;
  std::vector<std::string> arguments = {};  // additional arguments of the peer's script
  std::map<std::string, std::string> environment = {};
  bool slow = false;  // on this processor: a few steps are enough
};

// The C library's allocator, and jemalloc with hum's settings.
std::vector<PeerSetting> allocator_settings();

// For the scripts that train with PyTorch: eager and compiled; jemalloc; Intel's OpenMP set up as
// in torch.backends.xeon; MKL with the code paths of Intel processors
// (bench/peers/mkl_as_on_intel.c), since it uses no AVX-512 on others; f32 products by oneDNN
// instead of MKL. The first is PyTorch's default. On a processor without bf16 multiplication f32 is
// at least as fast: the settings for "bf16" are then those of f32, plus one of bf16 at the end.
std::vector<PeerSetting> torch_settings(const std::string& dtype);

// For the script that runs convolutions of a fixed size (bench/peers/spleeter_torch.py): eager,
// compiled, and compiled with the weights as constants; all segments at once or one by one; with
// the channels last, as oneDNN's convolutions like them. The first is PyTorch's default.
std::vector<PeerSetting> torch_inference_settings();

// For the script that decodes with transformers. On a processor without bf16 multiplication f32 may
// be faster, and one generation in bf16 takes minutes: a single bf16 setting shows it.
std::vector<PeerSetting> transformers_settings();

// For llama.cpp.
std::vector<PeerSetting> llama_cpp_settings();

// The settings that affect memory: eager and compiled, with either allocator.
std::vector<PeerSetting> torch_memory_settings(const std::string& dtype);

// Runs bench/peers/SCRIPT with the Python that bench/peers/install.sh installed in build/FOLDER.
std::vector<std::string> peer_command(const std::string& script,
                                      const std::vector<std::string>& arguments,
                                      const std::string& folder = "peers");

// The JSON object that it prints, given its arguments, those of the setting, and the number of
// threads.
Json run_peer(const std::string& script, const std::vector<std::string>& arguments,
              const PeerSetting& setting = {}, const std::string& folder = "peers");

}  // namespace hum::bench
