#include "data/stems/song_source.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/rng.h"
#include "data/stems/drawn_melody.h"
#include "data/stems/mma.h"

namespace hum::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMmaPackage = "mma";
// MMA rejects a few grooves of its library.
constexpr uint64_t kMmaTries = 32;

fs::path require_package(std::string_view name) {
  if (const auto package = fetched_package(name)) return *package;
  fail(ExitCode::kNoInput, fmt::format("the package {} is not fetched", name),
       "make fetch-stems, or name others in the configuration");
}

std::string pinned(const fs::path& package) {
  const fs::path lock = package / ".lock";
  std::string text = fs::exists(lock) ? read_file(lock) : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// A song without a file.
BandSong drawn_song(std::string package, std::string name, audio::MidiSong midi) {
  BandSong song{.package = std::move(package)};
  song.licence = song_package(song.package).licence;
  song.song = {std::move(name), sha256(audio::format_midi_song(midi.parts)), std::move(midi)};
  return song;
}

}  // namespace

bool is_held_out(std::string_view name, double share) {
  const auto hash = std::stoul(sha256(name).substr(0, 8), nullptr, 16);
  return static_cast<double>(hash) < share * 0x1p32;
}

struct SongSource::Impl {
  StemOptions options;
  ComposeSong compose;
  std::vector<BandSong> files;
  fs::path mma;
  std::vector<MmaGroove> grooves;
  Json packages = Json::object();

  bool is_mine(std::string_view name) const {
    return is_held_out(name, options.held_out_share) == (options.split == Split::kHeldOut);
  }
  uint64_t seed() const { return static_cast<uint64_t>(options.seed); }
  double file_share() const { return 1 - options.mma_share - options.own_share; }
  // A stream of random numbers that the other split does not have.
  std::string stream(std::string_view name) const {
    return fmt::format("{} {}", to_name(options.split), name);
  }

  void read_files();
  void read_grooves();
  BandSong draw_accompaniment(uint64_t index) const;
};

void SongSource::Impl::read_files() {
  for (const std::string& name : options.packages) {
    const fs::path package = require_package(name);
    packages[name] = pinned(package);
    SongFolder found = read_songs(package);
    for (const std::string& fault : found.unreadable) spdlog::warn("{}: {}", name, fault);
    for (Song& song : found.songs) {
      if (song.midi.parts.empty() || !is_mine(song.sha256)) continue;
      files.push_back({std::move(song), name, std::string(song_package(name).licence)});
    }
  }
  if (!files.empty()) return;
  fail(ExitCode::kBadData, fmt::format("the packages have no {} songs", to_name(options.split)),
       "change held_out_share, or name more packages");
}

void SongSource::Impl::read_grooves() {
  mma = require_package(kMmaPackage);
  packages[kMmaPackage] = pinned(mma);
  for (MmaGroove& groove : mma_grooves(mma)) {
    if (is_mine(groove.file)) grooves.push_back(std::move(groove));
  }
  if (grooves.empty()) {
    fail(ExitCode::kBadData, fmt::format("mma has no {} grooves", to_name(options.split)),
         "change held_out_share");
  }
}

BandSong SongSource::Impl::draw_accompaniment(uint64_t index) const {
  for (uint64_t tried = 0; tried < kMmaTries; ++tried) {
    const uint64_t number = index * kMmaTries + tried;
    const MmaSong drawn = draw_mma_song(grooves, seed(), number);
    audio::MidiSong midi;
    try {
      midi = play_mma(mma, drawn);
    } catch (const Error& error) {  // a groove that MMA rejects is normal
      if (error.code() != ExitCode::kBadData) throw;
      continue;
    }
    const auto bars = audio::bar_lines(midi);
    if (bars.empty()) continue;
    Rng rng(seed(), stream("lead of an accompaniment"), number);
    const Preset& preset = draw_lead_preset(options.split, rng);
    audio::MidiPart lead{.track = static_cast<int>(midi.parts.size()) + 1,
                         .program = preset.program,
                         .name = "Melody"};
    lead.notes = melody_at({drawn.key, drawn.is_minor, drawn.tempo_bpm, bars.back()}, preset,
                           rng.bits(), number);
    if (!lead.notes.empty()) midi.parts.push_back(std::move(lead));
    BandSong song =
        drawn_song(kMmaPackage, drawn.groove.file + ":" + drawn.groove.name, std::move(midi));
    song.names = TrackNames::kMma;
    return song;
  }
  fail(ExitCode::kBadData, fmt::format("mma rejects {} grooves in a row", kMmaTries),
       "fetch it again: make fetch-stems");
}

SongSource::SongSource(const StemOptions& options, ComposeSong compose) {
  validate(options);
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->compose = std::move(compose);
  if (impl->file_share() > 1e-9) impl->read_files();
  if (options.mma_share > 0) impl->read_grooves();
  HUM_REQUIRE(options.own_share == 0 || impl->compose, "own songs without a composer");
  impl_ = std::move(impl);
}

SongSource::~SongSource() = default;

BandSong SongSource::draw(uint64_t index) const {
  const StemOptions& options = impl_->options;
  Rng rng(impl_->seed(), impl_->stream("stem song"), index);
  const double kind = rng.uniform();
  if (kind < options.mma_share) return impl_->draw_accompaniment(index);
  if (kind < options.mma_share + options.own_share || impl_->files.empty()) {
    return drawn_song("hum", fmt::format("{}/{}", options.seed, index),
                      impl_->compose(options.split, impl_->seed(), index));
  }
  const auto last = std::ssize(impl_->files) - 1;
  return impl_->files[static_cast<size_t>(rng.integer(0, last))];
}

Json SongSource::packages() const { return impl_->packages; }

}  // namespace hum::data
