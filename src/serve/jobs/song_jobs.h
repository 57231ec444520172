// The jobs on songs, of the tasks `separate` and `remix`: their options and their work. Both read
// the upload block by block.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/play/performance.h"
#include "app/separation/stem_models.h"
#include "serve/jobs/job_options.h"

namespace hum::serve {

// Checks the options of such a job against each other. Throws: kUsage naming the flag.
void validate_song_job(const JobOptions& options, const JobRequest& request);

// The stems of a job that names none: six, the vocals and the rest, or none without a model.
std::vector<std::string> stems_found(const app::StemModelOptions& models);

// Throws: kUsage, with what those who run the service can do, if it has no model that finds the
// stems of the job. `models`: where they are.
void require_stem_models(const JobOptions& options, Task task, const app::StemModelOptions& models);

// What such a job writes to the disk at least: of a remix the song and one stem, else each stem,
// with 32-bit samples, as the upload has them.
int64_t least_bytes(const JobOptions& options, Task task, int64_t song_bytes, bool finds_six);
// Before work that may take an hour. Throws: kUsage if the disk can never hold so much,
// kCannotCreate if it cannot now.
void require_room(int64_t bytes, const std::filesystem::space_info& disk);

// Writes a sound for each stem: all that the models find, unless the options name some. Throws:
// what app::separate throws.
std::vector<app::PerformedFile> separate_stems(const JobOptions& options,
                                               const std::filesystem::path& song,
                                               app::SharedStemModels& models,
                                               const std::filesystem::path& folder,
                                               const app::PerformanceEvents& events);

// Writes remix.wav, or the other format, and the melody. `timbre`: a decoded sound; empty: none.
// Throws: what app::remix throws.
std::vector<app::PerformedFile> remix_song(
    const JobOptions& options, const std::filesystem::path& song, const std::string& timbre,
    app::SharedStemModels& stem_models, const std::shared_ptr<app::LoadedModels>& models,
    const std::filesystem::path& folder, const app::PerformanceEvents& events);

}  // namespace hum::serve
