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

// The C library's allocator, and hum's with hum's settings.
std::vector<PeerSetting> allocator_settings();

// Of the scripts that train with PyTorch: eager and compiled; jemalloc; Intel's OpenMP as
// torch.backends.xeon sets it; MKL, which has no AVX-512 for other makers' processors, as on
// Intel's (bench/peers/mkl_as_on_intel.c); f32 products by oneDNN instead of MKL. The first is
// PyTorch as it comes. A processor that does not multiply bf16 is as fast in f32 at least: for
// "bf16" the settings are then those of f32, and one of bf16 is the last.
std::vector<PeerSetting> torch_settings(const std::string& dtype);

// For the script that decodes with transformers. A processor without bf16 multiplication may be
// faster in f32 and takes minutes for a generation in bf16: one setting shows it.
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
