#include "data/shards/make_items.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/fields_json.h"
#include "data/shards/item_sample.h"
#include "data/shards/make_shards.h"
#include "data/shards/manifest.h"
#include "data/shards/pool.h"
#include "data/synthesis/features.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

// The options that all shards of a folder share. Names are written out, so that a later release
// with other presets does not continue an older folder by accident.
Json identity(const MakeOptions& options, const ItemMaker& maker, const MakeTools& tools) {
  ItemOptions items = options.items;
  items.presets.clear();
  items.sound_fonts.clear();
  for (const Preset* preset : maker.presets()) items.presets.emplace_back(preset->name);
  for (const SoundFont* font : maker.sound_fonts()) items.sound_fonts.emplace_back(font->name);
  Json written = to_json(items);
  // Leaves out "mono", because earlier releases, which made only mono items, did not have it.
  if (items.channels == audio::Channels::kMono) written.erase("channels");
  Json result = {{"version", kItemsVersion},
                 {"feature_columns", kMelodyFeatures},
                 {"items_per_shard", options.items_per_shard},
                 {"transcriber", static_cast<bool>(tools.transcriber)},
                 {"codec", tools.encoder.fingerprint},
                 {"items", written}};
  // Earlier releases did not name their transcriber.
  if (!tools.heard_by.empty()) result["heard_by"] = tools.heard_by;
  return result;
}

// Makes a shard and encodes its items in groups of kItemsPerEncode. Empty after a stop signal.
std::optional<std::string> make_shard(const ShardItems& wanted, ItemMaker& maker,
                                      audio::Channels channels, const MakeTools& tools,
                                      const std::function<void()>& made_one) {
  TarWriter shard;
  for (int64_t first = 0; first < wanted.count; first += kItemsPerEncode) {
    std::vector<TrainingItem> items;
    std::vector<StoredSound> sounds;
    std::vector<ItemSound> views;
    for (int64_t k = first; k < std::min(first + kItemsPerEncode, wanted.count); ++k) {
      if (tools.should_stop && tools.should_stop()) return {};
      items.push_back(maker.make(wanted.first_index + static_cast<uint64_t>(k)));
      made_one();
      sounds.emplace_back(items.back());
    }
    for (const StoredSound& sound : sounds) views.push_back(sound.view());
    std::vector<ItemCodes> codes;
    if (tools.encoder.encode) codes = encode_items(tools.encoder, channels, views);
    for (size_t i = 0; i < items.size(); ++i) {
      add_sample(shard, items[i], sounds[i], maker.describe(items[i]),
                 codes.empty() ? nullptr : &codes[i], tools.encoder.books);
    }
  }
  return shard.finish();
}

}  // namespace

bool make_items(const std::filesystem::path& folder, const MakeOptions& options,
                const MakeTools& tools) {
  Pool<ItemMaker> makers([&] { return ItemMaker(options.items, tools.transcriber); });
  auto first_maker = makers.take();
  const Json made_with = identity(options, first_maker, tools);
  makers.give_back(std::move(first_maker));
  return make_shards(
      folder, made_with,
      {options.count, options.items_per_shard, static_cast<int>(options.threads), tools.rank},
      [&](const ShardItems& wanted, const std::function<void()>& made_one) {
        auto maker = makers.take();
        auto archive = make_shard(wanted, maker, options.items.channels, tools, made_one);
        makers.give_back(std::move(maker));
        return archive;
      });
}

}  // namespace hum::data
