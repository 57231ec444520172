// Where hum's own files are: the cache, trainings, the source tree or an installation.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hum {

// HUM_CACHE, else $XDG_CACHE_HOME/hum, else ~/.cache/hum; empty if there is no home folder, because
// nothing is created in place of one.
std::filesystem::path cache_folder();
// HUM_RUNS, else cache_folder()/runs: long trainings and their items, outside any source tree.
// Empty like cache_folder().
std::filesystem::path runs_folder();
// `path` with runs_folder() in place of a leading "$HUM_RUNS". Throws: kUsage if there is none.
std::string with_runs_folder(const std::string& path);
// The repository root, for tests and the build tree: HUM_SOURCE_DIR, else the compiled-in source
// folder.
std::filesystem::path source_folder();
// The folder of weights/, configs/, hardware/ and examples/: PREFIX/share/hum if the program lies
// in the PREFIX/bin of `make install`, else source_folder().
std::filesystem::path data_folder();
// A path below data_folder() as a user can type it: "examples/a.wav" in the source tree, the whole
// path if hum is installed.
std::string typed_data_path(const std::string& path);
// The folders of unpacked wheels (plugins, Basic Pitch's weights), to be searched in this order:
// HUM_THIRD_PARTY, then PREFIX/lib/hum of an installed program, or the build's third_party.
std::vector<std::filesystem::path> wheel_folders();
// `path` below the first of wheel_folders() that has it, or below the first if none has.
std::filesystem::path in_wheels(const std::filesystem::path& path);

}  // namespace hum
