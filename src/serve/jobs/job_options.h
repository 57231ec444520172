// What a caller may ask of a job, with the names and defaults of `hum generate`, `hum arrange`,
// `hum separate` and `hum remix`.
// No field names a file, a folder or a program: sounds come as uploads.
#pragma once

#include <string>
#include <vector>

#include "app/play/performance.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/json_fwd.h"
#include "serve/storage/records.h"

namespace hum::serve {

inline constexpr int64_t kMostTakes = 8;
inline constexpr size_t kMostNotes = 20'000;
// Notes that sound at once, on average over the longest recording.
inline constexpr double kMostVoices = 8;

struct JobOptions {
  std::string preset;
  int64_t takes = 1;
  app::SoundFormat format = app::SoundFormat::kWav;
  app::SoundOptions sound;
  pipeline::ScoreOptions score;
  pipeline::HumOptions hum;
  app::SynthesisOptions play;
  bool loop = false;
  int64_t beats = 4;
  double gain_db = 0;
  pipeline::Style style = pipeline::Style::kPop;
  std::string stem = "vocals", stems;
  bool keep = false;
  models::basic_pitch::NoteOptions notes;

  template <class V>
  void visit_fields(V& v) {
    v("preset", preset, "instrument to play on (GET /v1/presets lists them)");
    v("takes", takes, "takes of the melody, with seeds from `seed` on; more than one need `lm`");
    v("format", format, "file format of the sounds");
    sound.visit_fields(v);
    score.visit_fields(v);
    hum.visit_fields(v);
    play.visit_fields(v);
    v("loop", loop, "make whole bars from the first beat, as a seamless loop");
    v("beats", beats, "beats per bar, of a loop or an arrangement");
    v("gain", gain_db,
      "level of the melody above the backing, or of a remix's part above the stem, in dB");
    v("style", style, "style of an arrangement");
    v("stem", stem, "stem that a remix plays: bass, vocals, lead, chordal or other");
    v("keep", keep, "leave the original stem in a remix");
    v("stems", stems,
      "stems to separate, with commas: drums, bass, vocals, lead, chordal, other; rest is all that "
      "is not named (default: all that the service finds)");
    notes.visit_fields(v);
  }
};

// Reads the options of a request. A number may stand where a text is expected ("snap": 1). The band
// of an arrangement keeps time, so its default of `snap` is 1; the part of a remix is in tune with
// the song, so its default of `tuning` is off. Throws: kUsage naming the field and,
// for an unknown one, the nearest.
JobOptions parse_job_options(const Json& json, Task task);

// Checks what depends on the whole request: the options against each other, the task and the sounds
// that come with it. Throws: kUsage naming the field.
void validate(const JobOptions& options, const JobRequest& request);

// Notes in a request. Throws: kUsage for anything but a list of valid notes that end in time.
std::vector<audio::Note> parse_given_notes(const Json& json, double max_seconds);

// How a job with these options is performed. `timbre`, `backing`: decoded sounds; empty: none.
app::PerformanceOptions performance_options(const JobOptions& options, const std::string& timbre,
                                            const std::string& backing, double max_seconds);

// The JSON schema of the options, with types, names, defaults and help, for the OpenAPI document.
Json job_options_schema();

// The text of an error with the fields of the API in place of the flags of the program: "snap 2 is
// outside 0..1" for "--snap 2 is outside 0..1".
std::string with_field_names(const std::string& text);
// The hint in terms of the API, a flag with a value as in JSON: "tempo": 100 for "--tempo 100".
// Empty if the error has only the usual one, which is about the program.
std::string hint_for_callers(const Error& error);

}  // namespace hum::serve
