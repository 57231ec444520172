// Turns the parser's complaints into errors that name the real fault and the nearest name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace hum::cli {

// Throws kUsage for what the parser found wrong in `arguments`. `root`: after parsing.
[[noreturn]] void fail_usage(const CLI::App& root, const std::vector<std::string>& arguments,
                             const CLI::ParseError& error);

// Throws kUsage for values that the parser accepts although nobody means them: a flag where the
// flag before it needs a value ("-o --midi x.mid"; a file of such a name is ./--midi), and a whole
// number that does not fit in 64 bits.
void refuse_misread_values(const CLI::App& root);

// Throws kUsage if more than --version was given.
void refuse_words_beside_version(const CLI::App& root);

// Throws kUsage if the arguments name a command that does not exist. Help that was asked for would
// otherwise hide it.
void refuse_unknown_commands(const CLI::App& root, const std::vector<std::string>& arguments);

}  // namespace hum::cli
