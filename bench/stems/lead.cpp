// stems-lead: the notes of a song's lead, heard of the lead that hum separates, against the score.
// Songs, instruments and sound fonts are held out.
#include <algorithm>
#include <iostream>
#include <span>

#include "bench/bars.h"
#include "bench/hear/scores.h"
#include "bench/stems/separated.h"
#include "bench/stems/songs.h"
#include "eval/metrics/stem_figures.h"

namespace hum::bench {
namespace {

using hear::Sound;

constexpr double kLeastRatio = 0.60;
constexpr int64_t kWindows = 60, kSmokeWindows = 1, kMostDraws = 400;
constexpr size_t kFewestNotes = 8, kSmokeFewestNotes = 1;
constexpr const char *kTrue = "true lead", *kLead = "separated lead", *kMixture = "mixture";

struct Window {
  std::string song;
  std::vector<eval::PitchedNote> notes;  // of the score
  Sound mixture, lead, found;            // as hum hears them
};

std::vector<eval::PitchedNote> known_notes(const std::vector<audio::Note>& score) {
  std::vector<eval::PitchedNote> notes;
  for (const audio::Note& note : score) {
    notes.push_back({note.start_s, note.end_s, audio::midi_to_hz(note.pitch)});
  }
  return notes;
}

// Windows whose lead plays enough notes.
std::vector<Window> windows_with_lead(const app::StemModels& models, const Scale& scale) {
  constexpr auto kStem = static_cast<size_t>(data::Stem::kLead);
  stems::RenderedSongs songs(stems::Fonts::kHeldOut, scale);
  const auto wanted = scale.smoke ? kSmokeWindows : kWindows;
  const size_t fewest = scale.smoke ? kSmokeFewestNotes : kFewestNotes;
  std::vector<Window> windows;
  for (int64_t draw = 0; draw < kMostDraws && std::ssize(windows) < wanted; ++draw) {
    const stems::RenderedSong song = songs.next();
    const bool sounds = eval::level_dbfs(song.stems[kStem].samples) >= eval::kSilence_dbfs;
    if (!sounds || song.lead.size() < fewest) continue;
    windows.push_back({.song = song.song,
                       .notes = known_notes(song.lead),
                       .mixture = as_heard(song.mixture),
                       .lead = as_heard(song.stems[kStem]),
                       .found = as_heard(separated(song.mixture, models).at("lead"))});
  }
  return windows;
}

// What one listener hears of one kind of sound: F1 by window.
struct Heard {
  std::string sound, listener;
  std::vector<double> f1;
};

std::vector<Heard> hear_all(const std::vector<Window>& windows,
                            std::span<const hear::Listener> listeners) {
  std::vector<Heard> all;
  const std::pair<const char*, Sound Window::*> kinds[] = {
      {kTrue, &Window::lead}, {kLead, &Window::found}, {kMixture, &Window::mixture}};
  for (const auto& listener : listeners) {
    for (const auto& [name, member] : kinds) {
      std::vector<Sound> sounds;
      for (const Window& window : windows) sounds.push_back(window.*member);
      const auto notes = listener.listen(sounds);
      Heard& heard = all.emplace_back(name, listener.name);
      for (size_t i = 0; i < windows.size(); ++i) {
        hear::Tally tally;
        tally.add(windows[i].notes, notes[i]);
        heard.f1.push_back(tally.f1());
      }
    }
  }
  return all;
}

const std::vector<double>& f1_of(const std::vector<Heard>& all, std::string_view sound,
                                 std::string_view listener) {
  return std::ranges::find_if(
             all,
             [&](const Heard& heard) { return heard.sound == sound && heard.listener == listener; })
      ->f1;
}

void check(const std::vector<Window>& windows, const std::vector<Heard>& all, eval::Bar& bar) {
  std::vector<std::string> songs;
  for (const Window& window : windows) songs.push_back(window.song);
  const auto mean = [&](const std::vector<double>& f1) { return stems::mean_by_song(songs, f1); };
  eval::TextTable table({"sound", "heard by", "F1"});
  for (const Heard& heard : all) {
    const auto f1 = mean(heard.f1);
    table.row({heard.sound, heard.listener,
               fmt::format("{:.3f} [{:.3f}, {:.3f}]", f1.value, f1.low, f1.high)});
    Json& place = heard.sound == kLead ? bar.ours : bar.peer;
    place[heard.sound][heard.listener] = figures_of(f1);
  }
  std::cerr << table.text();
  bar.ours["windows"] = windows.size();
  const auto &found = f1_of(all, kLead, hear::kEar), &known = f1_of(all, kTrue, hear::kEar);
  const auto &line = f1_of(all, kMixture, hear::kEar),
             &notes = f1_of(all, kMixture, hear::kBasicPitch);
  const auto& floor = mean(line).value > mean(notes).value ? line : notes;
  std::vector<double> above;
  for (size_t i = 0; i < found.size(); ++i) above.push_back(found[i] - floor[i]);
  const auto gain = mean(above);
  bar.ours["gain over the mixture"] = figures_of(gain);
  bar.value = mean(found).value / mean(known).value;
  bar.checks.at_least("of the true lead's F1", bar.value, kLeastRatio);
  bar.checks.holds("above the mixture", gain.low > 0);
}

}  // namespace

eval::Bar stems_lead(const Scale& scale) {
  eval::Bar bar{
      .name = "stems-lead",
      .unit = "note F1 of the separated lead, as a share of the true lead's",
      .bar = fmt::format(
          "note F1 (50 ms, 50 cents) against the score: >= {:.2f} of the true lead's, and "
          "above the mixture's, as one line or as all its notes, whichever is better; "
          "interval excluding 0",
          kLeastRatio),
      .reason = stems::missing_material(scale)};
  if (!bar.reason.empty()) return bar;
  const StemWeights weights(scale);
  const StemMode* own = weights.own(bar);
  if (own == nullptr) return bar;
  const auto windows = windows_with_lead(own->models(), scale);
  if (windows.empty()) return bar;  // the smoke form may find no lead
  const hear::Ears ears(scale);
  // The ear hears one line, as hum notes --voice; Basic Pitch all notes.
  check(windows, hear_all(windows, std::span(ears.all()).first(2)), bar);
  return bar;
}

}  // namespace hum::bench
