// A configuration names its model.
#include "app/training/configuration.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "base/testing/refusal.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using hum::testing::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Configurations : public ::testing::Test {
 protected:
  Configurations()
      : path_(fs::temp_directory_path() / fmt::format("hum-configuration-{}.yaml", ::getpid())) {}
  ~Configurations() override { fs::remove(path_); }

  fs::path file(const std::string& text) const {
    std::ofstream(path_) << text;
    return path_;
  }

  fs::path path_;
};

TEST_F(Configurations, AreOfTheModelThatTheirFirstLineNames) {
  for (const char* type : {"upsampler", "hum-upsampler"}) {
    const auto read = read_configuration(
        file(fmt::format("model_type: {}\nstage: {{output: weights/coarse}}\n", type)));
    EXPECT_EQ(read.row->name, "upsampler");  // regardless of its output's name
    EXPECT_EQ(read.make()->train_spec(read.step_shape()).name, "upsampler");
  }
}

TEST_F(Configurations, WithoutAModelTypeAreRefusedWithTheLineToAdd) {
  const auto refused = [&](const std::string& text, std::string_view expected = "") {
    return message_of([&] { read_configuration(file(text), expected); });
  };
  EXPECT_THAT(
      refused("model: {coarse_books: 1}\n"),
      AllOf(HasSubstr("model_type is missing"), HasSubstr("add the line 'model_type: coarse'")));
  // Fields that several models share select none of them.
  EXPECT_THAT(refused("stage: {output: weights/codec}\n"),
              AllOf(HasSubstr("'model_type: codec'"), HasSubstr("'model_type: voice'")));
  EXPECT_THAT(refused("stage: {output: weights/codec}\n", "voice"),
              AllOf(HasSubstr("'model_type: voice'"), Not(HasSubstr("codec'"))));
  EXPECT_THAT(refused("model: {presents: 1}\n"), HasSubstr("one of codec, voice"));
}

TEST_F(Configurations, OfAnotherModelThanAskedForAreRefused) {
  const auto path = file("model_type: coarse\n");
  EXPECT_THAT(message_of([&] { read_configuration(path, "voice"); }),
              AllOf(HasSubstr("a configuration of coarse, not of voice"),
                    HasSubstr("hum train " + path.string())));
  EXPECT_EQ(read_configuration(path, "coarse").row->name, "coarse");
}

TEST_F(Configurations, OfUnknownModelsAndFieldsAreRefused) {
  EXPECT_THAT(message_of([&] { read_configuration(file("model_type: gpt2\n")); }),
              AllOf(HasSubstr("no model 'gpt2'"), HasSubstr("codec, voice")));
  EXPECT_THAT(message_of([&] { read_configuration(file("model_type: basic_pitch\n")); }),
              HasSubstr("takes no configuration"));
  EXPECT_THAT(message_of([&] { read_configuration(file("model_type: coarse\nmodels: {}\n")); }),
              HasSubstr("unknown field 'models'"));
  const auto read = read_configuration(file("model_type: coarse\nmodel: {bands: 8}\n"));
  EXPECT_THAT(message_of([&] { read.make(); }),
              AllOf(HasSubstr("unknown field 'bands'"), HasSubstr(path_.string())));
}

TEST(ConfigurationPath, IsAFileOrTheNameOfOne) {
  EXPECT_EQ(configuration_path("tiny").filename(), "coarse.yaml");
  EXPECT_EQ(configuration_path("385m").filename(), "coarse-385m.yaml");
  EXPECT_EQ(configuration_path("codec-decoder").filename(), "codec-decoder.yaml");
  EXPECT_THAT(message_of([] { configuration_path("nothing"); }),
              HasSubstr(models::trained_models() + ", tiny"));
}

}  // namespace
}  // namespace hum::app
