#include "data/synthesis/presets.h"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "base/error.h"
#include "base/names.h"

namespace hum::data {
namespace {

// All General MIDI programs that can play a melody. Excluded: guitar harmonics and the fifths lead
// (they sound at other pitches than written), whistle and tinkle bell (identical on TimGM6mb), the
// orchestra hit, agogo, and effects without a pitch (96, 97, 101 to 103, 115 to 127).
//
// Ranges are those in which the sound fonts sound like the instrument, narrowed to the usual range
// of melodies.
//
// 16 of 104 are held out, about one of each eight programs. None is the most common of its family
// or was used to train the released weights. Each has a near relative in training (viola: violin)
// or a distinct timbre (recorder, music box), so that tests cover near and far unseen instruments.
// clang-format off
constexpr Preset kPresets[] = {
    //name                  alias          family   program low high polyphonic held out
    {"acoustic-grand-piano", "piano",       "piano",        0,  36,  96, true,  false},
    {"bright-piano",         "",            "piano",        1,  36,  96, true,  false},
    {"electric-grand-piano", "",            "piano",        2,  36,  96, true,  false},
    {"honky-tonk-piano",     "",            "piano",        3,  36,  96, true,  false},
    {"electric-piano",       "rhodes",      "piano",        4,  36,  91, true,  false},
    {"fm-electric-piano",    "",            "piano",        5,  36,  91, true,  false},
    {"harpsichord",          "",            "piano",        6,  40,  89, true,  false},
    {"clavinet",             "",            "piano",        7,  40,  89, true,  true},
    {"celesta",              "",            "chromatic",    8,  60,  96, true,  false},
    {"glockenspiel",         "",            "chromatic",    9,  72, 100, true,  false},
    {"music-box",            "",            "chromatic",   10,  60,  96, true,  true},
    {"vibraphone",           "",            "chromatic",   11,  53,  89, true,  false},
    {"marimba",              "",            "chromatic",   12,  45,  91, true,  false},
    {"xylophone",            "",            "chromatic",   13,  60,  96, true,  false},
    {"tubular-bells",        "",            "chromatic",   14,  60,  84, true,  false},
    {"dulcimer",             "",            "chromatic",   15,  48,  84, true,  false},
    {"drawbar-organ",        "organ",       "organ",       16,  36,  91, true,  false},
    {"percussive-organ",     "",            "organ",       17,  36,  91, true,  false},
    {"rock-organ",           "",            "organ",       18,  36,  91, true,  true},
    {"church-organ",         "",            "organ",       19,  36,  91, true,  false},
    {"reed-organ",           "harmonium",   "organ",       20,  36,  91, true,  false},
    {"accordion",            "",            "organ",       21,  48,  88, true,  false},
    {"harmonica",            "",            "organ",       22,  60,  91, false, false},
    {"bandoneon",            "",            "organ",       23,  48,  88, true,  false},
    {"nylon-guitar",         "guitar",      "guitar",      24,  40,  84, true,  false},
    {"steel-guitar",         "",            "guitar",      25,  40,  84, true,  false},
    {"jazz-guitar",          "",            "guitar",      26,  40,  84, true,  true},
    {"clean-guitar",         "",            "guitar",      27,  40,  84, true,  false},
    {"muted-guitar",         "",            "guitar",      28,  40,  79, false, false},
    {"overdriven-guitar",    "",            "guitar",      29,  40,  84, false, false},
    {"distortion-guitar",    "",            "guitar",      30,  40,  84, false, false},
    {"acoustic-bass",        "",            "bass",        32,  28,  60, false, false},
    {"finger-bass",          "bass",        "bass",        33,  28,  60, false, false},
    {"pick-bass",            "",            "bass",        34,  28,  60, false, false},
    {"fretless-bass",        "",            "bass",        35,  28,  60, false, true},
    {"slap-bass",            "",            "bass",        36,  28,  60, false, false},
    {"pop-bass",             "",            "bass",        37,  28,  60, false, false},
    {"synth-bass",           "",            "bass",        38,  28,  60, false, false},
    {"soft-synth-bass",      "",            "bass",        39,  28,  60, false, false},
    {"violin",               "",            "strings",     40,  55,  96, false, false},
    {"viola",                "",            "strings",     41,  48,  86, false, true},
    {"cello",                "",            "strings",     42,  36,  76, false, false},
    {"contrabass",           "",            "strings",     43,  28,  55, false, false},
    {"tremolo-strings",      "",            "strings",     44,  40,  88, true,  false},
    {"pizzicato-strings",    "pizzicato",   "strings",     45,  40,  84, false, false},
    {"harp",                 "",            "strings",     46,  36,  88, true,  false},
    {"timpani",              "",            "chromatic",   47,  36,  60, false, false},
    {"string-ensemble",      "strings",     "ensemble",    48,  40,  91, true,  false},
    {"slow-strings",         "",            "ensemble",    49,  40,  91, true,  true},
    {"synth-strings",        "",            "ensemble",    50,  40,  91, true,  false},
    {"soft-synth-strings",   "",            "ensemble",    51,  40,  91, true,  false},
    {"choir-aahs",           "choir",       "ensemble",    52,  43,  79, true,  false},
    {"voice-oohs",           "",            "ensemble",    53,  43,  79, false, true},
    {"synth-voice",          "",            "ensemble",    54,  43,  79, false, false},
    {"trumpet",              "",            "brass",       56,  54,  86, false, false},
    {"trombone",             "",            "brass",       57,  40,  74, false, false},
    {"tuba",                 "",            "brass",       58,  28,  58, false, false},
    {"muted-trumpet",        "",            "brass",       59,  54,  86, false, true},
    {"french-horn",          "horn",        "brass",       60,  41,  77, false, false},
    {"brass-section",        "brass",       "brass",       61,  43,  84, true,  false},
    {"synth-brass",          "",            "brass",       62,  43,  84, true,  true},
    {"soft-synth-brass",     "",            "brass",       63,  43,  84, true,  false},
    {"soprano-sax",          "",            "reed",        64,  56,  88, false, false},
    {"alto-sax",             "sax",         "reed",        65,  49,  81, false, false},
    {"tenor-sax",            "",            "reed",        66,  44,  76, false, false},
    {"baritone-sax",         "",            "reed",        67,  36,  69, false, false},
    {"oboe",                 "",            "reed",        68,  58,  91, false, false},
    {"english-horn",         "cor-anglais", "reed",        69,  52,  81, false, false},
    {"bassoon",              "",            "reed",        70,  34,  72, false, true},
    {"clarinet",             "",            "reed",        71,  50,  91, false, false},
    {"piccolo",              "",            "pipe",        72,  74, 102, false, false},
    {"flute",                "",            "pipe",        73,  60,  96, false, false},
    {"recorder",             "",            "pipe",        74,  60,  91, false, true},
    {"pan-flute",            "",            "pipe",        75,  60,  91, false, false},
    {"blown-bottle",         "",            "pipe",        76,  60,  91, false, false},
    {"shakuhachi",           "",            "pipe",        77,  55,  91, false, false},
    {"ocarina",              "",            "pipe",        79,  60,  91, false, false},
    {"square-lead",          "",            "synth",       80,  40,  91, false, false},
    {"saw-lead",             "",            "synth",       81,  40,  91, false, false},
    {"calliope-lead",        "",            "synth",       82,  48,  91, false, true},
    {"chiff-lead",           "",            "synth",       83,  48,  91, false, false},
    {"charang-lead",         "",            "synth",       84,  40,  88, false, false},
    {"voice-lead",           "",            "synth",       85,  43,  84, false, false},
    {"bass-lead",            "",            "synth",       87,  36,  79, false, false},
    {"new-age-pad",          "",            "pad",         88,  43,  91, true,  false},
    {"warm-pad",             "",            "pad",         89,  40,  91, true,  true},
    {"polysynth-pad",        "",            "pad",         90,  40,  91, true,  false},
    {"choir-pad",            "",            "pad",         91,  43,  84, true,  false},
    {"bowed-pad",            "",            "pad",         92,  48,  91, true,  false},
    {"metallic-pad",         "",            "pad",         93,  43,  88, true,  false},
    {"halo-pad",             "",            "pad",         94,  43,  88, true,  false},
    {"sweep-pad",            "",            "pad",         95,  40,  88, true,  false},
    {"crystal",              "",            "pad",         98,  48,  91, true,  false},
    {"atmosphere",           "",            "pad",         99,  43,  88, true,  true},
    {"brightness",           "",            "pad",        100,  43,  88, true,  false},
    {"sitar",                "",            "ethnic",     104,  48,  79, false, false},
    {"banjo",                "",            "ethnic",     105,  48,  84, true,  false},
    {"shamisen",             "",            "ethnic",     106,  48,  84, false, true},
    {"koto",                 "",            "ethnic",     107,  48,  86, true,  false},
    {"kalimba",              "",            "ethnic",     108,  53,  86, true,  false},
    {"bagpipe",              "",            "ethnic",     109,  57,  81, false, false},
    {"fiddle",               "",            "ethnic",     110,  55,  91, false, false},
    {"shanai",               "shehnai",     "ethnic",     111,  58,  86, false, false},
    {"steel-drums",          "",            "chromatic",  114,  52,  84, true,  false},
};
// clang-format on

std::string normalised(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (c == '_' || c == ' ') c = '-';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// Whether the name begins with a word of the preset's: "saxophone" with "sax" of "alto-sax".
bool begins_with_word(std::string_view wanted, std::string_view preset) {
  constexpr size_t kShortestWord = 3;
  for (const auto part : std::views::split(preset, '-')) {
    const std::string_view word(part.begin(), part.end());
    if (word.size() >= kShortestWord && wanted.starts_with(word)) return true;
  }
  return false;
}

// A missing alias is never near.
int alias_distance(std::string_view wanted, std::string_view alias) {
  return alias.empty() ? 1000 : name_distance(wanted, alias);
}

}  // namespace

std::span<const Preset> presets() { return kPresets; }

bool can_bend(const Preset& preset) {
  if (preset.name == "harmonica") return true;  // an organ to General MIDI
  for (const std::string_view family : {"piano", "chromatic", "organ"}) {
    if (preset.family == family) return false;
  }
  return preset.name != "harp" && preset.name != "kalimba";
}

std::vector<const Preset*> training_presets() {
  std::vector<const Preset*> result;
  for (const Preset& preset : kPresets) {
    if (!preset.held_out) result.push_back(&preset);
  }
  return result;
}

const Preset& find_preset(std::string_view name) {
  const std::string wanted = normalised(name);
  const auto found = std::ranges::find_if(kPresets, [&](const Preset& preset) {
    return preset.name == wanted || (!wanted.empty() && preset.alias == wanted);
  });
  if (found != std::end(kPresets)) return *found;
  std::string nearest;
  for (const auto& candidate : nearest_presets(wanted)) {
    nearest += (nearest.empty() ? "" : ", ") + candidate;
  }
  fail(ExitCode::kUsage, fmt::format("unknown preset '{}'", name),
       fmt::format("the nearest names are {}; `hum presets` lists all", nearest));
}

std::vector<std::string> nearest_presets(std::string_view name, int count) {
  const std::string wanted = normalised(name);
  std::vector<std::pair<int, std::string_view>> ranked;
  for (const Preset& preset : kPresets) {
    const int distance =
        std::min(name_distance(wanted, preset.name), alias_distance(wanted, preset.alias));
    ranked.emplace_back(begins_with_word(wanted, preset.name) ? std::min(distance, 0) : distance,
                        preset.name);
  }
  std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
  std::vector<std::string> result;
  for (const auto& [unused, candidate] : ranked) {
    if (static_cast<int>(result.size()) == count) break;
    result.emplace_back(candidate);
  }
  return result;
}

int octave_shift(std::span<const audio::Note> notes, int low, int high) {
  HUM_REQUIRE(low <= high, "octave_shift: empty range {}..{}", low, high);
  int best = 0;
  double best_outside_s = -1;
  for (const int shift : {0, 12, -12, 24, -24, 36, -36, 48, -48, 60, -60}) {
    double outside_s = 0;
    for (const auto& note : notes) {
      const int pitch = note.pitch + shift;
      if (pitch < low || pitch > high) outside_s += note.end_s - note.start_s;
    }
    if (best_outside_s < 0 || outside_s < best_outside_s - 1e-9) {
      best_outside_s = outside_s;
      best = shift;
    }
  }
  return best;
}

}  // namespace hum::data
