#include "models/humming/humming_session.h"

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "models/codec/code_vectors.h"
#include "models/humming/draft_model.h"
#include "models/humming/stage_inputs.h"
#include "models/humming/stages.h"
#include "models/weights_folder.h"

namespace hum::models::humming {

using runtime::HostTensor;

namespace {

template <typename T>
std::vector<std::vector<T>> values_of(const std::vector<HostTensor>& tensors) {
  std::vector<std::vector<T>> result;
  for (const HostTensor& tensor : tensors) {
    const auto values = tensor.as<T>();
    result.emplace_back(values.begin(), values.end());
  }
  return result;
}

// Sets x to x + share (y - x).
void blend(std::vector<float>& x, std::span<const float> y, float share) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += share * (y[i] - x[i]);
}

// Describes a part's tokens and latents.
std::string described(const CommonConfig& common) {
  return fmt::format("{}, {} books, latents of {}", to_name(common.channels), common.books,
                     common.latent);
}

[[noreturn]] void refuse_part(std::string_view part, const CommonConfig& own,
                              std::string_view other, const CommonConfig& others) {
  fail(ExitCode::kBadData,
       fmt::format("{} ({}) does not fit {} ({})", part, described(own), other, described(others)),
       "use a folder of weights that were trained together");
}

// A value that a function makes on first use.
template <typename T>
class Lazy {
 public:
  template <typename Make>
  T& get(std::mutex& mutex, const Make& make) {
    const std::lock_guard lock(mutex);
    if (!value_) value_.reset(new T(make()));
    return *value_;
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace

class HummingSession::State {
 public:
  State(runtime::Session& session, std::filesystem::path folder)
      : session_(session), folder_(std::move(folder)) {}

  const StoredModel<Upsampler>& upsampler() { return model(upsampler_, "upsampler"); }
  // What makes the drafts.
  LatentModel draft_kind() {
    return drafter_.get(mutex_, [&] { return draft_model(folder_); });
  }
  const StoredModel<Upsampler>& drafter() {
    return draft_kind() == LatentModel::kUpsampler ? upsampler() : model(predictor_, "predictor");
  }
  bool has_upsampler() const { return has_part(folder_, LatentModel::kUpsampler); }
  const StoredModel<Coarse>& coarse() { return model(coarse_, "coarse"); }
  const StoredModel<Voice>& voice() { return model(voice_, "voice"); }

  BatchedProgram<Upsampler>& draft_program() {
    const auto& model = drafter();
    return draft_.get(mutex_, [&] { return draft_stage(model); });
  }
  BatchedProgram<Upsampler>& refine_program() {
    const auto& model = upsampler();
    const int64_t books = coarse().model().config().coarse_books;
    return refine_.get(mutex_, [&] { return refine_stage(model, books); });
  }
  BatchedProgram<Coarse>& token_program(bool apart) {
    const auto& model = coarse();
    return tokens_[apart ? 1 : 0].get(mutex_, [&] { return token_stage(model, apart); });
  }
  BatchedProgram<Coarse>& logit_program() {
    const auto& model = coarse();
    return logits_.get(mutex_, [&] { return logit_stage(model); });
  }
  BatchedProgram<Voice>& voice_program() {
    const auto& model = voice();
    return render_.get(mutex_, [&] { return voice_stage(model); });
  }

 private:
  template <typename Model>
  const StoredModel<Model>& model(Lazy<StoredModel<Model>>& slot, const std::string& name) {
    return slot.get(mutex_, [&] {
      return StoredModel<Model>(session_, weights_part(folder_, name), ("hum-" + name).c_str());
    });
  }

  runtime::Session& session_;
  std::filesystem::path folder_;
  std::mutex mutex_;
  Lazy<LatentModel> drafter_;
  Lazy<StoredModel<Upsampler>> upsampler_, predictor_;
  Lazy<StoredModel<Coarse>> coarse_;
  Lazy<StoredModel<Voice>> voice_;
  Lazy<BatchedProgram<Upsampler>> draft_, refine_;
  Lazy<BatchedProgram<Coarse>> tokens_[2], logits_;
  Lazy<BatchedProgram<Voice>> render_;
};

HummingSession::HummingSession(runtime::Session& session, std::filesystem::path weights)
    : state_(std::make_unique<State>(session, std::move(weights))) {}

HummingSession::~HummingSession() = default;

void HummingSession::load(bool language_model, bool voice) const {
  const CommonConfig& all = common();
  const std::string_view drafter = to_name(state_->draft_kind());
  const auto require_same = [&](std::string_view part, const CommonConfig& own) {
    if (own.channels != all.channels || own.books != all.books || own.latent != all.latent) {
      refuse_part(part, own, drafter, all);
    }
  };
  if (language_model) {
    require_same("upsampler", state_->upsampler().model().config().common);
    require_same("coarse", state_->coarse().model().config().common);
    if (!reads_same_tokens()) {
      fail(ExitCode::kBadData,
           fmt::format("{}, upsampler and coarse were trained on the tokens of different codecs",
                       drafter),
           "use a folder of weights that were trained together");
    }
    const int64_t sampled = state_->coarse().model().config().coarse_books;
    const int64_t known = state_->upsampler().model().config().classified_books;
    if (sampled > known) {
      fail(ExitCode::kBadData,
           fmt::format("coarse samples {} books, but upsampler takes at most {}", sampled, known),
           "train coarse with as many as the upsampler's classified_books, or fewer");
    }
  }
  if (voice) {
    const CommonConfig& own = state_->voice().model().config().common;
    if (own.latent * audio::channel_count(all.channels) != all.latent) {
      refuse_part("voice", own, drafter, all);
    }
  }
}

bool HummingSession::reads_same_tokens() const {
  const auto codebooks_of = [](const auto& model) {
    return model.weight("codebooks").template as<float>();
  };
  const auto known = codebooks_of(state_->drafter());
  return std::ranges::equal(codebooks_of(state_->upsampler()), known) &&
         std::ranges::equal(codebooks_of(state_->coarse()), known);
}

const CommonConfig& HummingSession::common() const {
  return state_->drafter().model().config().common;
}

double HummingSession::excitation_tail_s() const {
  return state_->voice().model().config().excitation_tail_s;
}

bool HummingSession::needs_reference_melody() const {
  return state_->drafter().model().attends() ||
         (state_->has_upsampler() && state_->upsampler().model().attends());
}

bool HummingSession::loses_count_of_ages() const {
  return common().melody_features <= kMelodyLongSinceOnset;
}

std::vector<float> HummingSession::code_latents(std::span<const int32_t> codes) const {
  const auto& sizes = common();
  const int64_t channels = audio::channel_count(sizes.channels);
  return codec::sum_code_vectors(state_->drafter().weight("codebooks"), codes,
                                 sizes.books / channels, channels);
}

TimbreReference HummingSession::reference(std::span<const int32_t> codes) const {
  const auto& sizes = common();
  const int64_t books = sizes.books / audio::channel_count(sizes.channels);
  const int64_t kept = std::min(kReferenceFrames * books, std::ssize(codes));
  TimbreReference result{code_latents(codes.first(static_cast<size_t>(kept))),
                         static_cast<int32_t>(kept / books)};
  result.latents.resize(static_cast<size_t>(kReferenceFrames * sizes.latent));
  return result;
}

Rows HummingSession::drafts(std::span<const Window> windows) const {
  const Upsampler& model = state_->drafter().model();
  std::vector<Row> rows;
  for (const Window& window : windows) {
    rows.push_back(told(model.config().common, window));
    add_reference_melody(model, window, rows.back());
  }
  return values_of<float>(state_->draft_program().run(rows));
}

std::vector<std::vector<int32_t>> HummingSession::tokens(std::span<const Window> windows,
                                                         const Rows& drafts,
                                                         const SamplingOptions& sampling) const {
  HUM_REQUIRE(drafts.size() == windows.size(), "tokens: {} drafts of {} windows", drafts.size(),
              windows.size());
  const bool apart = sampling.guidance_of_melody() != sampling.guidance_of_timbre();
  const CommonConfig& sizes = state_->coarse().model().config().common;
  std::vector<Row> rows;
  for (size_t i = 0; i < windows.size(); ++i) {
    rows.push_back(token_row(sizes, windows[i], drafts[i], sampling, apart));
  }
  auto tokens = values_of<int32_t>(state_->token_program(apart).run(rows));
  const auto books = static_cast<size_t>(coarse_books());
  for (size_t i = 0; i < windows.size(); ++i) {
    for (size_t t = static_cast<size_t>(windows[i].frames) * books; t < tokens[i].size(); ++t) {
      tokens[i][t] = tokens[i][t - books];
    }
  }
  return tokens;
}

Rows HummingSession::latents(std::span<const Window> windows,
                             const SamplingOptions& sampling) const {
  Rows latents = drafts(windows);
  if (sampling.draft == 1) return latents;
  const auto known = tokens(windows, latents, sampling);
  std::vector<Row> rows;
  for (size_t i = 0; i < windows.size(); ++i) {
    rows.push_back(told(state_->upsampler().model().config().common, windows[i]));
    rows.back().push_back(tokens_of(known[i]));
    add_reference_melody(state_->upsampler().model(), windows[i], rows.back());
  }
  const Rows drawn = values_of<float>(state_->refine_program().run(rows));
  for (size_t i = 0; i < latents.size(); ++i) {
    blend(latents[i], drawn[i], static_cast<float>(1 - sampling.draft));
  }
  return latents;
}

Rows HummingSession::render(std::span<const VoiceWindow> windows) const {
  const auto& sizes = state_->voice().model().config().common;
  std::vector<Row> rows;
  for (const VoiceWindow& window : windows) {
    rows.push_back({latents_of(sizes, window.latents), melody_of(sizes, window.melody),
                    HostTensor::of({kWindowSamples}, window.excitation),
                    HostTensor::of({kWindowSamples}, window.noise)});
  }
  return values_of<float>(state_->voice_program().run(rows));
}

std::vector<float> HummingSession::draft(std::span<const float> melody,
                                         const TimbreReference& reference) const {
  const Window window{.melody = melody, .timbre = &reference};
  return std::move(drafts(std::span(&window, 1))[0]);
}

std::vector<float> HummingSession::coarse_logits(std::span<const int32_t> tokens,
                                                 std::span<const float> melody,
                                                 std::span<const float> draft,
                                                 const TimbreReference& reference) const {
  const auto& sizes = state_->coarse().model().config().common;
  Row row = told(sizes, {.melody = melody, .timbre = &reference});
  row.push_back(latents_of(sizes, draft));
  row.push_back(tokens_of(tokens));
  return std::move(values_of<float>(state_->logit_program().run(std::span(&row, 1)))[0]);
}

int64_t HummingSession::coarse_books() const {
  return state_->coarse().model().config().coarse_books;
}

}  // namespace hum::models::humming
