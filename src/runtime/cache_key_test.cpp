// What tells compiled programs apart.
#include "runtime/cache_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/hash.h"
#include "pjrt/plugin.h"

namespace hum::runtime {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(PluginIdentity, IsTheHashThatTheWheelRecords) {
  const auto path = pjrt::default_plugin_path();
  const std::string identity = plugin_identity(path, {});
  EXPECT_THAT(identity, HasSubstr(fmt::format("{} bytes", fs::file_size(fs::canonical(path)))));
  // RECORD gives base64 without padding: 43 digits, where our own hash has 64.
  EXPECT_EQ(identity.find(','), 43u);
}

TEST(PluginIdentity, HashesAPluginOfOnesOwnOnceATime) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("hum-plugin-{}", ::getpid());
  fs::create_directories(folder);
  const fs::path plugin = folder / "my_plugin.so";
  std::ofstream(plugin) << "one";
  const std::string first = plugin_identity(plugin, folder);
  EXPECT_THAT(first, HasSubstr(sha256("one")));
  EXPECT_EQ(plugin_identity(plugin, folder), first);
  std::ofstream(plugin) << "three";
  EXPECT_THAT(plugin_identity(plugin, folder), HasSubstr(sha256("three")));
  fs::remove_all(folder);
}

TEST(CacheKey, LengthsKeepFieldsApart) {
  const std::vector<CacheKey::Field> one{{"a", "x\nb=1:y"}}, two{{"a", "x"}, {"b", "y"}};
  EXPECT_NE(CacheKey(one).hash(), CacheKey(two).hash());
}

}  // namespace
}  // namespace hum::runtime
