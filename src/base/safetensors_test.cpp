#include "base/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/files.h"

namespace hum {
namespace {

const std::filesystem::path kPath =
    std::filesystem::temp_directory_path() / fmt::format("hum-{}.safetensors", ::getpid());

void write_sample() {
  static const float kFloats[6] = {1, 2, 3, 4, 5, 6};
  static const int32_t kInts[2] = {7, 8};
  const SafeTensor tensors[] = {{"a.weight", "F32", {2, 3}, std::as_bytes(std::span(kFloats))},
                                {"b", "I32", {2}, std::as_bytes(std::span(kInts))}};
  write_safetensors(kPath, tensors, {{"step", "9"}});
}

TEST(Safetensors, RoundTripKeepsNamesShapesAndBytes) {
  write_sample();
  const auto file = SafetensorsFile::read(kPath);
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.tensors()[0].name, "a.weight");
  EXPECT_EQ(file.tensors()[0].dims, (std::vector<int64_t>{2, 3}));
  float last = 0;
  std::memcpy(&last, file.tensors()[0].bytes.data() + 20, 4);
  EXPECT_EQ(last, 6);
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.metadata().at("step"), "9");
}

TEST(Safetensors, EveryTruncationIsRefused) {
  write_sample();
  const std::string whole = read_file(kPath);
  for (size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(kPath, std::ios::binary) << whole.substr(0, size);
    try {
      SafetensorsFile::read(kPath);
      FAIL() << "accepted " << size << " of " << whole.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadData);
    }
  }
}

TEST(Safetensors, FlippedHeaderBytesNeverCrash) {
  write_sample();
  const std::string whole = read_file(kPath);
  for (size_t at = 0; at < whole.size() - 32; ++at) {
    for (const char flip : {'\x01', '\x20', '\x7f'}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      std::ofstream(kPath, std::ios::binary) << changed;
      try {
        SafetensorsFile::read(kPath);
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace hum
