// What lies where below --data, for server and workers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "serve/storage/records.h"
#include "serve/storage/sqlite_records.h"
#include "serve/storage/store.h"

namespace hum::serve {

// --data, else $XDG_DATA_HOME/hum/serve, else ~/.local/share/hum/serve. Creates it, readable by its
// owner only. Throws: kUsage if there is no home folder either; kCannotCreate, kNoPermission.
std::filesystem::path open_data_folder(const std::string& named);
// The same folder for a process that joins a server. Throws: kUsage if it has no records;
// kNoPermission.
std::filesystem::path joined_data_folder(const std::string& named);

inline std::filesystem::path records_file(const std::filesystem::path& data) {
  return data / "records.sqlite";
}
inline std::filesystem::path store_folder(const std::filesystem::path& data) {
  return data / "sounds";
}
// Signs the cookies of sessions (access/gate.h).
inline std::filesystem::path secret_file(const std::filesystem::path& data) {
  return data / "session.secret";
}
// The certificate that the service makes for itself, and its key (access/certificate.h).
inline std::filesystem::path certificate_file(const std::filesystem::path& data) {
  return data / "self-signed.pem";
}
// Of OwnerLocks.
inline std::filesystem::path locks_folder(const std::filesystem::path& data) {
  return data / "locks";
}

// Writes a file that only its owner may read. Throws: kCannotCreate.
void write_private(const std::filesystem::path& file, std::string_view bytes);

// Longer than a process takes between storing a sound and its record.
inline constexpr std::chrono::minutes kOrphanAge{10};
// Longer than a job, or an upload over a slow line.
inline constexpr std::chrono::hours kAsideAge{24};

// Removes the sounds of jobs and uploads that have no record and did not change for `orphan_age`: a
// process was killed between storing them and their record. Also removes what failed jobs left, and
// files that were put aside and did not change for `aside_age`.
void remove_orphans(Records& records, Store& store,
                    std::chrono::milliseconds orphan_age = kOrphanAge,
                    std::chrono::milliseconds aside_age = kAsideAge);

}  // namespace hum::serve
