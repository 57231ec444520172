#include "data/features/tokens.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

// All items' codes as one archive.
std::string encode_all(const ItemFolder& items, const TokenEncoder& encoder) {
  TarWriter archive;
  Progress progress("tokens", items.size());
  for (int64_t first = 0; first < items.size(); first += kItemsPerEncode) {
    const int64_t last = std::min(first + kItemsPerEncode, items.size());
    std::vector<ItemSound> sounds;
    for (int64_t i = first; i < last; ++i) sounds.push_back({items[i].target, items[i].reference});
    const auto codes = encode_items(encoder, items.channels(), sounds);
    for (int64_t i = first; i < last; ++i) {
      add_codes(archive, items[i].index, codes[static_cast<size_t>(i - first)], encoder.books);
    }
    progress.update(last);
  }
  return archive.finish();
}

}  // namespace

TokenTable::TokenTable(const ItemFolder& items, const std::filesystem::path& folder,
                       CodecTables codec)
    : channels_(items.channels()),
      is_by_channel_(items.has_codes_by_channel()),
      codec_(std::move(codec)) {
  HUM_REQUIRE(std::ssize(codec_.codebooks) == books() * codec_.entries * latent(),
              "TokenTable: {} numbers are not {} books", codec_.codebooks.size(), books());
  const TokenEncoder& encoder = codec_.encoder;
  if (items.codec() == encoder.fingerprint) {
    for (int64_t i = 0; i < items.size(); ++i) {
      rows_.push_back({items[i].codes, items[i].reference_codes});
    }
  } else if (items.are_features()) {
    fail(
        ExitCode::kBadData, folder.string() + ": the features have the tokens of another codec",
        "use the weights that they were extracted with, or extract them again with these: hum data "
        "extract --weights FOLDER");
  } else {
    const auto file = folder / fmt::format("codes-{}-{}.tar", encoder.fingerprint.substr(0, 16),
                                           items.fingerprint());
    if (!read(file, items.size())) {
      write_file(file, encode_all(items, encoder));
      HUM_CHECK(read(file, items.size()));
    }
  }
  check_rows();
}

bool TokenTable::read(const std::filesystem::path& file, int64_t items) {
  if (!std::filesystem::exists(file)) return false;
  const ErrorContext context([&] { return "reading " + file.string(); });
  file_.emplace(file);
  rows_.clear();
  try {
    for (const ItemView& item : read_samples(file_->bytes())) {
      rows_.push_back({item.codes, item.reference_codes});
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::kBadData) throw;
    spdlog::warn("{}: {}; replacing it", file.string(), error.message());
    return false;
  }
  return std::ssize(rows_) == items;
}

void TokenTable::check_rows() const {
  for (const Row& row : rows_) {
    const auto entries = [&](std::span<const uint16_t> codes) {
      return codes.empty() ? 0 : static_cast<int64_t>(std::ranges::max(codes)) + 1;
    };
    if (std::ssize(row.target) != kItemFrames * books() ||
        std::ssize(row.reference) > kReferenceFrames * codec_.encoder.books ||
        std::max(entries(row.target), entries(row.reference)) > codec_.entries) {
      fail(ExitCode::kBadData, "codec tokens of another shape, or outside the codebooks",
           "`hum data verify` names the damaged shards");
    }
  }
}

std::vector<uint16_t> TokenTable::target(int64_t item) const {
  const auto stored = rows_[static_cast<size_t>(item)].target;
  if (!is_by_channel_) return {stored.begin(), stored.end()};
  const int64_t channels = audio::channel_count(channels_),
                per_channel = std::ssize(stored) / channels;
  std::vector<uint16_t> codes(stored.size());
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t i = 0; i < per_channel; ++i) {
      codes[static_cast<size_t>(i * channels + channel)] =
          stored[static_cast<size_t>(channel * per_channel + i)];
    }
  }
  return codes;
}

std::span<const uint16_t> TokenTable::reference(int64_t item) const {
  return rows_[static_cast<size_t>(item)].reference;
}

void TokenTable::add_vectors(std::span<const uint16_t> codes, int64_t step,
                             std::span<float> out) const {
  const int64_t columns = books() / step, rows = std::ssize(codes) / columns;
  HUM_REQUIRE(std::ssize(out) == rows * latent(), "TokenTable: {} rows into {} floats", rows,
              out.size());
  std::ranges::fill(out, 0.0f);
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int64_t row = i / columns, book = i % columns * step;
    const int64_t entry = book * codec_.entries + codes[static_cast<size_t>(i)];
    const float* const vector = codec_.codebooks.data() + entry * latent();
    for (int64_t d = 0; d < latent(); ++d)
      out[static_cast<size_t>(row * latent() + d)] += vector[d];
  }
}

void TokenTable::decode(std::span<const uint16_t> codes, std::span<float> out) const {
  add_vectors(codes, 1, out);
}

void TokenTable::decode_reference(std::span<const uint16_t> codes, std::span<float> out) const {
  add_vectors(codes, audio::channel_count(channels_), out);
}

std::vector<int64_t> TokenTable::histogram() const {
  std::vector<int64_t> counts(static_cast<size_t>(books() * codec_.entries));
  for (int64_t item = 0; item < std::ssize(rows_); ++item) {
    const auto codes = target(item);
    for (size_t i = 0; i < codes.size(); ++i) {
      const auto book = static_cast<int64_t>(i) % books();
      ++counts[static_cast<size_t>(book * codec_.entries + codes[i])];
    }
  }
  return counts;
}

}  // namespace hum::data
