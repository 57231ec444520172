// Files of codec tokens with and without notes.
#include "models/codec/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/safetensors.h"
#include "base/scratch_folder.h"

namespace hum::models::codec {
namespace {

const TokenFile kTokens{.codes = {1, 2, 3, 4, 5, 6},
                        .books = 2,
                        .samples = 1300,
                        .fingerprint = "abc",
                        .notes = {{.start_s = 0, .end_s = 0.04, .pitch = 60, .amplitude = 0.5},
                                  {.start_s = 0.04, .end_s = 0.06, .pitch = 64}}};

class TokenFiles : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_ / name; }
  // Changes the notes of a valid file and returns what reading it says.
  std::string fault_of(const std::string& notes) {
    write_token_file(path("a.safetensors"), kTokens);
    const auto file = SafetensorsFile::read(path("a.safetensors"));
    auto metadata = file.metadata();
    metadata["notes"] = notes;
    write_safetensors(path("b.safetensors"), file.tensors(), metadata);
    try {
      read_token_file(path("b.safetensors"));
    } catch (const Error& error) {
      return error.code() == ExitCode::kBadData ? error.message() : "another code";
    }
    return "";
  }
  ScratchFolder scratch_;
};

TEST_F(TokenFiles, KeepTheNotesOfTheirSound) {
  write_token_file(path("a.safetensors"), kTokens);
  const auto read = read_token_file(path("a.safetensors"));
  EXPECT_EQ(read.codes, kTokens.codes);
  EXPECT_EQ(read.samples, 1300);
  EXPECT_EQ(read.notes, kTokens.notes);
}

TEST_F(TokenFiles, WithoutNotesAreRead) {
  TokenFile tokens = kTokens;
  tokens.notes.clear();
  write_token_file(path("a.safetensors"), tokens);
  EXPECT_FALSE(SafetensorsFile::read(path("a.safetensors")).metadata().contains("notes"));
  EXPECT_TRUE(read_token_file(path("a.safetensors")).notes.empty());
}

TEST_F(TokenFiles, ThatAreSoundsAreRefusedWithTheWayToTokens) {
  for (const std::string bytes : {"", "RIFF", "RIFF....WAVEfmt "}) {
    write_file(path("a.wav"), bytes);
    try {
      read_token_file(path("a.wav"));
      FAIL() << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadData);
      EXPECT_THAT(error.hint(), testing::HasSubstr("hum codec encode"));
    }
  }
}

TEST_F(TokenFiles, RefuseNotesThatAreNone) {
  EXPECT_EQ(fault_of("[]"), "");
  for (const char* notes :
       {"[", "7", R"(["a"])", R"([{"start": 0, "end": 1}])",
        R"([{"start": 0, "end": 1, "pitch": "C"}])", R"([{"start": 1, "end": 1, "pitch": 60}])",
        R"([{"start": -1, "end": 1, "pitch": 60}])", R"([{"start": 0, "end": 1, "pitch": 128}])",
        R"([{"start": 0, "end": 1, "pitch": 60, "amplitude": 2}])"}) {
    EXPECT_THAT(fault_of(notes), testing::HasSubstr("in the metadata")) << notes;
  }
}

}  // namespace
}  // namespace hum::models::codec
