#include "data/features/tokens.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

constexpr char kMagic[8] = {'H', 'U', 'M', 'T', 'O', 'K', '0', '1'};

struct Header {
  char magic[8];
  int64_t items, books;
  char fingerprint[64];
};

Header header_for(int64_t items, const CodecTables& codec) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.items = items;
  header.books = codec.books;
  HUM_CHECK(codec.fingerprint.size() == sizeof header.fingerprint);
  std::memcpy(header.fingerprint, codec.fingerprint.data(), sizeof header.fingerprint);
  return header;
}

template <typename T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

TokenTable::TokenTable(const ItemFolder& items, const std::filesystem::path& folder,
                       CodecTables codec)
    : codec_(std::move(codec)) {
  const auto count = static_cast<size_t>(items.size()), books = static_cast<size_t>(codec_.books);
  targets_.resize(count * kItemFrames * books);
  references_.resize(count * kReferenceFrames * books);
  reference_frames_.resize(count);
  const auto file = folder / "tokens.bin";
  if (read(file, items.size())) return;
  encode_all(items);
  write(file);
}

bool TokenTable::read(const std::filesystem::path& file, int64_t items) {
  if (!std::filesystem::exists(file)) return false;
  const std::string bytes = read_file(file);
  const Header header = header_for(items, codec_);
  const size_t size = sizeof header + bytes_of(targets_).size() + bytes_of(references_).size() +
                      bytes_of(reference_frames_).size();
  if (bytes.size() != size || std::memcmp(bytes.data(), &header, sizeof header) != 0) return false;
  size_t at = sizeof header;
  auto take = [&](auto& values) {
    const size_t length = bytes_of(values).size();
    std::memcpy(values.data(), bytes.data() + at, length);
    at += length;
  };
  take(targets_);
  take(references_);
  take(reference_frames_);
  return true;
}

void TokenTable::write(const std::filesystem::path& file) const {
  const Header header = header_for(static_cast<int64_t>(reference_frames_.size()), codec_);
  AtomicFile out(file);
  out.write({reinterpret_cast<const char*>(&header), sizeof header});
  out.write(bytes_of(targets_));
  out.write(bytes_of(references_));
  out.write(bytes_of(reference_frames_));
  out.commit();
}

void TokenTable::encode_all(const ItemFolder& items) {
  // Each item is two windows: its target, and its reference with silence behind it.
  constexpr int64_t kItemsPerCall = 4;
  const auto books = static_cast<size_t>(codec_.books);
  Progress progress("tokens", items.size());
  for (int64_t first = 0; first < items.size(); first += kItemsPerCall) {
    const int64_t count = std::min(kItemsPerCall, items.size() - first);
    std::vector<float> windows(static_cast<size_t>(2 * kItemsPerCall * kItemSamples));
    for (int64_t i = 0; i < count; ++i) {
      const ItemView item = items[first + i];
      float* const target = windows.data() + 2 * i * kItemSamples;
      to_float(item.target, {target, static_cast<size_t>(kItemSamples)});
      const size_t samples = std::min(item.reference.size(), static_cast<size_t>(kItemSamples));
      to_float(item.reference.first(samples), {target + kItemSamples, samples});
      reference_frames_[static_cast<size_t>(first + i)] =
          std::min<int64_t>(kReferenceFrames, static_cast<int64_t>(samples) / kFrameSamples);
    }
    const std::vector<int32_t> codes = codec_.encode(windows);
    for (int64_t i = 0; i < count; ++i) {
      const auto item = static_cast<size_t>(first + i);
      const auto* const target = codes.data() + static_cast<size_t>(2 * i) * kItemFrames * books;
      const auto* const reference = target + kItemFrames * books;
      std::copy_n(target, kItemFrames * books,
                  targets_.begin() + static_cast<long>(item * kItemFrames * books));
      std::copy_n(reference, static_cast<size_t>(reference_frames_[item]) * books,
                  references_.begin() + static_cast<long>(item * kReferenceFrames * books));
    }
    progress.update(first + count);
  }
}

std::span<const uint16_t> TokenTable::target(int64_t item) const {
  const auto size = static_cast<size_t>(kItemFrames * books());
  return std::span(targets_).subspan(static_cast<size_t>(item) * size, size);
}

std::span<const uint16_t> TokenTable::reference(int64_t item) const {
  const auto size = static_cast<size_t>(kReferenceFrames * books());
  return std::span(references_).subspan(static_cast<size_t>(item) * size, size);
}

void TokenTable::decode(std::span<const uint16_t> codes, int64_t books,
                        std::span<float> out) const {
  const int64_t rows = static_cast<int64_t>(codes.size()) / codec_.books;
  HUM_REQUIRE(static_cast<int64_t>(out.size()) == rows * latent() && books <= codec_.books,
              "TokenTable::decode: {} rows of {} books into {} floats", rows, books, out.size());
  std::ranges::fill(out, 0.0f);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t book = 0; book < books; ++book) {
      const int64_t code = codes[static_cast<size_t>(row * codec_.books + book)];
      const float* const vector =
          codec_.codebooks.data() + (book * codec_.entries + code) * latent();
      for (int64_t d = 0; d < latent(); ++d)
        out[static_cast<size_t>(row * latent() + d)] += vector[d];
    }
  }
}

std::vector<int64_t> TokenTable::histogram() const {
  std::vector<int64_t> counts(static_cast<size_t>(codec_.books * codec_.entries));
  for (size_t i = 0; i < targets_.size(); ++i) {
    const auto book = static_cast<int64_t>(i) % codec_.books;
    ++counts[static_cast<size_t>(book * codec_.entries + targets_[i])];
  }
  return counts;
}

}  // namespace hum::data
