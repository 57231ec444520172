#include "models/humming/session.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/rng.h"
#include "models/humming/coarse.h"
#include "models/humming/upsampler.h"
#include "models/humming/voice.h"
#include "models/stored_model.h"

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
  std::optional<runtime::Executable> draft_program, refine_program, token_program,
      token_program_apart, logits_program, voice_program;

  StoredModel<Upsampler>& get_upsampler() {
    if (!upsampler) upsampler.emplace(session, folder / "upsampler", "hum-upsampler");
    return *upsampler;
  }
  StoredModel<Coarse>& get_coarse() {
    if (!coarse) coarse.emplace(session, folder / "coarse", "hum-coarse");
    return *coarse;
  }
  StoredModel<Voice>& get_voice() {
    if (!voice) voice.emplace(session, folder / "voice", "hum-voice");
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
  // With one scale of guidance, or one for each condition.
  void build_tokens() { token_program = compile_tokens("coarse/generate", false); }
  void build_tokens_apart() { token_program_apart = compile_tokens("coarse/generate-apart", true); }
  runtime::Executable compile_tokens(const char* name, bool apart);
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

runtime::Executable HummingSession::State::compile_tokens(const char* name, bool apart) {
  const auto& part = get_coarse();
  const auto& common = part.model().config().common;
  const Inputs in = inputs_of(common);
  const Value draft = graph::parameter("draft", f32({1, kWindowFrames, common.latent}));
  auto one = [](const char* what, DType type) { return graph::parameter(what, {type, {1}}); };
  const Coarse::Sampling sampling = {
      .key_B2 = graph::parameter("key", {DType::kU32, {1, 2}}),
      .temperature_B = one("temperature", DType::kF32),
      .top_k_B = one("top_k", DType::kI32),
      .top_p_B = one("top_p", DType::kF32),
      .melody_guidance_B = one("melody_guidance", DType::kF32),
      .timbre_guidance_B = apart ? one("timbre_guidance", DType::kF32) : Value{},
      .guided_frames_B = one("guided_frames", DType::kI32),
      .frames_B = one("frames", DType::kI32)};
  graph::Values inputs = {in.melody,
                          draft,
                          in.reference,
                          in.frames,
                          sampling.key_B2,
                          sampling.temperature_B,
                          sampling.top_k_B,
                          sampling.top_p_B,
                          sampling.guided_frames_B,
                          sampling.frames_B,
                          sampling.melody_guidance_B};
  if (apart) inputs.push_back(sampling.timbre_guidance_B);
  return part.compile(
      name, inputs,
      {part.model().generate(conditions_of(in.melody, draft, in.reference, in.frames), sampling,
                             DType::kF32)});
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
  const auto codebooks = state_->upsampler->weight("codebooks").as<float>();
  HUM_REQUIRE(codes.size() % static_cast<size_t>(sizes.books) == 0,
              "reference: {} codes are not whole frames of {} books", codes.size(), sizes.books);
  const int64_t frames =
      std::min(kReferenceFrames, static_cast<int64_t>(codes.size()) / sizes.books);
  TimbreReference result{std::vector<float>(static_cast<size_t>(kReferenceFrames * sizes.latent)),
                         static_cast<int32_t>(frames)};
  for (int64_t i = 0; i < frames * sizes.books; ++i) {
    const int64_t frame = i / sizes.books, book = i % sizes.books;
    const int64_t code = codes[static_cast<size_t>(i)];
    HUM_REQUIRE(code >= 0 && code < sizes.entries, "reference: code {} of {}", code, sizes.entries);
    const auto vector =
        codebooks.subspan(static_cast<size_t>((book * sizes.entries + code) * sizes.latent),
                          static_cast<size_t>(sizes.latent));
    float* out = result.latents.data() + frame * sizes.latent;
    for (size_t d = 0; d < vector.size(); ++d) out[d] += vector[d];
  }
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
  const bool apart = sampling.guidance_of_melody() != sampling.guidance_of_timbre();
  const auto& program = apart ? state_->get(state_->token_program_apart, &State::build_tokens_apart)
                              : state_->get(state_->token_program, &State::build_tokens);
  const auto& common = state_->coarse->model().config().common;
  const auto key = stream_key(static_cast<uint64_t>(sampling.seed), "coarse tokens",
                              static_cast<uint64_t>(window));
  const int64_t top_k =
      sampling.top_k == 0 ? common.entries : std::min(sampling.top_k, common.entries);
  auto real = [](double x) { return HostTensor::of<float>({1}, {static_cast<float>(x)}); };
  auto whole = [](int64_t x) { return HostTensor::of<int32_t>({1}, {static_cast<int32_t>(x)}); };
  const Told told(common, melody, reference);
  const auto d = HostTensor::of({1, kWindowFrames, common.latent}, draft);
  const auto k = HostTensor::of({1, 2}, std::span<const uint32_t>(key));
  const auto t = real(sampling.greedy ? 0 : sampling.temperature);
  const auto tk = whole(top_k), gf = whole(guided_frames(sampling, melody)), f = whole(frames);
  const auto tp = real(sampling.top_p), gm = real(sampling.guidance_of_melody()),
             gt = real(sampling.guidance_of_timbre());
  std::vector<const HostTensor*> inputs = {
      &told.melody, &d, &told.reference, &told.frames, &k, &t, &tk, &tp, &gf, &f, &gm};
  if (apart) inputs.push_back(&gt);
  auto tokens = values_of<int32_t>(state_->coarse->run(program, inputs));
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
