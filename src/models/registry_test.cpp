// Rows of models that hum train does not train: their parts open, and errors name missing ones. For
// the trained models see app/training/registry_test.cpp, which can train them.
#include "models/registry.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "base/fields_json.h"
#include "base/folders.h"
#include "base/testing/refusal.h"
#include "models/basic_pitch/weights.h"
#include "models/llama/test_golden.h"
#include "runtime/testing.h"

namespace hum::models {
namespace {

namespace fs = std::filesystem;
using hum::testing::message_of;
using ::testing::HasSubstr;

TEST(ModelRow, OfBasicPitchOpensItsFile) {
  const ModelRow& row = *find_model("basic_pitch");
  EXPECT_FALSE(row.configuration);
  EXPECT_NE((*row.open)(runtime::test_session(), basic_pitch::default_weights_path(), ""), nullptr);
  EXPECT_THROW((*row.open)(runtime::test_session(), "/nowhere.onnx", ""), Error);
}

TEST(ModelRow, OfLlamaOpensAHuggingFaceFolder) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("hum-row-{}", ::getpid());
  const llama::Golden golden(source_folder() / "tests/data/llama/mha.safetensors");
  llama::write_checkpoint(folder, llama::golden_checkpoint(golden.source, golden.seed),
                          graph::DType::kF32);
  const ModelRow& row = *find_model("llama");
  EXPECT_NE((*row.open)(runtime::test_session(), folder, ""), nullptr);
  fs::remove_all(folder);
  EXPECT_THROW((*row.open)(runtime::test_session(), folder, ""), Error);
}

TEST(ModelRow, WithoutATrainingStepSaysSo) {
  const auto dac = find_model("dac")->configuration->make(Json::object());
  EXPECT_THAT(message_of([&] { dac->train_spec({}); }), HasSubstr("codec, voice"));
  EXPECT_FALSE(dac->language_model());
  EXPECT_EQ(dac->core_parameters(), dac->parameters().element_count());
}

TEST(ModelRow, OfALanguageModelTellsItsShape) {
  const Json config = {{"vocabulary", 100}, {"transformer", {{"layers", 1}, {"width", 64}}}};
  const auto llama = find_model("llama")->configuration->make(config);
  const auto shape = llama->language_model();
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->vocabulary, 100);
  EXPECT_EQ(shape->transformer.width, 64);
  EXPECT_EQ(llama->config().at("vocabulary"), 100);
  EXPECT_EQ(llama->train_spec({.batch = 2, .frames = 8}).batch[0].shape.dims, graph::Dims({2, 8}));
}

}  // namespace
}  // namespace hum::models
