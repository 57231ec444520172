// The keys of the service: a text file with one line a key, its name, the hash of its token, and
// limits that differ from the defaults:
//
//   anna sha256:9f86d081884c7d65... jobs=5 seconds_per_hour=600 bytes=1GB
//
// Tokens have 256 random bits, which nobody can try out. So a fast hash (SHA-256) protects them; a
// slow one with salt is for passwords that people choose.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/storage/records.h"

namespace hum::serve {

// For who works alone; 0: no limit.
inline constexpr Quota kDefaultQuota{.jobs = 20, .seconds_per_hour = 7200, .bytes = 2'000'000'000};

struct Key {
  std::string name;    // the caller's, in the records
  std::string sha256;  // of the token, lower-case hex
  Quota quota = kDefaultQuota;
};

// Lines that are empty or begin with # are left out. Throws: kConfig, naming the line, also for a
// second key with the same name or token; what read_text throws.
std::vector<Key> read_keys(const std::filesystem::path& file);

// Adds a key to the file, which it creates if there is none, and returns the token, which is stored
// nowhere. Throws: kUsage for a name that is taken or has other characters than a-z, 0-9, '.', '-'
// and '_'; what read_keys and write_file throw.
std::string add_key(const std::filesystem::path& file, const std::string& name,
                    const Quota& quota = kDefaultQuota);

// Gives a key another token, which it returns; the line keeps its place and its limits. Throws:
// kUsage if there is no such key; what read_keys and write_file throw.
std::string replace_token(const std::filesystem::path& file, const std::string& name);

// Throws: kUsage if there is no such key; what read_keys and write_file throw.
void remove_key(const std::filesystem::path& file, const std::string& name);

// Whether two texts are equal, in a time that does not tell where they differ.
bool equals_secret(std::string_view a, std::string_view b);

// The keys of a file, read again when it changes. A file that then cannot be read or is empty
// changes nothing; the log says why. remove_key leaves a comment where there is no other line.
// Thread-safe.
class KeyFile {
 public:
  // Throws: what read_keys throws.
  explicit KeyFile(std::filesystem::path file);

  // Absent: no key has this token.
  std::optional<Key> with_token(std::string_view token);
  std::optional<Key> with_name(std::string_view name);

 private:
  using Keys = std::shared_ptr<const std::vector<Key>>;
  Keys current();

  std::filesystem::path file_;
  std::mutex mutex_;
  std::string seen_;  // inode, size and time of change
  Keys keys_;
};

}  // namespace hum::serve
