#include "models/humming/session.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/rng.h"
#include "models/codec/code_vectors.h"
#include "models/humming/coarse.h"
#include "models/humming/upsampler.h"
#include "models/humming/voice.h"
#include "models/stored_model.h"
#include "models/weights_folder.h"

namespace hum::models::humming {

using graph::DType;
using runtime::HostTensor;

namespace {

graph::Shape f32(graph::Dims dims) { return {DType::kF32, std::move(dims)}; }

template <typename T>
std::vector<T> values_of(const HostTensor& tensor) {
  const auto values = tensor.as<T>();
  return {values.begin(), values.end()};
}

// What most programs are told: the melody and the timbre reference.
struct Told {
  HostTensor melody, reference, frames;

  Told(const CommonConfig& common, std::span<const float> features, const TimbreReference& timbre)
      : melody(HostTensor::of({1, kWindowFrames, common.melody_features}, features)),
        reference(HostTensor::of({1, kReferenceFrames, common.latent},
                                 std::span<const float>(timbre.latents))),
        frames(HostTensor::of<int32_t>({1}, {timbre.frames})) {}
};

// Both conditions given.
Conditions conditions_of(const Value& melody, const Value& draft, const Value& reference,
                         const Value& frames) {
  const Value one = graph::constant(1, f32({1}));
  return {.melody_BTM = melody,
          .reference_BSD = reference,
          .reference_frames_B = frames,
          .has_melody_B = one,
          .has_timbre_B = one,
          .draft_BTD = draft};
}

}  // namespace

struct HummingSession::State {
  runtime::Session& session;
  std::filesystem::path folder;
  std::mutex mutex;
  std::optional<StoredModel<Upsampler>> upsampler;
  std::optional<StoredModel<Coarse>> coarse;
  std::optional<StoredModel<Voice>> voice;
  std::optional<runtime::Executable> draft_program, refine_program, token_program, logits_program,
      voice_program;

  StoredModel<Upsampler>& get_upsampler() {
    if (!upsampler) upsampler.emplace(session, weights_part(folder, "upsampler"), "hum-upsampler");
    return *upsampler;
  }
  StoredModel<Coarse>& get_coarse() {
    if (!coarse) coarse.emplace(session, weights_part(folder, "coarse"), "hum-coarse");
    return *coarse;
  }
  StoredModel<Voice>& get_voice() {
    if (!voice) voice.emplace(session, weights_part(folder, "voice"), "hum-voice");
    return *voice;
  }

  const runtime::Executable& get(std::optional<runtime::Executable>& program,
                                 void (State::*build)()) {
    std::lock_guard lock(mutex);
    if (!program) (this->*build)();
    return *program;
  }

  // Placeholders that several programs take.
  struct Inputs {
    Value melody, reference, frames;
  };
  static Inputs inputs_of(const CommonConfig& common) {
    return {graph::parameter("melody", f32({1, kWindowFrames, common.melody_features})),
            graph::parameter("reference", f32({1, kReferenceFrames, common.latent})),
            graph::parameter("reference_frames", {DType::kI32, {1}})};
  }

  void build_draft();
  void build_refine();
  void build_tokens();
  void build_logits();
  void build_voice();
};

void HummingSession::State::build_draft() {
  const auto& part = get_upsampler();
  const auto& common = part.model().config().common;
  const Inputs in = inputs_of(common);
  const Value nothing = graph::constant(0, f32({1, kWindowFrames, common.latent}));
  const Value stage = graph::constant(0, {DType::kI32, {1}});
  const Value reference_BR = pooled_reference(in.reference, in.frames);
  draft_program =
      part.compile("upsampler/draft", {in.melody, in.reference, in.frames},
                   {part.model().predict(nothing, in.melody, reference_BR, stage).latents_BTD});
}

void HummingSession::State::build_refine() {
  const auto& part = get_upsampler();
  const Upsampler& model = part.model();
  const auto& config = model.config();
  const int64_t coarse_books = get_coarse().model().config().coarse_books;
  const Inputs in = inputs_of(config.common);
  const Value tokens = graph::parameter("tokens", {DType::kI32, {1, kWindowFrames, coarse_books}});
  const Value reference_BR = pooled_reference(in.reference, in.frames);
  Value known = model.decode(tokens, coarse_books), latents;
  for (int64_t stage = coarse_books;; ++stage) {
    const Value stage_B = graph::constant(static_cast<double>(stage), {DType::kI32, {1}});
    const auto predicted = model.predict(known, in.melody, reference_BR, stage_B);
    latents = predicted.latents_BTD;
    if (stage >= config.classified_books) break;
    const Value likeliest = graph::argmax(model.logits(stage, predicted.hidden_BTW), 2);
    known = known + model.lookup(stage, likeliest);
  }
  refine_program =
      part.compile("upsampler/refine", {tokens, in.melody, in.reference, in.frames}, {latents});
}

void HummingSession::State::build_tokens() {
  const auto& part = get_coarse();
  const auto& common = part.model().config().common;
  const Inputs in = inputs_of(common);
  const Value draft = graph::parameter("draft", f32({1, kWindowFrames, common.latent}));
  const Value key = graph::parameter("key", {DType::kU32, {2}});
  const Value temperature = graph::parameter("temperature", f32({}));
  const Value top_k = graph::parameter("top_k", {DType::kI32, {}});
  const Value top_p = graph::parameter("top_p", f32({}));
  const Value guidance = graph::parameter("guidance", f32({}));
  const Value frames = graph::parameter("frames", {DType::kI32, {}});
  const Value tokens =
      part.model().generate(conditions_of(in.melody, draft, in.reference, in.frames),
                            {.key = key,
                             .temperature = temperature,
                             .top_k = top_k,
                             .top_p = top_p,
                             .guidance = guidance,
                             .frames = frames},
                            DType::kF32);
  token_program = part.compile(
      "coarse/generate",
      {in.melody, draft, in.reference, in.frames, key, temperature, top_k, top_p, guidance, frames},
      {tokens});
}

void HummingSession::State::build_logits() {
  const auto& part = get_coarse();
  const auto& config = part.model().config();
  const Inputs in = inputs_of(config.common);
  const Value draft = graph::parameter("draft", f32({1, kWindowFrames, config.common.latent}));
  const Value tokens =
      graph::parameter("tokens", {DType::kI32, {1, kWindowFrames, config.coarse_books}});
  const graph::Values logits = part.model().logits(
      tokens, conditions_of(in.melody, draft, in.reference, in.frames), DType::kF32);
  logits_program =
      part.compile("coarse/logits", {tokens, in.melody, draft, in.reference, in.frames},
                   {graph::slice_in_dim(logits[0], 1, 0, kWindowFrames)});
}

void HummingSession::State::build_voice() {
  const auto& part = get_voice();
  const auto& common = part.model().config().common;
  const Value latents = graph::parameter("latents", f32({1, kWindowFrames, common.latent}));
  const Value melody = graph::parameter("melody", f32({1, kWindowFrames, common.melody_features}));
  const Value excitation = graph::parameter("excitation", f32({1, kWindowSamples}));
  const Value noise = graph::parameter("noise", f32({1, kWindowSamples}));
  voice_program = part.compile("voice/render", {latents, melody, excitation, noise},
                               {part.model().render(latents, melody, excitation, noise)});
}

HummingSession::HummingSession(runtime::Session& session, std::filesystem::path weights)
    : state_(std::unique_ptr<State>(new State{.session = session, .folder = std::move(weights)})) {}

HummingSession::~HummingSession() = default;

void HummingSession::load(bool language_model, bool voice) const {
  std::lock_guard lock(state_->mutex);
  state_->get_upsampler();
  if (language_model) state_->get_coarse();
  if (voice) state_->get_voice();
}

const CommonConfig& HummingSession::common() const {
  std::lock_guard lock(state_->mutex);
  return state_->get_upsampler().model().config().common;
}

TimbreReference HummingSession::reference(std::span<const int32_t> codes) const {
  const auto& sizes = common();
  const int64_t kept = std::min(kReferenceFrames * sizes.books, std::ssize(codes));
  TimbreReference result{
      codec::sum_code_vectors(state_->upsampler->weight("codebooks"),
                              codes.first(static_cast<size_t>(kept)), sizes.books),
      static_cast<int32_t>(kept / sizes.books)};
  result.latents.resize(static_cast<size_t>(kReferenceFrames * sizes.latent));
  return result;
}

std::vector<float> HummingSession::draft(std::span<const float> melody,
                                         const TimbreReference& reference) const {
  const auto& program = state_->get(state_->draft_program, &State::build_draft);
  const auto& common = state_->upsampler->model().config().common;
  const Told told(common, melody, reference);
  return values_of<float>(
      state_->upsampler->run(program, {&told.melody, &told.reference, &told.frames}));
}

std::vector<int32_t> HummingSession::coarse_tokens(std::span<const float> melody,
                                                   std::span<const float> draft,
                                                   const TimbreReference& reference,
                                                   const SamplingOptions& sampling, int64_t window,
                                                   int64_t frames) const {
  HUM_REQUIRE(frames >= 1 && frames <= kWindowFrames, "coarse_tokens: {} frames", frames);
  const auto& program = state_->get(state_->token_program, &State::build_tokens);
  const auto& common = state_->coarse->model().config().common;
  const auto key = stream_key(static_cast<uint64_t>(sampling.seed), "coarse tokens",
                              static_cast<uint64_t>(window));
  const int64_t top_k =
      sampling.top_k == 0 ? common.entries : std::min(sampling.top_k, common.entries);
  const Told told(common, melody, reference);
  const auto d = HostTensor::of({1, kWindowFrames, common.latent}, draft);
  const auto k = HostTensor::of({2}, std::span<const uint32_t>(key));
  const auto t =
      HostTensor::scalar(sampling.greedy ? 0.0F : static_cast<float>(sampling.temperature));
  const auto tk = HostTensor::scalar(static_cast<int32_t>(top_k));
  const auto tp = HostTensor::scalar(static_cast<float>(sampling.top_p));
  const auto g = HostTensor::scalar(static_cast<float>(sampling.guidance));
  const auto f = HostTensor::scalar(static_cast<int32_t>(frames));
  auto tokens = values_of<int32_t>(state_->coarse->run(
      program, {&told.melody, &d, &told.reference, &told.frames, &k, &t, &tk, &tp, &g, &f}));
  const int64_t books = static_cast<int64_t>(tokens.size()) / kWindowFrames;
  for (int64_t i = frames * books; i < kWindowFrames * books; ++i) {
    tokens[static_cast<size_t>(i)] = tokens[static_cast<size_t>(i - books)];
  }
  return tokens;
}

int64_t HummingSession::coarse_books() const {
  std::lock_guard lock(state_->mutex);
  return state_->get_coarse().model().config().coarse_books;
}

std::vector<float> HummingSession::coarse_logits(std::span<const int32_t> tokens,
                                                 std::span<const float> melody,
                                                 std::span<const float> draft,
                                                 const TimbreReference& reference) const {
  const auto& program = state_->get(state_->logits_program, &State::build_logits);
  const auto& config = state_->coarse->model().config();
  const auto& common = config.common;
  const auto c = HostTensor::of({1, kWindowFrames, config.coarse_books}, tokens);
  const Told told(common, melody, reference);
  const auto d = HostTensor::of({1, kWindowFrames, common.latent}, draft);
  return values_of<float>(
      state_->coarse->run(program, {&c, &told.melody, &d, &told.reference, &told.frames}));
}

std::vector<float> HummingSession::refine(std::span<const int32_t> tokens,
                                          std::span<const float> melody,
                                          const TimbreReference& reference) const {
  const auto& program = state_->get(state_->refine_program, &State::build_refine);
  const auto& common = state_->upsampler->model().config().common;
  const auto books = static_cast<int64_t>(tokens.size()) / kWindowFrames;
  const auto c = HostTensor::of({1, kWindowFrames, books}, tokens);
  const Told told(common, melody, reference);
  return values_of<float>(
      state_->upsampler->run(program, {&c, &told.melody, &told.reference, &told.frames}));
}

std::vector<float> HummingSession::render(std::span<const float> latents,
                                          std::span<const float> melody,
                                          std::span<const float> excitation,
                                          std::span<const float> noise) const {
  const auto& program = state_->get(state_->voice_program, &State::build_voice);
  const auto& common = state_->voice->model().config().common;
  const auto l = HostTensor::of({1, kWindowFrames, common.latent}, latents);
  const auto m = HostTensor::of({1, kWindowFrames, common.melody_features}, melody);
  const auto e = HostTensor::of({1, kWindowSamples}, excitation);
  const auto n = HostTensor::of({1, kWindowSamples}, noise);
  return values_of<float>(state_->voice->run(program, {&l, &m, &e, &n}));
}

}  // namespace hum::models::humming
