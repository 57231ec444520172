// Changes notes as a musician asks before they are played: tempo, grid, key, intonation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audio/notes.h"
#include "base/fields.h"
#include "pipeline/key.h"
#include "pipeline/tempo.h"

namespace hum::pipeline {

// Distances of grid lines, in whole notes; t: triplets.
enum class Grid { k4, k8, k8t, k16, k16t, k32 };
inline EnumNames<Grid> enum_names(Grid) {
  static constexpr std::pair<Grid, std::string_view> kNames[] = {
      {Grid::k4, "1/4"},   {Grid::k8, "1/8"},     {Grid::k8t, "1/8t"},
      {Grid::k16, "1/16"}, {Grid::k16t, "1/16t"}, {Grid::k32, "1/32"}};
  return kNames;
}

struct ScoreOptions {
  std::string tempo = "auto";
  std::string snap = "off";
  Grid grid = Grid::k16;
  double swing_percent = 50;
  std::string key = "off";
  std::string correct = "auto";

  template <class V>
  void visit_fields(V& v) {
    v("tempo", tempo,
      "auto: estimate it from the melody; beats per minute: stretch the melody to this tempo; "
      "off: no tempo");
    v("snap", snap, "how far to move onsets and ends to the grid, 0 to 1 (off: not at all)");
    v("grid", grid, "the grid that --snap moves notes to");
    v("swing", swing_percent, "position of every second grid line in %: 50 straight, 67 triplets");
    v("key", key,
      "move notes outside this key into it: C:minor, F#:major, D:dorian; auto: the key "
      "of the melody; off: move none");
    v("correct", correct,
      "pitch correction: 0 keeps every bend and glide, 1 plays exact pitches; auto: 1 for "
      "instruments that cannot bend (piano, organ, mallets, harp), 0 for others");
  }
};

// Throws kUsage naming the flag that is out of range.
void validate(const ScoreOptions& options);
// Throws kUsage for a grid to which nothing is moved. For command lines: on the page of the service
// a musician may choose the grid first.
void require_snap_for_grid(const ScoreOptions& options);

struct Score {
  std::vector<audio::Note> notes;
  std::optional<Tempo> tempo;  // of the notes; absent: off, or none was found
  // Of the notes as they were sung; absent if they are too few.
  std::optional<KeyEstimate> heard_key;
  std::optional<Key> key;    // that the notes were moved into
  double stretch = 1;        // of the times, to the requested tempo
  int64_t moved_to_key = 0;  // notes
  double correction = 0;     // of the pitch
  std::vector<std::string> warnings;

  // For a MIDI file: the tempo, or 120 from time 0.
  double tempo_bpm() const { return tempo ? tempo->bpm : 120; }
  // The requested key, else the estimated one if it is certain enough.
  std::optional<audio::KeySignature> signature() const;
  double first_beat_s() const { return tempo ? tempo->first_beat_s : 0; }
};

// The setting in which the notes are played.
struct Setting {
  // There is a backing: a given tempo is the one that was sung to, and nothing is stretched.
  bool stays_in_time = false;
  bool can_bend = true;  // whether the instrument can
};

// With the default options it changes only bends that the instrument cannot play. Throws: kBadData
// when --snap is given and no tempo is found.
Score make_score(std::vector<audio::Note> notes, const ScoreOptions& options,
                 const Setting& setting = {});

}  // namespace hum::pipeline
