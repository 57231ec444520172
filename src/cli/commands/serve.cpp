// hum serve: the service with its page and its API.
#include <iostream>

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

int run(Args& args) {
  serve::run_service(args.options, [&](const serve::Listening& listening) {
    if (args.json) {
      Json line = {{"url", listening.url}, {"port", listening.port}};
      if (!listening.metrics_url.empty()) line["metrics"] = listening.metrics_url;
      if (!listening.fingerprint.empty()) line["fingerprint"] = listening.fingerprint;
      print_json(line);
    } else {
      std::cout << "hum serves on " << listening.url << '\n';
      if (!listening.fingerprint.empty()) {
        std::cout << "SHA-256 fingerprint of its certificate: " << listening.fingerprint << '\n';
      }
    }
    if (!std::cout.flush()) {
      fail(ExitCode::kCannotCreate, "the address cannot be written to stdout",
           "check that stdout is open and its disk is not full");
    }
  });
  return 0;
}

}  // namespace

const Command kServe = {"serve", "a page and an API that turn hums into instruments", "hum serve",
                        make_command<Args, run>};

}  // namespace hum::cli
