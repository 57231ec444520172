// hum data references: the presets' timbre references, as codec tokens beside the weights.
#include <iostream>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "app/training/inputs.h"
#include "base/atomic_folder.h"
#include "cli/commands/commands.h"
#include "models/codec/token_file.h"
#include "models/weights_folder.h"

namespace hum::cli {
namespace {

namespace fs = std::filesystem;

struct ReferencesArgs {
  std::string weights, data;
  template <class V>
  void declare(V& v) {
    v("weights", weights, "folder of weights that holds codec/ and gets references/");
    v("data", data,
      "training items: their presets get references, instead of all training presets");
  }
};

std::vector<const data::Preset*> presets_of(const fs::path& folder) {
  std::vector<const data::Preset*> presets;
  for (const auto& name : app::item_presets(folder)) presets.push_back(&data::find_preset(name));
  return presets;
}

int references(ReferencesArgs& args) {
  const fs::path weights = app::weights_folder(args.weights), folder = weights / "references";
  runtime::Session session(app::session_options());
  const models::codec::CodecSession codec(session, models::weights_part(weights, "codec"));
  AtomicFolder references(folder);  // none of another codec stays
  const auto presets = args.data.empty() ? data::training_presets() : presets_of(args.data);
  data::FluidRenderer renderer;
  for (const data::Preset* preset : presets) {
    const auto samples = app::render_reference(*preset, renderer);
    models::codec::write_token_file(
        references.temporary_path() / (std::string(preset->name) + ".safetensors"),
        {.codes = codec.encode(samples),
         .books = codec.config().quantizer.books,
         .samples = static_cast<int64_t>(samples.size()),
         .fingerprint = codec.fingerprint()});
  }
  references.commit();
  std::cout << fmt::format("{}: {} presets\n", folder.string(), presets.size());
  return 0;
}

}  // namespace

const Command kDataReferences = {
    "data references", "store the presets' timbre references as codec tokens",
    "hum data references --weights weights", make_command<ReferencesArgs, references>};

}  // namespace hum::cli
