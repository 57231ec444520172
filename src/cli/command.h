// What a command is: a name, help, an Args struct whose visit_fields gives its flags, and a
// function to run.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/fields.h"

namespace hum::cli {

// A parsed command, ready to run. Returns the process's exit code.
class Invocation {
 public:
  virtual ~Invocation() = default;
  virtual void declare(CLI::App& app) = 0;
  virtual int run() = 0;
};

struct Command {
  std::string_view name;     // "notes", "train codec"
  std::string_view summary;  // one line
  std::string_view example;  // what a user would type
  std::unique_ptr<Invocation> (*make)();
};

// Every command, in the order that help shows them (commands.cpp).
std::span<const Command> commands();
// What the commands of a group ("train codec", "train voice") have in common, in one line.
std::string_view group_summary(std::string_view group);

// Flags of an Args struct: "minimum_note_length" becomes --minimum-note-length; bools become --x
// and
// --no-x; structs inside become --outer.inner.
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
      app_.add_option_function<std::string>(
              "--" + flag,
              [&value, flag](const std::string& text) {
                try {
                  value = from_name<T>(text);
                } catch (const Error& error) {
                  throw CLI::ValidationError("--" + flag, error.message());
                }
              },
              std::string(help))
          ->type_name(names)
          ->default_str(std::string(to_name(value)));
    } else {
      app_.add_option("--" + flag, value, std::string(help))->capture_default_str();
    }
  }
  // An argument without a flag.
  template <typename T>
  void positional(std::string_view name, T& value, std::string_view help, bool required = true) {
    app_.add_option(std::string(name), value, std::string(help))->required(required);
  }
  // Everything from the first word that is no flag of this command on, as it stands.
  void rest(std::vector<std::string>& words) {
    app_.prefix_command();
    app_.final_callback([app = &app_, &words] { words = app->remaining(); });
  }
  // A one-letter form beside the flag: v.short_flag('o', "output", ...).
  template <typename T>
  void short_flag(char letter, std::string_view name, T& value, std::string_view help) {
    app_.add_option(fmt::format("-{},--{}{}", letter, prefix_, dashed(name)), value,
                    std::string(help))
        ->capture_default_str();
  }

 private:
  static std::string dashed(std::string_view name) {
    std::string text(name);
    for (char& c : text) c = c == '_' ? '-' : c;
    return text;
  }
  // --x and --no-x. Help shows the one that changes something.
  void add_switch(const std::string& flag, bool& value, const std::string& help) {
    CLI::Option* on = app_.add_flag_callback(
        "--" + flag, [&value] { value = true; }, help);
    CLI::Option* off = app_.add_flag_callback(
        "--no-" + flag, [&value] { value = false; }, "turn off: " + help);
    (value ? on : off)->group("");
  }
  CLI::App& app_;
  std::string prefix_;
};

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
