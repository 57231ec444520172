// hum data verify: checks that a folder of training items is unchanged since it was written.
#include <fmt/ranges.h>

#include <iostream>

#include "base/names.h"
#include "base/threads.h"
#include "cli/commands/commands.h"
#include "data/shards/manifest.h"

namespace hum::cli {
namespace {

struct Args {
  std::string folder;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("folder", folder, "folder of training items or stems");
    v("json", json, "print JSON");
  }
};

std::string cure_of(const data::Manifest& manifest, const std::string& shard,
                    const std::string& folder) {
  if (manifest.version == data::kFeaturesVersion) {
    return fmt::format(
        "extract their recordings again: hum data extract requeue --shard {} {}, "
        "then repeat `hum data extract`",
        shard, folder);
  }
  return fmt::format("repeat `hum data {}` with the same options; it replaces damaged shards",
                     manifest.options.contains(data::kStemsOption) ? "stems" : "make");
}

int run(Args& args) {
  const auto manifest = data::read_manifest(args.folder);
  const auto faults = data::verify_shards(args.folder, compute_threads());
  if (args.json) {
    Json list = Json::array();
    for (const auto& fault : faults) list.push_back({{"name", fault.name}, {"what", fault.what}});
    print_json({{"items", manifest.items()},
                {"shards", manifest.shards.size()},
                {"fingerprint", data::fingerprint_of(manifest.options)},
                {"faults", std::move(list)}});
  }
  if (!faults.empty()) {
    std::vector<std::string> names;
    for (const auto& fault : faults) names.push_back(fault.name + " " + fault.what);
    fail(ExitCode::kBadData,
         fmt::format("{}: {} of {} {} damaged: {}", args.folder, faults.size(),
                     counted(std::ssize(manifest.shards), "shard"),
                     faults.size() == 1 ? "is" : "are", fmt::join(names, "; ")),
         cure_of(manifest, faults[0].name, args.folder));
  }
  if (!args.json) {
    std::cout << fmt::format("{}: {}, {}, all intact\n", args.folder,
                             counted(std::ssize(manifest.shards), "shard"),
                             counted(manifest.items(), "item"));
  }
  return 0;
}

}  // namespace

const Command kDataVerify = {"data verify", "check the hashes of training items",
                             "hum data verify runs/data", make_command<Args, run>};

}  // namespace hum::cli
