// Uncompressed tar archives, the files that WebDataset reads: written in memory by libarchive, read
// where they lie.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hum::data {

// The same members give the same bytes on every machine: no times, no owners. Members begin at
// multiples of 512 bytes.
class TarWriter {
 public:
  TarWriter();
  ~TarWriter();

  // Plain ASCII names of at most 100 characters.
  void add(const std::string& name, std::string_view bytes);
  // The whole archive; nothing can be added afterwards.
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct TarMember {
  std::string name;
  std::string_view bytes;  // within the archive
};

// Walks the headers and touches nothing else.
// Throws: kBadData when `archive` is no uncompressed tar of plain files, or ends too early.
std::vector<TarMember> tar_members(std::string_view archive);

}  // namespace hum::data
