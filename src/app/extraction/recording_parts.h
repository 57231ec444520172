// Reads a recording in parts of ten minutes, so that neither the memory for its sound nor that for
// its features depends on its length.
//
// A part also has the window before and the window after it, which the notes at its edges need. A
// recording of up to eleven minutes is one part.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/extraction/recording_table.h"
#include "decode/stream.h"

namespace hum::app {

inline constexpr int64_t kPartWindows = 100;
inline constexpr double kLongestRecording_s = 43200;  // 12 h, whose features one shard can hold

// A part of a recording, at 22,050 Hz.
struct RecordingSound {
  std::string sha256;  // of the file
  // The windows that this part is for, and how many others come before them in the channels.
  int64_t first_window = 0, windows = 0, lead_windows = 0;
  bool is_last = true;
  std::vector<std::vector<float>> channels;  // one or two
  // A mono version to hear and to encode in place of the mean of the channels, as long as they are,
  // and the SHA-256 of its file. Empty: none.
  std::vector<float> reference = {};
  std::string reference_sha256 = {};
  std::string licence;  // empty: unknown
};

// The mean of one or two channels.
std::vector<float> mean_of(const std::vector<std::vector<float>>& channels);

// A file that must not change while it is read.
class RecordingFile {
 public:
  // Reads it for its hash. Throws: what read_file throws; kBadData if it changes meanwhile or is no
  // file (a device), or if the location is not an absolute path.
  explicit RecordingFile(const std::string& location);
  const std::filesystem::path& path() const { return path_; }
  const std::string& sha256() const { return sha256_; }
  // Throws: kBadData if it has changed since.
  void require_unchanged() const;

 private:
  struct State {
    std::uintmax_t bytes = 0;
    std::filesystem::file_time_type changed;
    bool operator==(const State&) const = default;
  };
  State state() const;

  std::filesystem::path path_;
  State before_;
  std::string sha256_;
};

// For the decoders of recordings. `program`: as in StreamLimits.
decode::StreamLimits decoding_limits(std::filesystem::path program = {});

class RecordingParts {
 public:
  // Reads the recording's file for its hash. The last part may have a tenth more windows than
  // `part_windows`. `decoders` must outlive it. Throws: what RecordingFile throws.
  RecordingParts(ClaimedRecording recording, decode::Decoders& decoders, double max_seconds,
                 int64_t part_windows = kPartWindows);
  ~RecordingParts();

  const std::string& sha256() const { return file_.sha256(); }
  // The next part; none after the last. More channels than two become their mean. Throws, perhaps
  // after some parts: what decode::SoundStream throws, without the name of the file; kBadData for
  // less than a quarter of a second or a file that has changed; the same for the mono reference,
  // which it names.
  std::optional<RecordingSound> next();

 private:
  class Stream;
  void open();
  RecordingSound part(int64_t samples, bool is_last) const;
  void advance();

  ClaimedRecording recording_;
  decode::Decoders& decoders_;
  double max_seconds_;
  int64_t part_windows_, most_windows_;
  RecordingFile file_;
  std::optional<RecordingFile> reference_file_;
  std::unique_ptr<Stream> sound_, reference_;
  int64_t first_window_ = 0, lead_windows_ = 0;
  bool is_over_ = false;
};

}  // namespace hum::app
