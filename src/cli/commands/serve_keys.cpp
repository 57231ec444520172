// hum serve add-key, list-keys and remove-key: the callers of a service.
#include <iostream>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "serve/access/keys.h"

namespace hum::cli {
namespace {

constexpr const char* kKeysHelp = "file of keys, as for hum serve";
constexpr const char* kJsonHelp = "print the result as JSON";

void require_file(const std::string& keys) {
  if (keys.empty()) fail(ExitCode::kUsage, "--keys is missing", "--keys FILE, as for hum serve");
}

struct AddArgs {
  std::string name, keys;
  serve::Quota quota = serve::kDefaultQuota;
  std::string bytes = format_bytes(serve::kDefaultQuota.bytes);
  bool replace = false, json = false;
  template <class V>
  void declare(V& v) {
    v.positional("name", name, "of the caller: letters a-z, digits, '.', '-' and '_'");
    v("keys", keys, std::string(kKeysHelp) + "; created if there is none");
    v("jobs", quota.jobs, "jobs that may wait or run at once; 0: no limit");
    v("seconds_per_hour", quota.seconds_per_hour,
      "seconds of sound that its jobs may make in an hour; 0: no limit");
    v("bytes", bytes, "uploads and results that it may keep, such as 2GB; 0: no limit");
    v("replace", replace, "give an existing key another token; its limits and jobs stay");
    v("json", json, kJsonHelp);
  }
};

int add(AddArgs& args) {
  require_file(args.keys);
  if (args.quota.jobs < 0 || !(args.quota.seconds_per_hour >= 0)) {
    fail(ExitCode::kUsage, "a limit of a key is not negative", "0 means that there is no limit");
  }
  args.quota.bytes = parse_bytes(args.bytes);
  if (args.replace && args.quota != serve::kDefaultQuota) {
    fail(ExitCode::kUsage, "--replace keeps the limits of the key",
         fmt::format("edit the line of '{}' in {}", args.name, args.keys));
  }
  const std::string token = args.replace ? serve::replace_token(args.keys, args.name)
                                         : serve::add_key(args.keys, args.name, args.quota);
  if (args.json) {
    print_json({{"name", args.name}, {"token", token}});
  } else {
    std::cout << token << '\n';
    std::cerr << "This is the only time that the token is shown.\n";
  }
  return 0;
}

struct ListArgs {
  std::string keys;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v("keys", keys, kKeysHelp);
    v("json", json, kJsonHelp);
  }
};

int list(ListArgs& args) {
  require_file(args.keys);
  Json all = Json::array();
  for (const serve::Key& key : serve::read_keys(args.keys)) {
    all.push_back({{"name", key.name},
                   {"jobs", key.quota.jobs},
                   {"seconds_per_hour", key.quota.seconds_per_hour},
                   {"bytes", key.quota.bytes}});
    if (!args.json) {
      std::cout << fmt::format("{}: {} jobs, {:.0f} s of sound an hour, {}\n", key.name,
                               key.quota.jobs, key.quota.seconds_per_hour,
                               format_bytes(key.quota.bytes));
    }
  }
  if (args.json) print_json(all);
  return 0;
}

struct RemoveArgs {
  std::string name, keys;
  template <class V>
  void declare(V& v) {
    v.positional("name", name, "of the caller");
    v("keys", keys, kKeysHelp);
  }
};

int remove(RemoveArgs& args) {
  require_file(args.keys);
  serve::remove_key(args.keys, args.name);
  return 0;
}

}  // namespace

const Command kServeAddKey = {"serve add-key", "make a key for a caller and print its token",
                              "hum serve add-key anna --keys keys.txt", make_command<AddArgs, add>};
const Command kServeListKeys = {"serve list-keys", "list the callers and their limits",
                                "hum serve list-keys --keys keys.txt",
                                make_command<ListArgs, list>};
const Command kServeRemoveKey = {
    "serve remove-key", "remove a caller's key; its jobs stay until they expire",
    "hum serve remove-key anna --keys keys.txt", make_command<RemoveArgs, remove>};

}  // namespace hum::cli
