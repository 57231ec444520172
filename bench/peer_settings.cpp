#include "bench/peer_settings.h"

#include <jemalloc/jemalloc.h>

#include "base/threads.h"
#include "bench/locations.h"
#include "bench/peers.h"
#include "bench/program.h"
#include "kernels/cpu_features.h"

namespace hum::bench {
namespace {

constexpr const char* kMklAsOnIntel = "libmkl_as_on_intel.so";

// jemalloc with the settings of hum's programs (malloc_conf), and optionally another preloaded
// library.
std::map<std::string, std::string> with_jemalloc(const std::string& library = "") {
  std::string preloaded = kJemallocLibrary;
  if (!library.empty()) preloaded += fmt::format(":{}/peers/lib/{}", kBuildFolder, library);
  return {{"LD_PRELOAD", preloaded}, {"MALLOC_CONF", malloc_conf}};
}

std::map<std::string, std::string> with_intel_openmp() {
  auto environment = with_jemalloc("libiomp5.so");
  environment["KMP_AFFINITY"] = "granularity=fine,compact,1,0";
  environment["KMP_BLOCKTIME"] = "1";
  return environment;
}

bool multiplies(const std::string& dtype) {
  return dtype != "bf16" || kernels::detect_isa() >= kernels::Isa::kAvx512Bf16;
}

// Settings for a dtype that the processor multiplies at full speed.
std::vector<PeerSetting> full_speed_settings(const std::string& dtype) {
  std::vector<PeerSetting> all;
  for (const std::string mode : {"eager", "compiled"}) {
    const std::string name = dtype + ", " + mode;
    std::vector<std::string> arguments = {"--dtype", dtype};
    if (mode == "compiled") arguments.emplace_back("--compile");
    all.push_back({name, arguments});
    all.push_back({name + ", jemalloc", arguments, with_jemalloc()});
    all.push_back({name + ", jemalloc, Intel OpenMP", arguments, with_intel_openmp()});
    all.push_back({name + ", jemalloc, MKL as on Intel", arguments, with_jemalloc(kMklAsOnIntel)});
    if (dtype != "f32") continue;
    arguments.emplace_back("--onednn");
    all.push_back({name + ", jemalloc, oneDNN", arguments, with_jemalloc()});
  }
  return all;
}

}  // namespace

std::vector<PeerSetting> allocator_settings() { return {{""}, {"jemalloc", {}, with_jemalloc()}}; }

std::vector<PeerSetting> torch_settings(const std::string& dtype) {
  if (multiplies(dtype)) return full_speed_settings(dtype);
  auto all = full_speed_settings("f32");
  all.push_back({"bf16, eager", {"--dtype", "bf16"}, {}, /*slow=*/true});
  return all;
}

std::vector<PeerSetting> torch_inference_settings() {
  const std::vector<PeerSetting> forms = {
      {"eager"}, {"compiled", {"--compile"}}, {"compiled and frozen", {"--compile", "--freeze"}}};
  std::vector<PeerSetting> all = {forms[0]};
  for (const PeerSetting& form : forms) {
    for (const std::string layout : {"", "--channels-last"}) {
      for (const std::string batch : {"", "--one-by-one"}) {
        PeerSetting setting{form.name + ", jemalloc", form.arguments, with_jemalloc()};
        for (const std::string& flag : {layout, batch}) {
          if (flag.empty()) continue;
          setting.name += ", " + flag.substr(2);
          setting.arguments.push_back(flag);
        }
        all.push_back(setting);
      }
    }
  }
  all.push_back({"eager, jemalloc, Intel OpenMP, channels-last, one-by-one",
                 {"--channels-last", "--one-by-one"},
                 with_intel_openmp()});
  return all;
}

std::vector<PeerSetting> transformers_settings() {
  std::vector<PeerSetting> all;
  for (const std::string dtype : {"bf16", "f32"}) {
    const std::vector<std::string> eager = {"--dtype", dtype};
    const std::vector<std::string> compiled = {"--dtype", dtype, "--compile"};
    const std::vector<std::string> frozen = {"--dtype", dtype, "--compile", "--freeze"};
    const auto intel = with_jemalloc(kMklAsOnIntel);
    all.push_back({dtype + ", eager", eager});
    if (multiplies(dtype)) {
      all.push_back({dtype + ", eager, jemalloc", eager, with_jemalloc()});
      all.push_back({dtype + ", eager, jemalloc, MKL as on Intel", eager, intel});
      all.push_back({dtype + ", compiled, jemalloc, MKL as on Intel", compiled, intel});
    }
    all.push_back({dtype + ", compiled and frozen, jemalloc, MKL as on Intel", frozen, intel});
  }
  return all;
}

std::vector<PeerSetting> llama_cpp_settings() {
  return {{"", {}}, {"jemalloc", {}, with_jemalloc()}, {"flash attention", {"--flash-attention"}}};
}

std::vector<PeerSetting> torch_memory_settings(const std::string& dtype) {
  std::vector<PeerSetting> all;
  for (const std::string mode : {"eager", "compiled"}) {
    if (mode == "compiled" && !multiplies(dtype)) continue;
    for (PeerSetting setting : allocator_settings()) {
      setting.name = mode + (setting.name.empty() ? "" : ", ") + setting.name;
      setting.arguments = {"--dtype", dtype};
      if (mode == "compiled") setting.arguments.emplace_back("--compile");
      all.push_back(setting);
    }
  }
  return all;
}

std::vector<std::string> peer_command(const std::string& script,
                                      const std::vector<std::string>& arguments,
                                      const std::string& folder) {
  std::vector<std::string> command = {fmt::format("{}/{}/bin/python", kBuildFolder, folder),
                                      fmt::format("{}/{}", kPeerScripts, script)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

Json run_peer(const std::string& script, const std::vector<std::string>& arguments,
              const PeerSetting& setting, const std::string& folder) {
  auto command = peer_command(script, arguments, folder);
  command.insert(command.end(), setting.arguments.begin(), setting.arguments.end());
  command.insert(command.end(), {"--threads", std::to_string(compute_threads())});
  return last_line_json(run_program(command, setting.environment).out);
}

}  // namespace hum::bench
