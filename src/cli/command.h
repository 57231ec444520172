// A command has a name, a help text, an Args struct whose declare() adds its flags, and a function
// to run. Commands do not include CLI11, which takes longer to compile than most of them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/names.h"

namespace CLI {
class App;
}

namespace hum::cli {

// A parsed command, ready to run. Returns the process's exit code.
class Invocation {
 public:
  virtual ~Invocation() = default;
  virtual void declare(CLI::App& app) = 0;
  virtual int run() = 0;
};

struct Command {
  std::string_view name;     // "notes", "codec encode"
  std::string_view summary;  // one line
  std::string_view example;  // what a user would type
  std::unique_ptr<Invocation> (*make)();
};

// Every command, in the order that help shows them (commands.cpp).
std::span<const Command> commands();
// The one-line summary of a group of commands ("codec encode", "codec decode").
std::string_view group_summary(std::string_view group);

// Declares the flags of an Args struct: "minimum_note_length" becomes --minimum-note-length, a bool
// becomes --x and --no-x, and the fields of a nested struct become --outer.inner. A field type
// without an instance of add_option (dispatch.cpp) fails to link.
class FlagVisitor {
 public:
  explicit FlagVisitor(CLI::App& app, std::string prefix = "")
      : app_(app), prefix_(std::move(prefix)) {}

  template <typename T>
  void operator()(std::string_view name, T& value, std::string_view help) {
    const std::string flag = prefix_ + dashed(name);
    if constexpr (Fields<T>) {
      FlagVisitor inner(app_, flag + ".");
      value.visit_fields(inner);
    } else if constexpr (std::is_same_v<T, bool>) {
      add_switch(flag, value, std::string(help));
    } else if constexpr (NamedEnum<T>) {
      std::string names;
      for (const auto& entry : enum_names(T{}))
        names += (names.empty() ? "" : "|") + std::string(entry.second);
      add_choice(flag, names, std::string(to_name(value)), std::string(help),
                 [&value, flag](const std::string& text) {
                   value = parse_name<T>(text, ExitCode::kUsage, "--" + flag);
                 });
    } else {
      add_option("--" + flag, value, help);
    }
  }
  // Accepts an earlier spelling of a switch. Help does not show it.
  void old_switch(std::string_view name, bool& value);
  // Shows flags, already declared, under this title of the help.
  void group(std::string_view title, std::initializer_list<std::string_view> names);
  // Shows them only with --help-all.
  void research(std::initializer_list<std::string_view> names);
  // Declares a positional argument.
  template <typename T>
  void positional(std::string_view name, T& value, std::string_view help, bool required = true) {
    add_positional(std::string(name), value, help, required);
  }
  // Says that the value of a flag, already declared, is the name of an instrument.
  void takes_preset(std::string_view name);
  // Collects all words from the first one that is not a flag of this command, unchanged.
  void rest(std::vector<std::string>& words);
  // Declares a flag with a one-letter form: v.short_flag('o', "output", ...).
  template <typename T>
  void short_flag(char letter, std::string_view name, T& value, std::string_view help) {
    add_option(fmt::format("-{},--{}{}", letter, prefix_, dashed(name)), value, help);
  }

 private:
  static std::string dashed(std::string_view name);
  template <typename T>
  void add_option(const std::string& flags, T& value, std::string_view help);
  template <typename T>
  void add_positional(const std::string& name, T& value, std::string_view help, bool required);
  // Declares --x and --no-x. Help shows the one that changes the default.
  void add_switch(const std::string& flag, bool& value, const std::string& help);
  void add_choice(const std::string& flag, const std::string& names, const std::string& chosen,
                  const std::string& help, std::function<void(const std::string&)> choose);

  CLI::App& app_;
  std::string prefix_;
};

// Throws kUsage if both --json and `flag`, which is then set, write to stdout.
void require_one_on_stdout(std::string_view flag, bool is_set, bool has_json);

template <typename Args, int (*Run)(Args&)>
std::unique_ptr<Invocation> make_command() {
  class Typed : public Invocation {
   public:
    void declare(CLI::App& app) override {
      FlagVisitor visitor(app);
      args_.declare(visitor);
    }
    int run() override { return Run(args_); }

   private:
    Args args_;
  };
  return std::make_unique<Typed>();
}

}  // namespace hum::cli
