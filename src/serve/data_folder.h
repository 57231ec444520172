// What lies where below --data, for server and workers.
#pragma once

#include <filesystem>

#include "serve/records.h"
#include "serve/sqlite_records.h"
#include "serve/store.h"

namespace hum::serve {

// --data, else $XDG_DATA_HOME/hum/serve, else ~/.local/share/hum/serve. Creates it, readable by its
// owner only. Throws: kUsage if there is no home folder either; kCannotCreate, kNoPermission.
std::filesystem::path open_data_folder(const std::string& named);

inline std::filesystem::path records_file(const std::filesystem::path& data) {
  return data / "records.sqlite";
}
inline std::filesystem::path store_folder(const std::filesystem::path& data) {
  return data / "sounds";
}
// Of OwnerLocks.
inline std::filesystem::path locks_folder(const std::filesystem::path& data) {
  return data / "locks";
}

// Removes the sounds of jobs and uploads that have no record and did not change for this long: a
// process was killed between storing them and their record.
void remove_orphans(Records& records, Store& store, std::chrono::milliseconds unchanged_for);

}  // namespace hum::serve
