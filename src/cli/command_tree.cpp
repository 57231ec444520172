#include "cli/command_tree.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/error.h"
#include "base/folders.h"
#include "cli/help.h"
#include "pjrt/find_plugin.h"

namespace hum::cli {
namespace {

constexpr std::string_view kFirstCommand =
    "hum generate examples/vocadito_10.wav --preset violin -o violin.wav";

// What help and errors call the value of a flag.
template <typename T>
constexpr std::string_view kValueName = kText;
template <>
constexpr std::string_view kValueName<int64_t> = kWholeNumber;
template <>
constexpr std::string_view kValueName<double> = kNumber;
template <>
constexpr std::string_view kValueName<std::vector<int64_t>> = kWholeNumber;
template <>
constexpr std::string_view kValueName<std::vector<double>> = kNumber;

CLI::App& add_subcommand(CLI::App& parent, const std::string& name, const std::string& summary) {
  CLI::App& app = *parent.add_subcommand(name, summary);
  app.get_option("--help")->group(std::string(kCommonFlags));
  app.get_option("--help-all")
      ->description("print this help with the flags for research")
      ->group(std::string(kCommonFlags));
  return app;
}

CLI::App& subcommand(CLI::App& root, std::string_view path, const std::string& summary) {
  const auto space = path.find(' ');
  if (space == std::string_view::npos) return add_subcommand(root, std::string(path), summary);
  const std::string group(path.substr(0, space));
  const auto existing =
      root.get_subcommands([&](CLI::App* app) { return app->get_name() == group; });
  CLI::App* parent = existing.empty() ? nullptr : existing.front();
  if (parent == nullptr) {
    parent = &add_subcommand(root, group, std::string(group_summary(group)));
    parent->require_subcommand(1);
    parent->footer("Run 'hum " + group + " COMMAND --help' for details.");
  }
  return subcommand(*parent, path.substr(space + 1), summary);
}

// Sets the device of every session that the command opens, and of the processes that it starts.
void choose_device(const std::string& device) {
  ::setenv("HUM_PLUGIN", pjrt::find_plugin(device).c_str(), /*overwrite=*/1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string in_capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// A command line whose recording exists: in an installation it names the whole path.
std::string with_typed_paths(std::string example) {
  constexpr std::string_view kFolder = "examples/";
  const size_t at = example.find(kFolder);
  if (at == std::string::npos) return example;
  return example.replace(at, kFolder.size(), typed_data_path(std::string(kFolder)));
}

FlagOutline flag_outline(const CLI::App& app, const CLI::Option& option) {
  FlagOutline flag;
  flag.is_positional = option.get_positional();
  flag.is_required = option.get_required();
  flag.takes_several = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  flag.help = option.get_description();
  flag.group = option.get_group();
  const std::string name = option.get_name(flag.is_positional);
  flag.name = flag.is_positional ? in_capitals(name) : name;
  if (!option.get_snames().empty()) flag.letter = "-" + option.get_snames().front();
  if (flag.is_positional) return flag;
  if (option.get_items_expected_max() == 0) {
    const std::string on = name.starts_with("--no-") ? "--" + name.substr(5) : "";
    if (on.empty() || app.get_option_no_throw(on) == nullptr) return flag;
    flag.name = on;
    flag.off = name;
    return flag;
  }
  flag.value = option.get_type_name();
  if (flag.value.find('|') != std::string::npos) flag.choices = split(flag.value, '|');
  const std::string value = option.get_default_str();
  const bool is_list = value.starts_with('[') && value.ends_with(']');
  flag.default_value = is_list ? value.substr(1, value.size() - 2) : value;
  return flag;
}

void declare_common_flags(CLI::App& root) {
  root.option_defaults()->group(std::string(kFlags));
  root.formatter_fn([](const CLI::App* app, const std::string& name, CLI::AppFormatMode mode) {
    return help_text(outline_of(*app, name), mode == CLI::AppFormatMode::All);
  });
  root.set_help_flag("-h,--help", "print this help")->group(std::string(kCommonFlags));
  root.set_help_all_flag("--help-all", "print the help of all commands, with all flags")
      ->group(std::string(kCommonFlags));
  root.set_version_flag("-V,--version", "hum " HUM_VERSION, "print the version")
      ->group(std::string(kCommonFlags));
  root.add_option_function<std::string>(
          "--device", [](const std::string& device) { choose_device(device); },
          pjrt::known_devices() + ", or the path of a PJRT plugin (default: HUM_PLUGIN, else cpu)")
      ->type_name("DEVICE")
      ->group(std::string(kCommonFlags));
}

}  // namespace

std::string FlagVisitor::dashed(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c == '_' ? '-' : c;
  return text;
}

template <typename T>
void FlagVisitor::add_option(const std::string& flags, T& value, std::string_view help) {
  app_.add_option(flags, value, std::string(help))
      ->type_name(std::string(kValueName<T>))
      ->capture_default_str();
}

template <typename T>
void FlagVisitor::add_positional(const std::string& name, T& value, std::string_view help,
                                 bool required) {
  app_.add_option(name, value, std::string(help))->required(required);
}

void FlagVisitor::rest(std::vector<std::string>& words) {
  app_.prefix_command();
  app_.final_callback([app = &app_, &words] { words = app->remaining(); });
}

void FlagVisitor::add_switch(const std::string& flag, bool& value, const std::string& help) {
  CLI::Option* on = app_.add_flag_callback(
      "--" + flag, [&value] { value = true; }, help);
  CLI::Option* off = app_.add_flag_callback(
      "--no-" + flag, [&value] { value = false; }, help);
  for (CLI::Option* option : {on, off}) option->disable_flag_override();  // --x=3
  on->excludes(off);
  (value ? on : off)->group("");
}

void FlagVisitor::old_switch(std::string_view name, bool& value) {
  const std::string flag = prefix_ + dashed(name);
  add_switch(flag, value, "");
  for (const char* dashes : {"--", "--no-"}) app_.get_option(dashes + flag)->group("");
}

void FlagVisitor::takes_preset(std::string_view name) {
  app_.get_option("--" + prefix_ + dashed(name))->type_name(std::string(kPreset));
}

void FlagVisitor::add_choice(const std::string& flag, const std::string& names,
                             const std::string& chosen, const std::string& help,
                             std::function<void(const std::string&)> choose) {
  app_.add_option_function<std::string>("--" + flag, std::move(choose), help)
      ->type_name(names)
      ->default_str(chosen);
}

void FlagVisitor::group(std::string_view title, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const std::string flag = prefix_ + dashed(name);
    HUM_CHECK(app_.get_option_no_throw("--" + flag) != nullptr, "no flag --{}", flag);
    for (const char* dashes : {"--", "--no-"}) {
      CLI::Option* option = app_.get_option_no_throw(dashes + flag);
      const bool is_shown = option != nullptr && !option->get_group().empty();
      if (is_shown) option->group(std::string(title));
    }
  }
}

void FlagVisitor::research(std::initializer_list<std::string_view> names) {
  group(kResearchFlags, names);
}

void require_one_on_stdout(std::string_view flag, bool is_set, bool has_json) {
  if (!is_set || !has_json) return;
  fail(ExitCode::kUsage, fmt::format("{} and --json both write to stdout", flag),
       "leave one of them out");
}

#define HUM_FIELD_TYPE(T)                                                             \
  template void FlagVisitor::add_option<T>(const std::string&, T&, std::string_view); \
  template void FlagVisitor::add_positional<T>(const std::string&, T&, std::string_view, bool)
HUM_FIELD_TYPE(int64_t);
HUM_FIELD_TYPE(double);
HUM_FIELD_TYPE(std::string);
HUM_FIELD_TYPE(std::vector<int64_t>);
HUM_FIELD_TYPE(std::vector<double>);
HUM_FIELD_TYPE(std::vector<std::string>);
#undef HUM_FIELD_TYPE

std::unique_ptr<CommandTree> make_command_tree() {
  auto tree = std::make_unique<CommandTree>();
  CLI::App& root = tree->app;
  root.name("hum");
  root.description("hum a melody, get it back on the instrument of your choice");
  root.require_subcommand(1);
  root.footer("Start with:\n  " + with_typed_paths(std::string(kFirstCommand)));
  declare_common_flags(root);
  for (const Command& command : commands()) {
    CLI::App& sub = subcommand(root, command.name, std::string(command.summary));
    sub.footer("Example:\n  " + with_typed_paths(std::string(command.example)));
    auto invocation = command.make();
    invocation->declare(sub);
    // --device may follow the command, but not among the words of a command that it runs (profile).
    if (!sub.get_prefix_command()) sub.fallthrough();
    tree->invocations.emplace(&sub, std::move(invocation));
  }
  return tree;
}

CommandOutline outline_of(const CLI::App& app, const std::string& name) {
  CommandOutline command{.name = name,
                         .summary = app.get_description(),
                         .footer = app.get_footer(),
                         .needs_command = app.get_require_subcommand_min() > 0};
  const auto shown = [](const CLI::Option* option) { return !option->get_group().empty(); };
  for (const CLI::Option* option : app.get_options(shown)) {
    command.flags.push_back(flag_outline(app, *option));
  }
  if (app.get_fallthrough()) {
    const CLI::App* root = app.get_parent();
    while (root->get_parent() != nullptr) root = root->get_parent();
    command.flags.push_back(flag_outline(*root, *root->get_option("--device")));
  }
  const auto is_research = [](const FlagOutline& flag) { return flag.group == kResearchFlags; };
  if (app.get_parent() != nullptr && std::ranges::none_of(command.flags, is_research)) {
    std::erase_if(command.flags, [](const FlagOutline& flag) { return flag.name == "--help-all"; });
  }
  std::ranges::stable_partition(command.flags, &FlagOutline::is_positional);
  for (const CLI::App* below : app.get_subcommands({})) {
    command.commands.push_back(outline_of(*below, name + " " + below->get_name()));
  }
  return command;
}

CommandOutline program_outline() { return outline_of(make_command_tree()->app, "hum"); }

}  // namespace hum::cli
