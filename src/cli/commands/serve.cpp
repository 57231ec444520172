// hum serve: the service with its page and its API.
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/background_log.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "serve/service.h"

namespace hum::cli {
namespace {

struct Args {
  serve::ServiceOptions options;
  bool json = false;
  template <class V>
  void declare(V& v) {
    options.visit_fields(v);
    v("json", json, "print the address as JSON");
  }
};

std::string text_of(const serve::Listening& listening, bool is_json) {
  if (is_json) {
    Json line = {{"url", listening.url}, {"port", listening.port}};
    if (!listening.metrics_url.empty()) line["metrics"] = listening.metrics_url;
    if (!listening.fingerprint.empty()) line["fingerprint"] = listening.fingerprint;
    return to_text(line) + '\n';
  }
  std::string text = fmt::format("hum serves on {}\n", listening.url);
  if (listening.fingerprint.empty()) return text;
  return text + fmt::format("SHA-256 fingerprint of its certificate: {}\n", listening.fingerprint);
}

int run(Args& args) {
  serve::run_service(args.options, [&](const serve::Listening& listening) {
    const int error = write_in_background(STDOUT_FILENO, text_of(listening, args.json));
    if (error == 0) return;
    fail(ExitCode::kCannotCreate,
         fmt::format("the address cannot be written to stdout: {}", std::strerror(error)),
         "check that stdout is open and its disk is not full");
  });
  return 0;
}

}  // namespace

const Command kServe = {"serve", "a page and an API that turn hums into instruments", "hum serve",
                        make_command<Args, run>};

}  // namespace hum::cli
