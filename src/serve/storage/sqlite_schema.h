// The tables of SqliteRecords, by version.
#pragma once

#include <filesystem>

#include "base/sqlite.h"

namespace hum::serve {

// Opens the database for durable writes. Creates its tables, or upgrades those of an older hum.
// Throws: kConfig if a newer hum wrote it, kBadData if it is damaged.
Database open_records(const std::filesystem::path& file);

}  // namespace hum::serve
