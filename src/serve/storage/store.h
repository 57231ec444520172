// The sounds of the service by key: "uploads/<id>.wav", "jobs/<id>/take-1.wav". A folder is behind
// it; S3 fits behind the same calls, with a local copy where a path is needed. It knows no records.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hum::serve {

// The longest sound to accept of those in the store, whose length decoding has checked.
inline constexpr double kAnyLength_s = 1e6;

// Throws: kNoPermission if this process may not create files in the folder.
void require_writable_folder(const std::filesystem::path& folder);

class Store {
 public:
  struct Entry {
    std::string key;
    int64_t bytes = 0;
    int64_t changed_ms = 0;
  };

  virtual ~Store() = default;

  // A folder for files that are to be put; what lies there is not in the store.
  virtual std::filesystem::path aside() const = 0;
  // Moves a finished local file to its key, replacing what is there. Readers see all of it or
  // nothing, and it holds after a power cut. Throws: kCannotCreate.
  virtual void put(const std::string& key, const std::filesystem::path& file) = 0;
  // A local file with the content; absent: there is none.
  virtual std::optional<std::filesystem::path> find(const std::string& key) const = 0;
  // A file that readers may follow while it is written in place, and its folder.
  virtual std::filesystem::path growing(const std::string& key) = 0;
  // Nothing happens if there is none.
  virtual void remove(const std::string& key) = 0;
  // Removes "<prefix>/...".
  virtual void remove_all(const std::string& prefix) = 0;
  // All keys "<prefix>/...", at every depth.
  virtual std::vector<Entry> list(const std::string& prefix) const = 0;
  // Removes what killed processes left in aside(): files that did not change for this long.
  virtual void clear_aside(std::chrono::milliseconds unchanged_for) = 0;
};

// Below one folder. Files that are put aside are below <folder>/aside.
class FolderStore : public Store {
 public:
  // Creates the folder. Throws: kCannotCreate; kNoPermission, also for folders in it.
  explicit FolderStore(std::filesystem::path folder);

  std::filesystem::path aside() const override { return folder_ / "aside"; }
  void put(const std::string& key, const std::filesystem::path& file) override;
  std::optional<std::filesystem::path> find(const std::string& key) const override;
  std::filesystem::path growing(const std::string& key) override;
  void remove(const std::string& key) override;
  void remove_all(const std::string& prefix) override;
  std::vector<Entry> list(const std::string& prefix) const override;
  void clear_aside(std::chrono::milliseconds unchanged_for) override;

 private:
  std::filesystem::path path_of(const std::string& key) const;

  std::filesystem::path folder_;
};

inline std::string upload_key(const std::string& id) { return "uploads/" + id + ".wav"; }
inline std::string job_prefix(const std::string& id) { return "jobs/" + id; }
inline std::string result_key(const std::string& id, std::string_view name) {
  return job_prefix(id) + "/" + std::string(name);
}
inline constexpr std::string_view kStreamName = "stream.wav";

}  // namespace hum::serve
