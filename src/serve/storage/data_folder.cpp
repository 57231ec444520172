#include "serve/storage/data_folder.h"

#include <set>

#include "base/env.h"
#include "base/error.h"
#include "base/files.h"

namespace hum::serve {

namespace fs = std::filesystem;

namespace {

fs::path default_folder() {
  if (const auto xdg = env_string("XDG_DATA_HOME"); !xdg.empty())
    return fs::path(xdg) / "hum/serve";
  const fs::path home = env_string("HOME");
  if (is_folder(home)) return home / ".local/share/hum/serve";
  fail(ExitCode::kUsage, "there is no home folder for the service's data", "--data FOLDER");
}

// "jobs/<id>/take-1.wav" and "uploads/<id>.wav" -> id.
std::string id_of(const std::string& key) {
  const size_t first = key.find('/') + 1;
  return key.substr(first, key.find_first_of("/.", first) - first);
}

fs::path folder_for(const std::string& named) {
  return fs::absolute(named.empty() ? default_folder() : fs::path(named));
}

}  // namespace

fs::path joined_data_folder(const std::string& named) {
  fs::path folder = folder_for(named);
  std::error_code ignored;
  if (fs::is_regular_file(records_file(folder), ignored)) {
    require_writable_folder(folder);
    return folder;
  }
  fail(ExitCode::kUsage,
       fmt::format("{}: no hum serve has used this folder, it has no {}", folder.string(),
                   records_file(folder).filename().string()),
       fmt::format("check the path, or start hum serve --data {} first", folder.string()));
}

fs::path open_data_folder(const std::string& named) {
  const fs::path folder = folder_for(named);
  const bool is_new = !is_folder(folder);
  create_folder(folder);
  if (is_new) fs::permissions(folder, fs::perms::owner_all);
  require_writable_folder(folder);
  return folder;
}

void write_private(const fs::path& file, std::string_view bytes) {
  AtomicFile written(file);
  fs::permissions(written.temporary_path(), fs::perms::owner_read | fs::perms::owner_write);
  written.write(bytes);
  written.commit();
}

void remove_orphans(Records& records, Store& store, std::chrono::milliseconds orphan_age,
                    std::chrono::milliseconds aside_age) {
  const int64_t newest_ms = now_ms() - orphan_age.count();
  std::set<std::string> orphans;
  for (const auto& entry : store.list("jobs")) {
    if (entry.changed_ms > newest_ms || orphans.contains(id_of(entry.key))) continue;
    const auto job = records.any_job(id_of(entry.key));
    if (!job || job->status == Status::kFailed) orphans.insert(id_of(entry.key));
  }
  for (const std::string& id : orphans) store.remove_all(job_prefix(id));
  for (const auto& entry : store.list("uploads")) {
    if (entry.changed_ms > newest_ms || records.any_upload(id_of(entry.key))) continue;
    store.remove(entry.key);
  }
  store.clear_aside(aside_age);
}

}  // namespace hum::serve
