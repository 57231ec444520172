// hum data references: stores the presets' timbre references as codec tokens beside the weights,
// and what the models miss of them.
#include <iostream>

#include "app/training/make_data.h"
#include "base/error.h"
#include "base/names.h"
#include "cli/commands/commands.h"

namespace hum::cli {
namespace {

struct Args {
  std::string weights, data;
  template <class V>
  void declare(V& v) {
    v("weights", weights,
      "folder of weights; reads its codec/ and the model that drafts, writes its references/ "
      "(default: HUM_WEIGHTS; the installed weights/ must be named)");
    v("data", data, "folder of items whose presets get references (default: all training presets)");
  }
};

int run(Args& args) {
  const auto made = app::make_references(args.weights, args.data);
  std::cout << fmt::format("{}: {}{}\n", made.folder, counted(made.presets, "preset"),
                           made.residuals > 0 ? ", with residuals" : "");
  return 0;
}

}  // namespace

const Command kDataReferences = {"data references",
                                 "store the presets' timbre references as codec tokens",
                                 "hum data references --weights weights", make_command<Args, run>};

}  // namespace hum::cli
