// All commands as a tree of CLI11's parsers: "codec encode" is the subcommand "encode" of "codec".
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "cli/command.h"
#include "cli/outline.h"

namespace hum::cli {

struct CommandTree {
  CLI::App app;
  std::map<const CLI::App*, std::unique_ptr<Invocation>> invocations;
};

std::unique_ptr<CommandTree> make_command_tree();

// `name`: with those of the commands above it, "hum codec encode".
CommandOutline outline_of(const CLI::App& app, const std::string& name);

}  // namespace hum::cli
