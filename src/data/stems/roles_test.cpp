#include "data/stems/roles.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/rng.h"

namespace hum::data {
namespace {

using audio::MidiPart;
using audio::MidiSong;
using audio::Note;
using ::testing::ElementsAre;

constexpr double kBar_s = 2;  // 4/4 at 120 bpm
constexpr double kEighth_s = 0.25;

// Repeats a bar of `pitches` at an even pace; each note lasts `length` of its gap.
std::vector<Note> bars_of(const std::vector<int>& pitches, int from_bar, int to_bar,
                          double length = 0.9, double amplitude = 0.7) {
  std::vector<Note> notes;
  const double gap_s = kBar_s / static_cast<double>(pitches.size());
  for (int bar = from_bar; bar < to_bar; ++bar) {
    for (size_t i = 0; i < pitches.size(); ++i) {
      const double start_s = bar * kBar_s + static_cast<double>(i) * gap_s;
      notes.push_back({start_s, start_s + length * gap_s, pitches[i], amplitude, {}});
    }
  }
  return notes;
}

// Each bar holds one chord.
std::vector<Note> chords_of(const std::vector<int>& pitches, int to_bar) {
  std::vector<Note> notes;
  for (int bar = 0; bar < to_bar; ++bar) {
    for (const int pitch : pitches) {
      notes.push_back({bar * kBar_s, bar * kBar_s + 1.8, pitch, 0.7, {}});
    }
  }
  return notes;
}

std::vector<Note> moved(std::vector<Note> notes, int semitones, double by_s = 0) {
  for (Note& note : notes) {
    note.pitch += semitones;
    note.start_s += by_s;
    note.end_s += by_s;
  }
  return notes;
}

std::vector<Note> joined(std::vector<Note> notes, const std::vector<Note>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
  return notes;
}

MidiPart part(int program, std::vector<Note> notes, const std::string& name = {}) {
  return {.track = 1, .program = program, .name = name, .notes = std::move(notes)};
}

MidiSong song_of(std::vector<MidiPart> parts) {
  MidiSong song;
  song.parts = std::move(parts);
  return song;
}

// Of parts that keep one stem throughout.
std::vector<Stem> stems_of(const MidiSong& song, const RoleOptions& options = {}) {
  std::vector<Stem> stems;
  for (const PartRoles& roles : roles_of(song, options)) {
    EXPECT_EQ(roles.size(), 1u);
    EXPECT_EQ(roles.front().start_s, 0);
    stems.push_back(roles.front().stem);
  }
  return stems;
}

const std::vector<int> kMelody = {72, 74, 76, 77, 79, 77, 76, 74};
const std::vector<int> kHigherMelody = {84, 83, 81, 79, 81, 83, 84, 86};

TEST(Roles, ProgramsAndChannelsDecideFirst) {
  MidiPart kit = part(0, bars_of({36, 38, 36, 38}, 0, 8));
  kit.channel = audio::kDrumChannel;
  const auto chord = chords_of({60, 64, 67}, 8);
  const auto line = bars_of(kMelody, 0, 8);
  const MidiSong song = song_of({kit, part(112, line), part(119, chord), part(33, chord),
                                 part(39, line), part(96, line), part(103, chord), part(120, line),
                                 part(127, chord), part(47, line), part(55, chord)});
  EXPECT_THAT(stems_of(song), ElementsAre(Stem::kDrums, Stem::kDrums, Stem::kDrums, Stem::kBass,
                                          Stem::kBass, Stem::kOther, Stem::kOther, Stem::kOther,
                                          Stem::kOther, Stem::kOther, Stem::kOther));
}

TEST(Roles, SynthesizedVoicesAreChordsOrOtherButNeverLead) {
  const MidiSong song =
      song_of({part(52, chords_of({60, 64, 67}, 8)), part(53, bars_of(kMelody, 0, 8)),
               part(54, bars_of(kMelody, 0, 8))});
  EXPECT_THAT(stems_of(song), ElementsAre(Stem::kChordal, Stem::kOther, Stem::kOther));
}

TEST(Roles, ALowLineIsTheBassAndALowChordIsNot) {
  const std::vector<int> low = {36, 36, 43, 36, 41, 43, 45, 47};
  const MidiSong song = song_of({part(58, bars_of(low, 0, 8)), part(0, chords_of({36, 40, 43}, 8)),
                                 part(58, moved(bars_of(low, 0, 8), 12))});
  EXPECT_THAT(stems_of(song), ElementsAre(Stem::kBass, Stem::kChordal, Stem::kLead));
}

TEST(Roles, ALineOfOverlappingNotesIsNoChord) {
  // P = 1.4 and 1.6 over the whole part.
  const MidiSong song =
      song_of({part(40, bars_of(kMelody, 0, 8, 1.4)), part(40, bars_of(kMelody, 0, 8, 1.6))});
  EXPECT_THAT(stems_of(song), ElementsAre(Stem::kLead, Stem::kChordal));
}

TEST(Roles, BrokenChordsAreChordal) {
  const std::vector<int> c = {48, 55, 60, 64, 55, 60, 64, 67};
  const std::vector<int> two_chords = {57, 60, 64, 69, 55, 59, 62, 67};
  const std::vector<int> quarters = {60, 64, 67, 64};
  const std::vector<int> scale = {60, 62, 64, 65, 67, 65, 64, 62};
  EXPECT_EQ(stems_of(song_of({part(24, bars_of(c, 0, 8))}))[0], Stem::kChordal);
  EXPECT_EQ(stems_of(song_of({part(24, bars_of(two_chords, 0, 8))}))[0], Stem::kChordal);
  EXPECT_EQ(stems_of(song_of({part(24, bars_of(quarters, 0, 8))}))[0], Stem::kLead)
      << "slower than eighths";
  EXPECT_EQ(stems_of(song_of({part(24, bars_of(scale, 0, 8))}))[0], Stem::kLead);
  // A melody that arpeggiates in every other bar.
  std::vector<Note> mixed;
  for (int bar = 0; bar < 8; ++bar) {
    mixed = joined(mixed, bars_of(bar % 2 == 0 ? c : scale, bar, bar + 1));
  }
  EXPECT_EQ(stems_of(song_of({part(24, mixed)}))[0], Stem::kLead);
}

TEST(Roles, TheHighestAndLoudestLineIsTheLead) {
  const auto low = bars_of(kMelody, 0, 8);
  const auto high = bars_of(kHigherMelody, 0, 8);
  EXPECT_THAT(stems_of(song_of({part(40, low), part(73, high)})),
              ElementsAre(Stem::kOther, Stem::kLead));
  // 12 dB, by the notes' velocities or by the channel's volume, outweigh eight semitones.
  auto soft = high;
  for (Note& note : soft) note.amplitude /= 2;
  EXPECT_THAT(stems_of(song_of({part(40, low), part(73, soft)})),
              ElementsAre(Stem::kLead, Stem::kOther));
  MidiPart quiet = part(73, high);
  quiet.gain = 0.25;
  EXPECT_THAT(stems_of(song_of({part(40, low), quiet})), ElementsAre(Stem::kLead, Stem::kOther));
}

TEST(Roles, WithoutAMelodyThereIsNoLead) {
  const auto held = bars_of({72}, 0, 8);  // one pitch
  const std::vector<Note> rare = {{0, 2, 72, 0.7, {}}, {8, 10, 74, 0.7, {}}};
  EXPECT_THAT(stems_of(song_of({part(48, held), part(48, rare)})),
              ElementsAre(Stem::kOther, Stem::kOther));
}

TEST(Roles, TheLeadPassesFromLineToLine) {
  // Bars 0 to 8 the first, 8 to 16 both, 16 to 24 nobody, 24 to 32 the second, early by 30 ms.
  const auto first = bars_of(kMelody, 0, 16);
  const auto second = joined(moved(bars_of(kHigherMelody, 8, 16), 0, -0.03),
                             moved(bars_of(kHigherMelody, 24, 32), 0, -0.03));
  const auto roles = roles_of(song_of({part(40, first), part(73, second)}));
  const auto from = [](int bar) { return bar * kBar_s - kEarlyOnset_s; };
  EXPECT_THAT(roles[0], ElementsAre(RoleSpan{0, Stem::kLead}, RoleSpan{from(8), Stem::kOther}));
  EXPECT_THAT(roles[1],
              ElementsAre(RoleSpan{0, Stem::kOther}, RoleSpan{from(8), Stem::kLead},
                          RoleSpan{from(16), Stem::kOther}, RoleSpan{from(24), Stem::kLead}));
  EXPECT_EQ(stem_at(roles[1], second[0].start_s), Stem::kLead);
  EXPECT_EQ(stem_at(roles[1], from(8) - 0.01), Stem::kOther);
  EXPECT_EQ(stem_at(roles[1], 1e6), Stem::kLead);
}

TEST(Roles, ALineIsLeadForEightBarsOrMore) {
  // A higher line plays in every other window of four bars.
  std::vector<Note> interjections;
  for (const int bar : {4, 12, 20, 28}) {
    interjections = joined(interjections, bars_of(kHigherMelody, bar, bar + 4));
  }
  const auto roles =
      roles_of(song_of({part(40, bars_of(kMelody, 0, 32)), part(73, interjections)}));
  EXPECT_THAT(roles[0], ElementsAre(RoleSpan{0, Stem::kLead}));
  EXPECT_THAT(roles[1], ElementsAre(RoleSpan{0, Stem::kOther}));
}

// Random lines that come and go: at any time at most one is lead, and roles last.
TEST(Roles, OneLeadAtATimeAndNoShortRoles) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed, "roles");
    std::vector<MidiPart> parts;
    for (int i = 0; i < 4; ++i) {
      std::vector<Note> notes;
      for (int bar = 0; bar < 41; bar += 4) {
        const int shift = static_cast<int>(rng.integer(-12, 12));
        if (!rng.chance(0.6)) continue;
        // Not together with another part's, so that none doubles another.
        notes = joined(notes, moved(bars_of(kMelody, bar, bar + 4), shift, kEighth_s * i / 4));
      }
      if (!notes.empty()) parts.push_back(part(40 + i, notes));
    }
    const MidiSong song = song_of(parts);
    const double end_s = audio::bar_lines(song).back();
    const auto roles = roles_of(song);
    for (const PartRoles& spans : roles) {
      for (size_t i = 1; i < spans.size(); ++i) {
        const double before_s = i == 1 ? -kEarlyOnset_s : spans[i - 1].start_s;
        EXPECT_GE(spans[i].start_s - before_s, 8 * kBar_s - 1e-6);
        EXPECT_LE(spans[i].start_s, end_s - 8 * kBar_s);
      }
    }
    for (int bar = 0; bar < 41; ++bar) {
      const auto leads = std::ranges::count_if(roles, [&](const PartRoles& spans) {
        return stem_at(spans, bar * kBar_s) == Stem::kLead;
      });
      EXPECT_LE(leads, 1) << "seed " << seed << ", bar " << bar;
    }
  }
}

TEST(Roles, DoublingsGoWithTheLead) {
  const auto melody = bars_of(kMelody, 0, 16);
  const auto counter = bars_of({67, 65, 64, 62, 60, 62, 64, 65}, 0, 16);
  const MidiSong song = song_of({part(73, melody), part(40, moved(melody, -12, 0.02)),
                                 part(41, melody), part(42, moved(melody, -24)),
                                 part(43, moved(melody, -12, kEighth_s)), part(44, counter)});
  EXPECT_THAT(stems_of(song), ElementsAre(Stem::kLead, Stem::kLead, Stem::kLead, Stem::kOther,
                                          Stem::kOther, Stem::kOther));
}

TEST(Roles, ASungLeadBelongsToTheVocals) {
  const auto melody = bars_of(kMelody, 0, 16);
  const MidiSong song = song_of(
      {part(73, melody), part(40, moved(melody, -12)), part(0, chords_of({60, 64, 67}, 16))});
  EXPECT_THAT(stems_of(song, {.lead_is_sung = true}),
              ElementsAre(Stem::kVocals, Stem::kLead, Stem::kChordal));
}

TEST(Roles, TracksOfMmaAreNamedAfterTheirRole) {
  const auto line = bars_of(kMelody, 0, 8);
  const auto chord = chords_of({60, 64, 67}, 8);
  const MidiSong song =
      song_of({part(24, line, "Chord-Guitar"), part(0, line, "Arpeggio"),
               part(25, line, "PLECTRUM"), part(0, line, "Bass-1"), part(0, line, "Walk"),
               part(40, line, "Scale"), part(0, chord, "Drum-Kick"), part(73, chord, "Solo")});
  EXPECT_THAT(stems_of(song, {.names = TrackNames::kMma}),
              ElementsAre(Stem::kChordal, Stem::kChordal, Stem::kChordal, Stem::kBass, Stem::kBass,
                          Stem::kOther, Stem::kDrums, Stem::kLead));
  EXPECT_EQ(roles_of(song)[7][0].stem, Stem::kChordal) << "names of other programs mean nothing";
}

TEST(Roles, APartWithoutNotesIsRefused) {
  EXPECT_THROW(roles_of(song_of({part(0, {})})), Error);
  EXPECT_TRUE(roles_of(MidiSong{}).empty());
}

}  // namespace
}  // namespace hum::data
