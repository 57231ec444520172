#include "tests/fuzz/doors.h"

#include "app/play/stored_decays.h"
#include "app/play/stored_residuals.h"
#include "app/training/configuration.h"
#include "audio/flac.h"
#include "audio/io.h"
#include "audio/midi.h"
#include "audio/notes.h"
#include "audio/test_signal.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/json.h"
#include "data/stems/songs.h"
#include "eval/harness/annotation.h"
#include "eval/listening/answers.h"
#include "models/codec/token_file.h"
#include "pipeline/recording.h"
#include "plan/claims.h"
#include "plan/hardware.h"
#include "plan/runs.h"
#include "runtime/weights.h"

namespace hum::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxSeconds = 20;

std::string bytes_of_sound(const fs::path& path, const audio::AudioBuffer& sound,
                           audio::SampleFormat format) {
  audio::write_audio(path, sound, format);
  return read_file(path);
}

Door sound_door(const fs::path& scratch, const std::string& extension, int64_t rounds) {
  Door door{"sound", extension, {}, {}, rounds};
  const auto signal = audio::test_signal(6000, 22050);
  const fs::path path = scratch / ("sound" + extension);
  for (const int channels : {1, 2}) {
    const auto sound = audio::from_mono(signal, 22050, channels);
    door.files.push_back(bytes_of_sound(path, sound, audio::SampleFormat::k16));
    if (extension != ".wav") continue;
    door.files.push_back(bytes_of_sound(path, sound, audio::SampleFormat::k24));
    door.files.push_back(bytes_of_sound(path, sound, audio::SampleFormat::kFloat));
  }
  door.open = [](const fs::path& file) {
    audio::read_audio(file, kMaxSeconds);
    audio::SourceFormat source;
    auto mono = audio::read_mono(file, kMaxSeconds, &source);
    pipeline::checked_recording(std::move(mono), source, "doors");
  };
  return door;
}

// A stem of a shard.
Door stem_door(int64_t rounds) {
  std::vector<int16_t> samples;
  for (const float sample : audio::test_signal(6000, 44100)) {
    samples.insert(samples.end(), 2, static_cast<int16_t>(20000 * sample));
  }
  return {"stem",
          ".flac",
          {audio::flac_file(samples, 44100, 2)},
          [](const fs::path& file) {
            std::vector<float> part(2 * 2000);
            audio::read_flac(read_file(file), 3000, 2, part);
          },
          rounds};
}

Door notes_door(const fs::path& scratch, const std::string& extension, int64_t rounds) {
  const std::vector<audio::Note> notes = {{0.1, 0.5, 60, 0.5, {0, 1, 3}, 262.5, 0.9},
                                          {0.5, 0.9, 64, 0.7, {}, 0, 0},
                                          {0.9, 1.4, 127, 1, {-3}, 12000, 0.1}};
  const fs::path path = scratch / ("notes" + extension);
  audio::write_notes(path, notes, {.tempo_bpm = 97, .first_beat_s = 0.1});
  Door door{"notes", extension, {read_file(path)}, {}, rounds};
  const fs::path stored = source_folder() / "tests/data/audio";
  if (extension == ".mid") {
    for (const char* name : {"foreign.mid", "notes_120bpm.mid"}) {
      door.files.push_back(read_file(stored / name));
    }
  }
  door.open = [](const fs::path& file) { audio::read_notes(file); };
  return door;
}

// An archive of one song.
Door wad_door(int64_t rounds) {
  const std::vector<audio::MidiPart> parts = {{.notes = {{0, 0.5, 60, 0.8, {}}}}};
  const std::string song = audio::format_midi_song(parts);
  const auto number = [](size_t value) {
    std::string bytes;
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i));
    return bytes;
  };
  const std::string wad = "PWAD" + number(1) + number(12 + song.size()) + song + number(12) +
                          number(song.size()) + std::string("D_SONG\0\0", 8);
  return {"songs",
          ".wad",
          {wad},
          [](const fs::path& file) {
            const std::string bytes = read_file(file);
            for (const auto& lump : data::wad_lumps(bytes)) audio::parse_midi(lump.bytes);
          },
          rounds};
}

Door tensor_door(const fs::path& scratch, int64_t rounds) {
  const fs::path path = scratch / "tensors.safetensors";
  runtime::NamedTensors tensors;
  tensors.emplace_back("layer.weight", runtime::HostTensor({graph::DType::kF32, {3, 5}}));
  tensors.emplace_back("layer.bias", runtime::HostTensor({graph::DType::kBF16, {5}}));
  runtime::write_tensors(path, tensors);
  return {"tensors",
          ".safetensors",
          {read_file(path)},
          [](const fs::path& file) { runtime::read_tensors(file); },
          rounds};
}

Door token_door(const fs::path& scratch, int64_t rounds) {
  const fs::path path = scratch / "tokens.safetensors";
  models::codec::TokenFile tokens{.books = 4, .samples = 4000, .fingerprint = "codec"};
  for (int32_t i = 0; i < 40; ++i) tokens.codes.push_back(i);
  tokens.notes = {{.start_s = 0, .end_s = 0.2, .pitch = 60}};
  write_token_file(path, tokens);
  return {"tokens",
          ".safetensors",
          {read_file(path)},
          [](const fs::path& file) { models::codec::read_token_file(file); },
          rounds};
}

Door decay_door(const fs::path& scratch, int64_t rounds) {
  std::vector<float> row(models::humming::LateDecay::kTableColumns, -1);
  std::fill_n(row.begin(), 3, 60.0F);
  const std::vector<app::PresetDecay> decays = {
      {"harp", *models::humming::LateDecay::of_table(row)}};
  const fs::path weights = scratch / "weights-of-decays", folder = weights / "references";
  fs::create_directories(folder);
  app::write_decays(folder, decays);
  return {"decays",
          ".safetensors",
          {read_file(folder / "decays.safetensors")},
          [weights, folder](const fs::path& file) {
            fs::copy_file(file, folder / "decays.safetensors",
                          fs::copy_options::overwrite_existing);
            app::stored_decay(weights, data::find_preset("harp"));
          },
          rounds};
}

Door residual_door(const fs::path& scratch, int64_t rounds) {
  const std::vector<float> rows = {0, 60, 5, 0.25F, -0.5F, 3, 62, 8, 0.125F, 1};
  const auto residual = std::make_shared<const models::humming::Residual>(
      *models::humming::Residual::of_table(rows, 2));
  write_file(scratch / "violin.safetensors", "a reference");
  write_file(scratch / "flute.safetensors", "another one");
  const std::vector<app::PresetResidual> residuals = {{"violin", residual}, {"flute", residual}};
  app::write_residuals(scratch, "model", residuals);
  return {"residuals",
          ".safetensors",
          {read_file(scratch / "residuals.safetensors")},
          [](const fs::path& file) { app::read_residual(file, "violin", 2); },
          rounds};
}

// A door whose valid files are in the repository.
Door stored_door(const std::string& name, const std::string& extension,
                 const std::vector<std::string>& files, std::function<void(const fs::path&)> open,
                 int64_t rounds) {
  Door door{name, extension, {}, std::move(open), rounds};
  for (const auto& file : files) door.files.push_back(read_file(source_folder() / file));
  return door;
}

}  // namespace

std::vector<Door> all_doors(const fs::path& scratch) {
  std::vector<Door> doors;
  doors.push_back(sound_door(scratch, ".wav", 9000));
  doors.push_back(sound_door(scratch, ".flac", 3600));
  doors.push_back(sound_door(scratch, ".mp3", 3600));
#ifndef __SANITIZE_ADDRESS__  // libsndfile 1.2 leaks its Vorbis state on damaged headers
  doors.push_back(sound_door(scratch, ".ogg", 2400));
#endif
  doors.push_back(stem_door(3600));
  for (const char* extension : {".mid", ".csv", ".json"}) {
    doors.push_back(notes_door(scratch, extension, 18000));
  }
  doors.push_back(wad_door(18000));
  doors.push_back({"annotation",
                   ".csv",
                   {"0.5,220,0.25\n1.25,146.83,0\n2,440.5,1.5\n"},
                   [](const fs::path& file) { eval::read_annotation(file); },
                   18000});
  doors.push_back({"pitch curve",
                   ".csv",
                   {"0.0,0.0\n0.0058,220.5\n0.0116,-221\n"},
                   [](const fs::path& file) { eval::read_pitch_curve(file); },
                   3600});
  doors.push_back(
      {"answers",
       ".json",
       {R"({"test": "a1", "listener": "anna", "seed": 7, "date": "2026-11-25", "trials": [)"
        R"({"clip": "a", "seconds": 9, "scores": {"hidden reference": 98, "hum": 61.5}},)"
        R"({"clip": "b", "seconds": 8, "scores": {"hidden reference": 100}}]})"},
       [](const fs::path& file) { eval::read_answers(file); },
       18000});
  doors.push_back(tensor_door(scratch, 12000));
  doors.push_back(token_door(scratch, 12000));
  doors.push_back(residual_door(scratch, 12000));
  doors.push_back(decay_door(scratch, 4000));
  doors.push_back(stored_door(
      "configuration", ".yaml", {"configs/classifier.yaml", "configs/coarse.yaml"},
      [](const fs::path& file) { app::read_configuration(file); }, 3600));
  doors.push_back(stored_door(
      "hardware", ".yaml", {"hardware/devices.yaml"},
      [](const fs::path& file) { plan::Hardware hardware(file); }, 600));
  doors.push_back(stored_door(
      "plan", ".yaml",
      {"tests/data/planner/audit/humminglm.yaml", "tests/data/planner/audit/trn1_migration.yaml"},
      [](const fs::path& file) { plan::read_claims({file}); }, 6000));
  doors.push_back(stored_door(
      "script", ".sbatch", {"tests/data/planner/audit/consistent.sbatch"},
      [](const fs::path& file) { plan::read_claims({file}); }, 6000));
  doors.push_back(stored_door(
      "runs", ".csv", {"tests/data/planner/trn1_pretraining.csv"},
      [hardware = plan::Hardware()](const fs::path& file) {
        plan::read_campaign(file, hardware, "trn1");
      },
      6000));
  for (Door& door : service_doors(scratch)) doors.push_back(std::move(door));
  return doors;
}

}  // namespace hum::fuzz
