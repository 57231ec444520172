#include "app/training/make_data.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/play/hearing.h"
#include "app/play/stored_decays.h"
#include "app/play/stored_residuals.h"
#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "app/stop.h"
#include "app/training/configuration.h"
#include "app/training/inputs.h"
#include "app/training/own_songs.h"
#include "base/atomic_folder.h"
#include "base/fields_json.h"
#include "base/files.h"
#include "base/folders.h"
#include "data/shards/make_items.h"
#include "data/singing/sung_shards.h"
#include "data/stems/stem_shards.h"
#include "models/codec/token_file.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVoices = "voices";

// A configuration of stems.
struct StemsFile {
  data::MakeStemsOptions stems;
  template <class V>
  void visit_fields(V& v) {
    v("stems", stems, "windows of stems");
  }
};

ProcessRank rank_of(const MakeItemsOptions& options) {
  if (options.rank < 0 && options.ranks == 0) return process_rank();
  if (options.rank < 0 || options.rank >= options.ranks) {
    fail(ExitCode::kUsage, fmt::format("rank {} of {} does not exist", options.rank, options.ranks),
         "give both, e.g. --rank 0 --ranks 2");
  }
  return {options.rank, options.ranks};
}

std::vector<const data::Preset*> presets_of(const fs::path& folder) {
  std::vector<const data::Preset*> presets;
  for (const auto& name : item_presets(folder)) presets.push_back(&data::find_preset(name));
  return presets;
}

// The weights that came with hum are only changed on request.
void require_named(const fs::path& weights, const fs::path& references) {
  const fs::path installed = data_folder() / "weights";
  if (!fs::exists(references) || real_path(weights) != real_path(installed)) return;
  fail(ExitCode::kUsage,
       fmt::format("this would replace the references of hum's own weights, {}",
                   references.string()),
       fmt::format("name the folder of weights to change: --weights {}", weights.string()));
}

// A configuration of voices: `voices:` in place of `items:`.
MadeItems make_voices(const MakeItemsOptions& options, const Json& config) {
  data::SungOptions made;
  from_json(config.at(kVoices), made);
  if (config.size() > 1 || !options.codec.empty()) {
    fail(ExitCode::kConfig,
         fmt::format("{}: voices have no other options and no codec", options.config),
         "put all options below voices:");
  }
  if (options.count > 0) made.count = options.count;
  if (options.threads > 0) made.threads = options.threads;
  const ProcessRank rank = rank_of(options);
  const bool is_whole = data::make_sung_items(with_runs_folder(options.output), made, rank,
                                              [] { return stop_signal() != 0; });
  return {stop_signal(), is_whole, made.count, rank};
}

// None if the weights' model that drafts belongs to another codec, as before its training.
std::vector<PresetResidual> draft_residuals(const Synthesizer& synthesizer,
                                            std::span<const data::Preset* const> presets,
                                            std::span<const models::codec::TokenFile> references) {
  std::vector<PresetResidual> residuals;
  for (size_t i = 0; i < presets.size(); ++i) {
    if (!synthesizer.reads(references[i])) return {};
    auto residual = synthesizer.residual(synthesizer.stored_timbre(references[i]));
    if (residual) residuals.push_back({std::string(presets[i]->name), std::move(residual)});
  }
  return residuals;
}

void validate(const MakeItemsOptions& options) {
  if (options.count < 0) {
    fail(ExitCode::kUsage, "--count must not be negative",
         "0 makes as many items as the configuration says");
  }
  if (options.threads < 0) {
    fail(ExitCode::kUsage, "--threads must not be negative", "0 uses as many as hum computes with");
  }
}

}  // namespace

MadeItems make_items(const MakeItemsOptions& options) {
  validate(options);
  Json config = Json::object();
  data::MakeOptions made;
  if (!options.config.empty()) {
    const ErrorContext context([&] { return "reading " + options.config; });
    config = read_yaml(configuration_path(options.config));
    if (!config.contains(kVoices)) from_json(config, made);
  }
  if (config.contains(kVoices)) return make_voices(options, config);
  if (options.count > 0) made.count = options.count;
  if (options.threads > 0) made.threads = options.threads;
  if (!options.codec.empty()) made.codec = options.codec;
  const ProcessRank rank = rank_of(options);
  runtime::Session session(session_options());
  data::MakeTools tools{.rank = rank, .should_stop = [] { return stop_signal() != 0; }};
  // Reads the melody as generation does from a hum.
  const fs::path weights = weights_folder("");
  tools.transcriber = [hear = item_hear_function(session, weights)](std::span<const float> hum) {
    return hear(hum).notes;
  };
  tools.heard_by = item_heard_by(weights);
  std::optional<models::codec::CodecSession> codec;
  if (!made.codec.empty()) tools.encoder = token_encoder(codec.emplace(session, made.codec));
  const bool is_whole = data::make_items(with_runs_folder(options.output), made, tools);
  return {stop_signal(), is_whole, made.count, rank};
}

MadeItems make_stems(const MakeItemsOptions& options) {
  validate(options);
  data::MakeStemsOptions made;
  if (!options.config.empty()) {
    const ErrorContext context([&] { return "reading " + options.config; });
    StemsFile file;
    from_json(read_yaml(configuration_path(options.config)), file);
    made = file.stems;
  }
  if (options.count > 0) made.count = options.count;
  if (options.threads > 0) made.threads = options.threads;
  const ProcessRank rank = rank_of(options);
  const bool is_whole = data::make_stems(with_runs_folder(options.output), made, compose_song, rank,
                                         [] { return stop_signal() != 0; });
  return {stop_signal(), is_whole, made.count, rank};
}

MadeReferences make_references(const std::string& weights_flag, const std::string& data) {
  const fs::path weights = weights_folder(weights_flag), folder = weights / "references";
  if (weights_flag.empty()) require_named(weights, folder);
  require_writable(weights / "references.probe");
  std::optional<EndsAtOnce> nothing_written(std::in_place);
  runtime::Session session(session_options());
  Synthesizer synthesizer(session, weights);
  const auto presets = data.empty() ? data::training_presets() : presets_of(data);
  data::FluidRenderer renderer;
  std::vector<models::codec::TokenFile> tokens;
  std::vector<PresetDecay> decays;
  for (const data::Preset* preset : presets) {
    tokens.push_back(reference_tokens(*preset, renderer, synthesizer.codec()));
    decays.push_back({std::string(preset->name), preset_decay(*preset, renderer)});
  }
  std::vector<PresetResidual> residuals;
  const auto drafter = drafter_sha256(weights);
  if (drafter) residuals = draft_residuals(synthesizer, presets, tokens);
  nothing_written.reset();
  // Replaces the folder: no reference of another codec remains, nor residuals of other references.
  AtomicFolder references(folder);
  for (size_t i = 0; i < presets.size(); ++i) {
    models::codec::write_token_file(
        references.temporary_path() / (std::string(presets[i]->name) + ".safetensors"), tokens[i]);
  }
  write_decays(references.temporary_path(), decays);
  if (!residuals.empty()) write_residuals(references.temporary_path(), *drafter, residuals);
  references.commit();
  return {folder.string(), presets.size(), residuals.size()};
}

}  // namespace hum::app
