// codec-ladder: the first 1 to 8 codebooks of the true tokens through both decoders. It decides how
// many codebooks the codec has, and how many of them the language model generates.
#include <fmt/format.h>

#include <iostream>
#include <limits>

#include "app/session_options.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "bench/true_tokens.h"
#include "data/synthesis/timing.h"
#include "eval/metrics/mel_distance.h"

namespace hum::bench {
namespace {

struct Rung {
  eval::MelodyScore kept;  // share of the ceiling
  double mel_distance = 0;
};

class Ladder {
 public:
  Ladder(runtime::Session& session, const Scale& scale)
      : clips_(unseen_clips(scale)), tokens_(session, clips_), transcribe_(transcriber(session)) {
    auto truth = [](const eval::Clip& clip, size_t) { return clip.samples; };
    ceiling_ = eval::judge_copies(clips_, truth, transcribe_).mean;
  }

  int64_t books() const { return tokens_.books(); }

  Rung rung(bool guided, int64_t used) const {
    Rung rung;
    auto copy = [&](const eval::Clip& clip, size_t i) {
      auto samples = guided ? tokens_.guided(i, clip.notes, used) : tokens_.plain(i, used);
      samples.resize(clip.samples.size());
      rung.mel_distance += eval::mel_distance(clip.samples, samples, data::kSampleRate) /
                           static_cast<double>(clips_.size());
      return samples;
    };
    rung.kept = of_ceiling(eval::judge_copies(clips_, copy, transcribe_).mean, ceiling_);
    return rung;
  }

 private:
  std::vector<eval::Clip> clips_;
  TrueTokens tokens_;
  eval::Transcriber transcribe_;
  eval::MelodyScore ceiling_;
};

}  // namespace

eval::Bar codec_ladder(const Scale& scale) {
  runtime::Session session(app::session_options());
  const Ladder ladder(session, scale);
  eval::Bar bar{.name = "codec-ladder",
                .unit = "mel distance, all books, plain decoder",
                .bar =
                    "reported: chroma and note F1 (relative to the true rendering), mel distance "
                    "for 1 to 8 books; limit: each book lowers the plain decoder's mel distance"};
  eval::TextTable table({"decoder", "books", "chroma", "F1", "mel distance"});
  Progress progress("decoding", 2 * ladder.books());
  int64_t done = 0;
  for (const bool guided : {false, true}) {
    const std::string decoder = guided ? "guided" : "plain";
    double last = std::numeric_limits<double>::infinity();
    bool falls = true;
    for (int64_t used = 1; used <= ladder.books(); ++used) {
      if (scale.smoke && used != 1 && used != ladder.books()) continue;
      const Rung rung = ladder.rung(guided, used);
      falls = falls && rung.mel_distance < last;
      last = rung.mel_distance;
      bar.ours[fmt::format("{}, {} books", decoder, used)] = {
          {"chroma", rung.kept.chroma}, {"f1", rung.kept.f1}, {"mel_distance", rung.mel_distance}};
      table.row({decoder, std::to_string(used), fmt::format("{:.3f}", rung.kept.chroma),
                 fmt::format("{:.3f}", rung.kept.f1), fmt::format("{:.3f}", rung.mel_distance)});
      progress.update(++done);
    }
    if (!guided) {
      bar.value = last;
      bar.checks.holds("each book helps the plain decoder", falls);
    }
  }
  std::cerr << table.text();
  return bar;
}

}  // namespace hum::bench
