#include "data/shards/tar.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>

#include "base/error.h"

namespace hum::data {
namespace {

constexpr int kTarBlock = 512;

using Archive = std::unique_ptr<archive, int (*)(archive*)>;
using Entry = std::unique_ptr<archive_entry, void (*)(archive_entry*)>;

// A large archive gets room that it may never use, and that takes no memory until it does: moving
// it again and again would take twice its size.
constexpr size_t kLargeArchive_bytes = size_t{1} << 26, kRoom_bytes = size_t{1} << 30;

la_ssize_t append(archive*, void* out, const void* bytes, size_t size) {
  auto& all = *static_cast<std::string*>(out);
  if (all.size() > kLargeArchive_bytes && all.size() + size > all.capacity()) {
    all.reserve(all.size() + kRoom_bytes);
  }
  all.append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

void check(archive* writer, int code) {
  HUM_CHECK(code == ARCHIVE_OK, "libarchive: {}", archive_error_string(writer));
}

[[noreturn]] void damaged(std::string_view what) {
  fail(ExitCode::kBadData, fmt::format("damaged tar file: {}", what),
       "repeat `hum data make` with the same options; it replaces damaged shards");
}

}  // namespace

struct TarWriter::Impl {
  std::string bytes;
  Archive writer{archive_write_new(), archive_write_free};
};

TarWriter::TarWriter() : impl_(std::make_unique<Impl>()) {
  archive* writer = impl_->writer.get();
  check(writer, archive_write_set_format_ustar(writer));
  check(writer, archive_write_set_bytes_in_last_block(writer, kTarBlock));
  check(writer, archive_write_open2(writer, &impl_->bytes, nullptr, append, nullptr, nullptr));
}

TarWriter::~TarWriter() = default;

void TarWriter::add(const std::string& name, std::string_view bytes) {
  archive* writer = impl_->writer.get();
  const Entry entry(archive_entry_new(), archive_entry_free);
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 0, 0);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
  check(writer, archive_write_header(writer, entry.get()));
  const la_ssize_t written = archive_write_data(writer, bytes.data(), bytes.size());
  HUM_CHECK(written == static_cast<la_ssize_t>(bytes.size()), "libarchive: {}",
            archive_error_string(writer));
}

std::string TarWriter::finish() {
  check(impl_->writer.get(), archive_write_close(impl_->writer.get()));
  return std::move(impl_->bytes);
}

std::vector<TarMember> tar_members(std::string_view bytes) {
  const Archive reader(archive_read_new(), archive_read_free);
  archive_read_support_format_tar(reader.get());
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
    damaged(archive_error_string(reader.get()));
  }
  std::vector<TarMember> members;
  archive_entry* entry = nullptr;
  int code = ARCHIVE_OK;
  while ((code = archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    // A plain header is one block; files that need more (long names, sparse files) are not ours.
    const auto header = static_cast<size_t>(archive_read_header_position(reader.get()));
    const auto size = static_cast<size_t>(archive_entry_size(entry));
    const std::string name = archive_entry_pathname(entry);
    if (archive_entry_filetype(entry) != AE_IFREG || bytes.substr(header, name.size()) != name) {
      damaged(fmt::format("{} is not a plain file", name));
    }
    if (header + kTarBlock + size > bytes.size()) damaged("it is truncated");
    members.push_back({name, bytes.substr(header + kTarBlock, size)});
  }
  if (code != ARCHIVE_EOF) damaged(archive_error_string(reader.get()));
  return members;
}

std::vector<TarSample> tar_samples(std::string_view archive) {
  std::vector<TarSample> samples;
  for (TarMember& member : tar_members(archive)) {
    const size_t dot = std::min(member.name.find('.'), member.name.size() - 1);
    std::string key = member.name.substr(0, dot);
    if (samples.empty() || samples.back().key != key) samples.push_back({std::move(key), {}});
    samples.back().files.push_back({member.name.substr(dot + 1), member.bytes});
  }
  return samples;
}

}  // namespace hum::data
