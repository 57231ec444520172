// Features after their extraction: what became of the recordings, those that wait again, the list
// of shards, and what killed processes left (the declarations of the commands are in extract.h).
#pragma once

#include "app/extraction/extract.h"
#include "app/extraction/recording_table.h"
#include "app/extraction/shard_store.h"

namespace hum::app {

// The table of the recordings, in a folder of features.
inline constexpr const char* kTableFile = "recordings.sqlite";

// Writes shards.json.
void write_list(RecordingTable& table, ShardStore& store);
// Removes what the table does not list and no process may list yet, and unfinished files of shards
// that it lists. Counts what was there to be removed.
CollectedGarbage remove_unlisted(RecordingTable& table, ShardStore& store);

}  // namespace hum::app
