// Rows of the tables as structs, for the sources of SqliteRecords.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/sqlite.h"
#include "serve/storage/records.h"

namespace hum::serve {

inline constexpr const char* kSelectJobs =
    "SELECT j.number, j.id, j.caller, j.task, j.upload, j.timbre, j.backing, j.status, j.stage, "
    "j.progress, j.seconds_left, j.results, j.error, j.attempts, j.version, j.created_ms, "
    "j.ended_ms, d.options, d.notes, d.heard, j.work_s FROM jobs j JOIN documents d ON d.job = "
    "j.id";

// Of Quota::seconds_per_hour.
inline constexpr int64_t kHour_ms = 3'600'000;

inline std::optional<std::string> or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
inline std::optional<std::string> or_null(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(to_text(value));
}

// Of a statement that counts.
inline int64_t first_integer(Statement statement) {
  return statement.next() ? statement.integer(0) : 0;
}

// The place in the queue of a job that is its caller's `rank`th there; `waiting`: jobs there by
// caller. Callers take turns: before a caller's third job go up to three of each other one.
inline int64_t place_of(int64_t rank, const std::map<std::string, int64_t>& waiting) {
  int64_t place = 0;
  for (const auto& [unused, jobs] : waiting) place += std::min(jobs, rank);
  return place;
}

// The current row of kSelectJobs.
inline Job job_of(const Statement& row) {
  const auto json = [&](int column) {
    return row.is_null(column) ? Json() : parse_json(row.text(column));
  };
  Job job;
  job.number = row.integer(0);
  job.request = {.id = row.text(1),
                 .caller = row.text(2),
                 .task = from_name<Task>(row.text(3)),
                 .options = json(17),
                 .notes = json(18),
                 .upload = row.text(4),
                 .timbre = row.text(5),
                 .backing = row.text(6),
                 .work_s = row.real(20)};
  job.status = from_name<Status>(row.text(7));
  job.stage = row.text(8);
  job.progress = row.real(9);
  if (!row.is_null(10)) job.seconds_left = row.real(10);
  job.heard = json(19);
  job.results = json(11);
  job.error = json(12);
  job.attempts = row.integer(13);
  job.version = row.integer(14);
  job.created_ms = row.integer(15);
  job.ended_ms = row.integer(16);
  return job;
}

inline std::optional<Job> job_with(Database& database, const std::string& id) {
  Statement row = database.query(std::string(kSelectJobs) + " WHERE j.id = ?", id);
  if (!row.next()) return std::nullopt;
  return job_of(row);
}

}  // namespace hum::serve
