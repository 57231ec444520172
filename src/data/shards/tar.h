// Writes uncompressed tar archives for WebDataset in memory with libarchive, and reads them in
// place.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hum::data {

// The same members give the same bytes on every machine: times and owners are left out. Members
// begin at multiples of 512 bytes.
class TarWriter {
 public:
  TarWriter();
  ~TarWriter();

  // Adds a member. Names are plain ASCII of at most 100 characters.
  void add(const std::string& name, std::string_view bytes);
  // Returns the complete archive; nothing can be added afterwards.
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct TarMember {
  std::string name;
  std::string_view bytes;  // within the archive
};

// Lists the members; reads only the headers.
// Throws: kBadData when `archive` is not an uncompressed tar of plain files, or is truncated.
std::vector<TarMember> tar_members(std::string_view archive);

// The files of one WebDataset sample, named by what follows the key and its dot: "meta.json".
struct TarSample {
  std::string key;
  std::vector<TarMember> files;
};
// Adjacent members with one key are a sample. Throws: what tar_members throws.
std::vector<TarSample> tar_samples(std::string_view archive);

}  // namespace hum::data
