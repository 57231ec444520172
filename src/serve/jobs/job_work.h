// The work of one attempt at a job: from its uploads to its results in the store. It knows neither
// leases nor the queue, but for the notes, which it records as soon as they are heard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/play/performance.h"
#include "app/separation/stem_models.h"
#include "base/json.h"
#include "serve/jobs/estimates.h"
#include "serve/jobs/job_options.h"
#include "serve/storage/records.h"
#include "serve/storage/store.h"

namespace hum::serve {

class JobWork {
 public:
  struct Step {
    std::string_view stage;
    double done = 0;           // share of the stage
    bool is_awaited = false;   // its first sound, or its notes if that is all, are still to come
    int64_t stream_bytes = 0;  // of the sound that can be heard so far
  };
  using Report = std::function<void(const Step&)>;

  // All arguments must outlive this object.
  JobWork(Records& records, Store& store, Estimates& estimates,
          const std::shared_ptr<app::LoadedModels>& models, app::SharedStemModels& stem_models,
          const Job& job, const Lease& lease, Report report);
  // Removes what was not moved into the store.
  ~JobWork();
  JobWork(const JobWork&) = delete;
  JobWork& operator=(const JobWork&) = delete;

  // Returns the results: [{"name", "type", "bytes", "seconds"}], which are in the store. Throws:
  // what perform_takes, separate_stems and remix_song throw, with "the recording", "the song",
  // "the timbre" and "the backing" in place of paths; what `report` throws.
  Json run();

 private:
  void report(std::string_view stage, double done);
  app::MelodySource source();
  std::filesystem::path sound_of(const std::string& upload, const char* what) const;
  app::PerformanceEvents events();
  std::vector<app::PerformedFile> perform_song(const JobOptions& options,
                                               const std::filesystem::path& song,
                                               const std::string& timbre);
  std::vector<app::PerformedFile> perform_melody(const JobOptions& options,
                                                 const std::string& timbre,
                                                 const std::string& backing);
  std::vector<app::PerformedFile> perform_with_stream(const app::PerformanceOptions& options,
                                                      const app::MelodySource& source,
                                                      const app::PerformanceEvents& events);
  Json store_results(const std::vector<app::PerformedFile>& files);

  Records& records_;
  Store& store_;
  Estimates& estimates_;
  const std::shared_ptr<app::LoadedModels>& models_;
  app::SharedStemModels& stem_models_;
  const Job& job_;
  const Lease& lease_;
  Report report_;
  int64_t stream_bytes_ = 0;
  std::filesystem::path folder_;  // of unfinished results
};

// Of a result or another file that the service hands out, by its extension.
std::string_view media_type(std::string_view name);

}  // namespace hum::serve
