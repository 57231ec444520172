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
    const auto codes = encode_items(encoder, sounds);
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
    : codec_(std::move(codec)) {
  const TokenEncoder& encoder = codec_.encoder;
  if (items.codec() == encoder.fingerprint) {
    for (int64_t i = 0; i < items.size(); ++i) {
      rows_.push_back({items[i].codes, items[i].reference_codes});
    }
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
  for (const ItemView& item : read_samples(file_->bytes())) {
    rows_.push_back({item.codes, item.reference_codes});
  }
  return std::ssize(rows_) == items;
}

void TokenTable::check_rows() const {
  for (const Row& row : rows_) {
    const auto entries = [&](std::span<const uint16_t> codes) {
      return codes.empty() ? 0 : static_cast<int64_t>(std::ranges::max(codes)) + 1;
    };
    if (std::ssize(row.target) != kItemFrames * books() ||
        std::ssize(row.reference) > kReferenceFrames * books() ||
        std::max(entries(row.target), entries(row.reference)) > codec_.entries) {
      fail(ExitCode::kBadData, "codec tokens of another shape, or outside the codebooks",
           "`hum data verify` names what is damaged");
    }
  }
}

std::span<const uint16_t> TokenTable::target(int64_t item) const {
  return rows_[static_cast<size_t>(item)].target;
}

std::span<const uint16_t> TokenTable::reference(int64_t item) const {
  return rows_[static_cast<size_t>(item)].reference;
}

void TokenTable::decode(std::span<const uint16_t> codes, int64_t books,
                        std::span<float> out) const {
  const int64_t rows = static_cast<int64_t>(codes.size()) / this->books();
  HUM_REQUIRE(static_cast<int64_t>(out.size()) == rows * latent() && books <= this->books(),
              "TokenTable::decode: {} rows of {} books into {} floats", rows, books, out.size());
  std::ranges::fill(out, 0.0f);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t book = 0; book < books; ++book) {
      const int64_t code = codes[static_cast<size_t>(row * this->books() + book)];
      const float* const vector =
          codec_.codebooks.data() + (book * codec_.entries + code) * latent();
      for (int64_t d = 0; d < latent(); ++d)
        out[static_cast<size_t>(row * latent() + d)] += vector[d];
    }
  }
}

std::vector<int64_t> TokenTable::histogram() const {
  std::vector<int64_t> counts(static_cast<size_t>(books() * codec_.entries));
  for (const Row& row : rows_) {
    for (size_t i = 0; i < row.target.size(); ++i) {
      const auto book = static_cast<int64_t>(i) % books();
      ++counts[static_cast<size_t>(book * codec_.entries + row.target[i])];
    }
  }
  return counts;
}

}  // namespace hum::data
