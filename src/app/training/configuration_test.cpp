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

TEST_F(Configurations, OfModelsThatCannotBeAreRefusedWithTheRange) {
  struct Row {
    const char *model_type, *model, *message, *hint;
  };
  const Row rows[] = {
      {"codec", "{quantizer: {books: 0}}", "model.quantizer.books = 0", "use 1 to 64"},
      {"codec", "{quantizer: {books: 100000000}}", "books = 100000000 is out", "use 1 to 64"},
      {"codec", "{quantizer: {warm_up_steps: -5}}", "warm_up_steps = -5", "use 0 to"},
      {"codec", "{quantizer: {decay: .nan}}", "quantizer.decay = nan", "use 0 to 1"},
      {"codec", "{encoder_blocks: 0}", "model.encoder_blocks = 0", "use 1 to"},
      {"codec", "{fine_window_samples: 735}", "fine_window_samples = 735", "use 588"},
      {"coarse", "{transformer: {width: 255, heads: 4}}", "model.transformer.width = 255",
       "a multiple of heads, 4"},
      {"coarse", "{transformer: {layers: 0}}", "model.transformer.layers = 0", "use 1 to 1024"},
      {"coarse", "{transformer: {heads: 0}}", "model.transformer.heads = 0", "use 1 to 1024"},
      {"coarse", "{transformer: {kv_heads: 3}}", "kv_heads = 3", "a divisor of heads, 4"},
      {"coarse", "{transformer: {rotary_dim: 3}}", "rotary_dim = 3", "an even number"},
      {"coarse", "{coarse_books: 9}", "model.coarse_books = 9", "use 1 to 8"},
      {"coarse", "{vocabulary: 1024}", "model.vocabulary = 1024", "use 1025 to"},
      {"coarse", "{prefix_group: 0}", "model.prefix_group = 0", "use 1 to 250"},
      {"coarse", "{condition_dropout: 2}", "model.condition_dropout = 2", "use 0 to 1"},
      {"voice", "{excitation_dropout: -1}", "model.excitation_dropout = -1", "use 0 to 1"},
      {"upsampler", "{common: {books: 0}}", "model.common.books = 0", "use 1 to 128"},
      {"predictor", "{width: -256}", "model.width = -256", "use 1 to"},
      {"joint", "{voice: {fine_width: 0}}", "model.voice.fine_width = 0", "use 1 to"},
      {"ear", "{kernel: 0}", "model.kernel = 0", "use 1 to 1001"},
      {"ear", "{pitch_window_samples: 100}", "pitch_window_samples = 100", "use 220 to"},
      {"classifier", "{hop_samples: 2048}", "model.hop_samples = 2048", "use 1 to 1024"},
      {"classifier", "{presets: [violin]}", "model.presets = 1", "two presets or more"},
  };
  for (const auto& [model_type, model, message, hint] : rows) {
    const auto read =
        read_configuration(file(fmt::format("model_type: {}\nmodel: {}\n", model_type, model)));
    EXPECT_EQ(hum::testing::code_of([&] { read.check(); }), ExitCode::kConfig) << model;
    EXPECT_THAT(message_of([&] { read.check(); }), AllOf(HasSubstr(message), HasSubstr(hint)));
    EXPECT_THAT(message_of([&] { read.make(); }), HasSubstr(message));
  }
}

TEST_F(Configurations, WithSharesOutsideZeroToOneAreRefused) {
  const auto refused = [&](const std::string& stage) {
    return message_of(
        [&] { validate(read_configuration(file("model_type: coarse\nstage: " + stage)).stage); });
  };
  EXPECT_EQ(refused("{}\n"), "nothing was thrown");
  EXPECT_THAT(refused("{token_replacement: 7}\n"),
              AllOf(HasSubstr("stage.token_replacement = 7"), HasSubstr("use 0 to 1")));
  EXPECT_THAT(refused("{predicted_share: -0.5}\n"), HasSubstr("stage.predicted_share = -0.5"));
  EXPECT_THAT(refused("{batch: 100000000}\n"), HasSubstr("stage.batch = 100000000"));
}

TEST_F(Configurations, WithNumbersBeyond64BitsAreRefusedAsWritten) {
  for (const char* steps : {"1e+99", "-1e+99", "9.3e+18"}) {
    EXPECT_THAT(message_of([&] {
                  read_configuration(file(
                      fmt::format("model_type: codec\nstage: {{loop: {{steps: {}}}}}\n", steps)));
                }),
                AllOf(HasSubstr(fmt::format("{} is out of range", steps)),
                      HasSubstr("reading field 'steps'")));
  }
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
