// Archives and the arrays inside them. The Python packages that read them: tests/e2e/data_test.cpp.
#include "data/shards/tar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "data/shards/array_files.h"

namespace hum::data {
namespace {

std::string small_archive() {
  TarWriter writer;
  writer.add("000000001.meta.json", "{}");
  writer.add("000000001.target.wav", std::string(1000, 'x'));
  writer.add("000000002.meta.json", "");
  return writer.finish();
}

TEST(Tar, GivesBackItsMembersAtBlocks) {
  const std::string archive = small_archive();
  EXPECT_EQ(archive.size() % 512, 0U);
  EXPECT_EQ(archive, small_archive());
  const auto members = tar_members(archive);
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[0].name, "000000001.meta.json");
  EXPECT_EQ(members[0].bytes, "{}");
  EXPECT_EQ(members[1].bytes, std::string(1000, 'x'));
  EXPECT_EQ((members[1].bytes.data() - archive.data()) % 512, 0);
  EXPECT_EQ(members[2].bytes, "");
}

TEST(Tar, RefusesWhatIsCutOffOrForeign) {
  const std::string archive = small_archive();
  for (const size_t size : {100UL, 512UL, 1600UL, 2000UL}) {
    EXPECT_THROW(tar_members(std::string_view(archive).substr(0, size)), Error) << size;
  }
  EXPECT_THROW(tar_members(std::string(2048, 'x')), Error);
  std::string flipped = archive;
  flipped[600 + 512] ^= 1;  // in the second header: its checksum is wrong
  EXPECT_THROW(tar_members(flipped), Error);
}

TEST(ArrayFiles, AreNumPysAndReadInPlace) {
  const std::vector<float> values = {1, -2, 3.5F, 0, 1e-9F, 7};
  const int64_t dims[] = {2, 3};
  const std::string file = npy_file<float>(dims, values);
  EXPECT_EQ(file.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(file.size(), 128 + values.size() * 4);
  EXPECT_TRUE(std::ranges::equal(npy_values<float>(file), values));
  EXPECT_THROW(npy_values<uint16_t>(file), Error);
  EXPECT_THROW(npy_values<float>(std::string_view(file).substr(0, 60)), Error);
  EXPECT_THROW(npy_values<float>("nothing"), Error);
}

TEST(ArrayFiles, HoldSoundInSixteenBits) {
  const auto stored = to_int16(std::vector<float>{0, 0.5F, -1, 1, 2, -2});
  EXPECT_THAT(stored, ::testing::ElementsAre(0, 16384, -32768, 32767, 32767, -32768));
  const std::string file = wav_file(stored);
  EXPECT_EQ(file.size(), 44 + 12U);
  EXPECT_TRUE(std::ranges::equal(wav_samples(file), stored));
  EXPECT_TRUE(std::ranges::equal(wav_samples(wav_file(stored, 2)), stored));
  EXPECT_THROW(wav_samples(wav_file(stored, 3)), Error);
  EXPECT_THROW(wav_samples(std::string_view(file).substr(0, 50)), Error);
  EXPECT_THROW(wav_samples("RIFF"), Error);
  std::vector<float> samples(stored.size());
  to_float(stored, samples);
  EXPECT_EQ(samples[1], 0.5F);
  EXPECT_EQ(samples[2], -1);
}

}  // namespace
}  // namespace hum::data
