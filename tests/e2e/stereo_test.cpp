// Stereo from items to sound: made, trained on for a few steps, played.
#include <cmath>

#include "audio/io.h"
#include "audio/loudness.h"
#include "base/error.h"
#include "base/json.h"
#include "tests/e2e/program.h"
#include "tests/e2e/tiny_weights.h"

namespace hum::e2e {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Stereo : public Program {
 protected:
  Stereo() {
    write_tiny_weights(folder_ / "weights");
    fs::create_directories(folder_ / "stereo");
    write("stereo/builds_on", "../weights");
    write("data.yaml",
          "items: {presets: [acoustic-grand-piano], channels: mid_side}\n"
          "count: 2\nitems_per_shard: 2\nthreads: 1\n");
    const auto made = run_hum({"data", "make", "--config", path("data.yaml"), "-o", path("data")});
    EXPECT_EQ(made.code, 0) << made.err;
  }

  // Three steps of a model whose sizes are those of the tiny weights.
  Outcome train(const std::string& model, const std::string& config, const std::string& common,
                const std::string& stage = "") const {
    write("train.yaml",
          fmt::format("model_type: {6}\n"
                      "stage: {{data: {0}, run: {1}, output: {2}, weights: {3}, batch: 2, "
                      "held_out: 0, compute: f32, loop: {{steps: 3, checkpoint_every: 3}}{4}}}\n"
                      "model: {{common: {5}, {7}}}\n",
                      path("data"), path("run-" + model), path("stereo/" + model), path("stereo"),
                      stage, common, model, config));
    return run_hum({"train", path("train.yaml")});
  }
  void train_all() const {
    const std::string both = "{channels: mid_side, latent: 16, books: 8, entries: 32}";
    const auto upsampler = train("upsampler", "width: 16, blocks: 1, classified_books: 4", both);
    ASSERT_EQ(upsampler.code, 0) << upsampler.err;
    const auto coarse = train("coarse",
                              "coarse_books: 2, vocabulary: 33, melody_blocks: 1, "
                              "melody_width: 16, transformer: {layers: 1, width: 32, heads: 2, "
                              "kv_heads: 2, feed_forward: 32}",
                              both);
    ASSERT_EQ(coarse.code, 0) << coarse.err;
    const auto voice =
        train("voice", "width: 16, blocks: 1, fine_width: 16, fine_blocks: 1",
              "{latent: 8, books: 4, entries: 32}", ", frames: 100, predicted_share: 0.5");
    ASSERT_EQ(voice.code, 0) << voice.err;
  }
  Outcome generate(const std::string& output, const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> arguments = {"generate",     path("hum.wav"), "--weights",
                                          path("stereo"), "--preset",      "acoustic-grand-piano",
                                          "--rate",       "22050"};
    if (!output.empty()) arguments.insert(arguments.end(), {"-o", path(output)});
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run_hum(arguments);
  }
  audio::AudioBuffer generated(const std::string& output,
                               const std::vector<std::string>& flags = {}) const {
    const auto run = generate(output, flags);
    EXPECT_EQ(run.code, 0) << output << run.err;
    return audio::read_audio(path(output));
  }
  // What the coded channels of the same weights are: left and right where they are told so.
  void call_mid_and_side_left_and_right() const {
    for (const char* part : {"stereo/upsampler/config.json", "stereo/coarse/config.json"}) {
      std::string text = read(part);
      const auto at = text.find("mid_side");
      ASSERT_NE(at, std::string::npos) << part;
      write(part, text.replace(at, 8, "left_right"));
    }
  }
};

// The cosine of the angle between a and b, and how far they reach.
double likeness(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    ab += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

TEST_F(Stereo, IsTrainedAndPlayedInTwoChannelsWhoseSumIsTheMid) {
  train_all();
  EXPECT_EQ(parse_json(read("stereo/coarse/config.json"))["model"]["common"]["channels"],
            "mid_side");
  EXPECT_FALSE(
      parse_json(read("stereo/voice/config.json"))["model"]["common"].contains("channels"));
  write_hum("hum.wav", 8);
  const auto sound = generated("out.wav", {"--bits", "float"});
  ASSERT_EQ(sound.channels, 2);
  EXPECT_LE(audio::true_peak_dbtp(sound.samples, sound.rate_hz, 2), -0.9);
  std::vector<float> left, right, sum;
  for (size_t i = 0; i < sound.samples.size(); i += 2) {
    left.push_back(sound.samples[i]);
    right.push_back(sound.samples[i + 1]);
    sum.push_back(left.back() + right.back());
  }
  EXPECT_LT(likeness(left, right), 0.999);

  call_mid_and_side_left_and_right();
  const auto coded = generated("coded.wav", {"--bits", "float"});
  std::vector<float> mid;
  for (size_t i = 0; i < coded.samples.size(); i += 2) mid.push_back(coded.samples[i]);
  // But for what is faded out at the end.
  const size_t certain = std::min(mid.size(), sum.size()) - 2205;
  EXPECT_GT(likeness(std::span(sum).first(certain), std::span(mid).first(certain)), 0.999999);
  EXPECT_LT(likeness(std::span(left).first(certain), std::span(mid).first(certain)), 0.9999);
}

TEST_F(Stereo, GoesAllWaysThatSoundGoes) {
  train_all();
  const std::string hum = write_hum("hum.wav", 4);
  for (const char* name : {"out.flac", "out.ogg", "out.mp3"}) {
    EXPECT_EQ(generated(name).channels, 2);
  }
  EXPECT_EQ(generated("draft.wav", {"--stereo"}).channels, 2);
  EXPECT_EQ(generated("plain.wav", {"--decoder", "plain"}).channels, 2);
  const auto loop = generated("loop.wav", {"--loop", "--tempo", "120"});
  EXPECT_EQ(loop.channels, 2);
  EXPECT_EQ(loop.frames() % 44100, 0);  // bars of two seconds
  EXPECT_EQ(generated("mix.wav", {"--backing", hum}).channels, 2);
  EXPECT_EQ(generated("drawn.wav", {"--picture", path("p.png")}).channels, 2);
  const auto band = run_hum({"arrange", hum, "--weights", path("stereo"), "--preset",
                             "acoustic-grand-piano", "--tempo", "120", "-o", path("band")});
  ASSERT_EQ(band.code, 0) << band.err;
  for (const char* stem : {"band/lead.wav", "band/bass.wav", "band/mix.wav"}) {
    EXPECT_EQ(audio::read_audio(path(stem)).channels, 2) << stem;
  }
  const auto streamed = generate("", {"--stream", "--bits", "float"});
  ASSERT_EQ(streamed.code, 0) << streamed.err;
  EXPECT_EQ(streamed.out[22], 2);  // channels
  EXPECT_EQ((streamed.out.size() - 44) % 8, 0U);
}

using SlowStereo = Stereo;
TEST_F(SlowStereo, IsJudgedByItsMeanAndNotByItsTokens) {
  train_all();
  write_tiny_references(folder_ / "weights");
  const auto run = run_hum({"evaluate", "model", "--weights", path("stereo"), "-o", path("report"),
                            "--clips", "2", "--resamples", "100", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("not measured: token figures: the clips are mono"));
  const Json report = parse_json(run.out);
  const Json& told = report["rows"][1]["groups"]["all"];
  EXPECT_GT(told["mel_distance"]["value"], 0);
  EXPECT_FALSE(told.value("token_top10", Json()).is_object());
}

TEST_F(Stereo, WeightsAndItemsOfOtherChannelsAreRefused) {
  const std::string mono = "{latent: 8, books: 4, entries: 32}";
  const auto trained = train("upsampler", "width: 16, blocks: 1", mono);
  EXPECT_EQ(trained.code, 78);
  EXPECT_THAT(trained.err,
              AllOf(HasSubstr("{channels: mono, books: 4, latent: 8}"),
                    HasSubstr("the items with this codec are {channels: mid_side, books: 8, "
                              "latent: 16}"),
                    HasSubstr("\nhint: ")));
  const auto voice = train("voice", "width: 16", "{channels: mid_side, latent: 16, books: 8}");
  EXPECT_EQ(voice.code, 78);
  EXPECT_THAT(voice.err, HasSubstr("the voice plays one channel"));
  // The mono weights' upsampler drafts nothing for stereo items.
  const auto drafts = train("coarse", "coarse_books: 2, vocabulary: 33",
                            "{channels: mid_side, latent: 16, books: 8, entries: 32}");
  EXPECT_EQ(drafts.code, 78);
  EXPECT_THAT(drafts.err, HasSubstr("upsampler is {channels: mono"));

  const auto both = train("upsampler", "width: 16, blocks: 1, classified_books: 4",
                          "{channels: mid_side, latent: 16, books: 8, entries: 32}");
  ASSERT_EQ(both.code, 0) << both.err;
  write_hum("hum.wav", 2);
  const auto played = generate("out.wav", {"--lm"});  // with the mono weights' coarse
  EXPECT_EQ(played.code, 65);
  EXPECT_THAT(played.err, AllOf(HasSubstr("coarse (mono, 4 books, latents of 8) does not fit "
                                          "upsampler (mid_side, 8 books, latents of 16)"),
                                HasSubstr("\nhint: ")));
}

}  // namespace
}  // namespace hum::e2e
