// Every stored golden file says how it was made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/folders.h"
#include "base/json.h"

namespace hum::parity {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// {"tool": a file of tools/golden, "seed": ..., versions of Python and at least one package}, or
// the same in words: "tools/golden/x.py, numpy 2.4.6".
void expect_maker(const fs::path& file) {
  const Json content = read_json(file);
  ASSERT_TRUE(content.is_object() && content.contains("made_by")) << file << " has no made_by";
  const Json& maker = content.at("made_by");
  if (maker.is_string()) {
    const auto words = maker.get<std::string>();
    EXPECT_TRUE(fs::exists(source_folder() / words.substr(0, words.find(',')))) << file;
    EXPECT_THAT(words, ::testing::ContainsRegex(", .* [0-9]+[.]")) << file << ": no version";
    return;
  }
  const auto tool = maker.value("tool", "");
  EXPECT_TRUE(tool.starts_with("tools/golden/") && fs::exists(source_folder() / tool))
      << file << ": no tool " << tool;
  EXPECT_TRUE(maker.contains("seed")) << file;
  EXPECT_TRUE(maker.contains("python")) << file;
  EXPECT_GE(maker.size(), 4U) << file << " names no package's version";
}

// Other files cannot hold it: the README beside them names file and tool, one row for several files
// of a kind (`<name>.ext`) or for a whole folder (`folder/`).
void expect_row_in_readme(const fs::path& file) {
  const fs::path folder = file.parent_path();
  if (!fs::exists(folder / "README.md")) {
    ASSERT_TRUE(fs::exists(folder.parent_path() / "README.md")) << file;
    EXPECT_THAT(read_file(folder.parent_path() / "README.md"),
                HasSubstr("`" + folder.filename().string() + "/`"));
    return;
  }
  EXPECT_THAT(read_file(folder / "README.md"),
              AnyOf(HasSubstr("`" + file.filename().string() + "`"),
                    HasSubstr("`<name>" + file.extension().string() + "`")))
      << file;
}

// Whether the files of a folder are described one by one.
bool is_described(const fs::path& file) { return fs::exists(file.parent_path() / "README.md"); }

TEST(GoldenFiles, NameTheirToolVersionsAndSeed) {
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source_folder() / "tests/data")) {
    const fs::path& file = entry.path();
    if (!entry.is_regular_file() || file.filename() == "README.md") continue;
    ++files;
    if (file.extension() == ".json" && is_described(file)) expect_maker(file);
    expect_row_in_readme(file);
  }
  EXPECT_GT(files, 10U);
}

TEST(GoldenFiles, HaveReadmesThatNameToolsThatExist) {
  for (const auto& entry : fs::directory_iterator(source_folder() / "tests/data")) {
    if (!entry.is_directory()) continue;
    const std::string text = read_file(entry.path() / "README.md");
    size_t tools = 0;
    for (size_t at = text.find("tools/golden/"); at != text.npos;
         at = text.find("tools/golden/", at + 1)) {
      const std::string tool = text.substr(at, text.find_first_of("`, ", at) - at);
      EXPECT_TRUE(fs::exists(source_folder() / tool)) << entry.path() << ": " << tool;
      ++tools;
    }
    // Measurements that others published have a source instead.
    const bool is_published = text.find("Published by others") != std::string::npos;
    EXPECT_TRUE(tools > 0 || is_published) << entry.path();
  }
}

}  // namespace
}  // namespace hum::parity
