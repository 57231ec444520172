// What `hum evaluate model` does with recordings of singers and of instruments, beside its test set
// of synthetic clips.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/evaluation/reference_report.h"
#include "app/evaluation/singing_report.h"
#include "app/play/synthesizer.h"
#include "base/json_fwd.h"
#include "eval/report/examples.h"

namespace hum::app {

class RealRecordings {
 public:
  // Reads all recordings and hears the singers' melodies, so that an error in one shows before
  // hours of work. Both may be a file or a folder. Without `singing`, the example that comes with
  // hum sings; without `references`, nothing is imitated. Calls `lacks` for what cannot be
  // measured. Throws: what find_recordings, decode::read_recording, read_melody and read_clips
  // throw.
  RealRecordings(const std::string& singing, const std::string& references,
                 pipeline::HearFunction melody,
                 const std::function<void(const std::string& what, const std::string& why)>& lacks);

  struct Tools {
    Synthesizer& synthesizer;
    std::filesystem::path weights;
    eval::Transcriber transcribe;
    eval::Renderer render;
  };
  // {"real_singing": singing_report of all singers, "real_references": reference_report with the
  // first singer's phrase}. Adds the sounds to the examples; calls `between` between them, which
  // may throw to stop.
  Json report(const Tools& tools, eval::Examples& examples,
              const std::function<void()>& require_no_stop) const;

 private:
  pipeline::HearFunction melody_;
  std::vector<SungRecording> singers_;
  std::vector<ReferenceRecording> references_;
};

}  // namespace hum::app
