// Tests of the help for misspelled names, of the hint that every error has, and of text files.
#include "base/names.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"

namespace hum {
namespace {

using ::testing::HasSubstr;

TEST(LikelyName, IsTheNearestOfThoseThatAreNearEnough) {
  const std::vector<std::string> names = {"generate", "notes", "train", "model check", "env"};
  EXPECT_EQ(likely_name("genrate", names), "generate");
  EXPECT_EQ(likely_name("trian", names), "train");  // swapped letters
  EXPECT_EQ(likely_name("evn", names), "env");
  EXPECT_EQ(likely_name("check", names), "model check");
  EXPECT_EQ(likely_name("foo", names), std::nullopt);
  EXPECT_EQ(likely_name("n", names), std::nullopt);
  EXPECT_EQ(likely_name("notes", {}), std::nullopt);
}

TEST(NameDistance, CountsEditsAndPrefersNamesThatContainTheWord) {
  EXPECT_EQ(name_distance("violine", "violin"), 1);
  EXPECT_EQ(name_distance("", "abc"), 3 - 100);
  EXPECT_EQ(name_distance("kitten", "sitting"), 3);
  EXPECT_EQ(nearest_names("sax", {"harp", "alto_sax", "max"}, 1).front(), "alto_sax");
}

TEST(Counted, HasAPluralForAllButOne) {
  EXPECT_EQ(counted(0, "note"), "0 notes");
  EXPECT_EQ(counted(1, "note"), "1 note");
  EXPECT_EQ(counted(2, "note"), "2 notes");
}

TEST(Error, HasTheUsualHintOfItsCodeIfTheThrowerGivesNone) {
  for (const int code : {1, 2, 65, 66, 69, 73, 75, 77, 78}) {
    const Error error(static_cast<ExitCode>(code), "wrong", "");
    EXPECT_FALSE(error.hint().empty()) << code;
    EXPECT_EQ(error.what(), "wrong\nhint: " + error.hint());
  }
}

TEST(ReadText, NamesTheLineThatIsNotUtf8) {
  const ScratchFolder folder;
  const std::string path = folder / "text";
  const auto message = [&](const std::string& text) -> std::string {
    write_file(path, text);
    try {
      return read_text(path) == text ? "" : "changed";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadData);
      return error.message();
    }
  };
  for (const char* valid : {"", "plain\n", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8e\xb5",
                            "\xef\xbb\xbfwith a mark", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(message(valid), "");
  }
  EXPECT_THAT(message("one\ncaf\xe9\n"), HasSubstr("text:2: not UTF-8 text"));
  for (const char* invalid : {"\xff", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                              "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\x80"}) {
    EXPECT_THAT(message(invalid), HasSubstr("text:1: not UTF-8 text"));
  }
}

}  // namespace
}  // namespace hum
