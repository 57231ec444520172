#include "models/humming/stages.h"

#include "models/humming/humming_session.h"

namespace hum::models::humming {
namespace {

using graph::DType;
using graph::Values;
using nn::Field;

graph::Shape f32(graph::Dims dims) { return {DType::kF32, std::move(dims)}; }

// The first inputs of most stages.
std::vector<Field> told_fields(const CommonConfig& common) {
  return {{"melody", f32({kWindowFrames, common.melody_features})},
          {"reference", f32({kReferenceFrames, common.latent})},
          {"reference_frames", {DType::kI32, {}}}};
}

std::vector<Field> with(std::vector<Field> fields, std::initializer_list<Field> more) {
  fields.insert(fields.end(), more);
  return fields;
}

std::vector<Field> upsampler_fields(const Upsampler& model, std::initializer_list<Field> more) {
  const auto& common = model.config().common;
  auto fields = with(told_fields(common), more);
  if (model.attends()) {
    fields.push_back({"reference_melody", f32({kReferenceFrames, common.melody_features})});
  }
  return fields;
}

// Inputs: those of upsampler_fields.
Upsampler::Timbre timbre_of(const Upsampler& model, const Values& in) {
  return model.timbre({in[1], in[2], model.attends() ? in.back() : Value{}});
}

// With both conditions. Inputs: those of told_fields, and the draft.
Conditions conditions_of(const Values& in) {
  const Value ones = graph::constant(1, f32({in[0].size(0)}));
  return {.melody_BTM = in[0],
          .reference_BSD = in[1],
          .reference_frames_B = in[2],
          .has_melody_B = ones,
          .has_timbre_B = ones,
          .draft_BTD = in[3]};
}

}  // namespace

BatchedProgram<Upsampler> draft_stage(const StoredModel<Upsampler>& upsampler) {
  const Upsampler& model = upsampler.model();
  return {upsampler, "upsampler/draft", upsampler_fields(model, {}), [&model](const Values& in) {
            const int64_t batch = in[0].size(0);
            const Value nothing =
                graph::constant(0, f32({batch, kWindowFrames, model.config().common.latent}));
            const Value stage_B = graph::constant(0, {DType::kI32, {batch}});
            return model.predict(nothing, in[0], timbre_of(model, in), stage_B).latents_BTD;
          }};
}

BatchedProgram<Upsampler> refine_stage(const StoredModel<Upsampler>& upsampler,
                                       int64_t coarse_books) {
  const Upsampler& model = upsampler.model();
  return {upsampler, "upsampler/refine",
          upsampler_fields(model, {{"tokens", {DType::kI32, {kWindowFrames, coarse_books}}}}),
          [&model, coarse_books](const Values& in) {
            const auto timbre = timbre_of(model, in);
            Value known = model.decode(in[3], coarse_books);
            for (int64_t stage = coarse_books;; ++stage) {
              const Value stage_B =
                  graph::constant(static_cast<double>(stage), {DType::kI32, {in[0].size(0)}});
              const auto predicted = model.predict(known, in[0], timbre, stage_B);
              if (stage >= model.config().classified_books) return predicted.latents_BTD;
              const Value likeliest = graph::argmax(model.logits(stage, predicted.hidden_BTW), 2);
              known = known + model.lookup(stage, likeliest);
            }
          }};
}

BatchedProgram<Coarse> token_stage(const StoredModel<Coarse>& coarse, bool apart) {
  const Coarse& model = coarse.model();
  const auto& common = model.config().common;
  auto fields = with(told_fields(common), {{"draft", f32({kWindowFrames, common.latent})},
                                           {"key", {DType::kU32, {2}}},
                                           {"temperature", f32({})},
                                           {"top_k", {DType::kI32, {}}},
                                           {"top_p", f32({})},
                                           {"guided_frames", {DType::kI32, {}}},
                                           {"frames", {DType::kI32, {}}},
                                           {"guidance", f32({})}});
  if (apart) fields.push_back({"timbre_guidance", f32({})});
  return {coarse, apart ? "coarse/generate-apart" : "coarse/generate", fields,
          [&model, apart](const Values& in) {
            return model.generate(conditions_of(in),
                                  {.key_B2 = in[4],
                                   .temperature_B = in[5],
                                   .top_k_B = in[6],
                                   .top_p_B = in[7],
                                   .melody_guidance_B = in[10],
                                   .timbre_guidance_B = apart ? in[11] : Value{},
                                   .guided_frames_B = in[8],
                                   .frames_B = in[9]},
                                  DType::kF32);
          }};
}

BatchedProgram<Coarse> logit_stage(const StoredModel<Coarse>& coarse) {
  const Coarse& model = coarse.model();
  const auto& config = model.config();
  return {coarse, "coarse/logits",
          with(told_fields(config.common),
               {{"draft", f32({kWindowFrames, config.common.latent})},
                {"tokens", {DType::kI32, {kWindowFrames, config.coarse_books}}}}),
          [&model](const Values& in) {
            const Values logits = model.logits(in[4], conditions_of(in), DType::kF32);
            return graph::slice_in_dim(logits[0], 1, 0, kWindowFrames);
          }};
}

BatchedProgram<Voice> voice_stage(const StoredModel<Voice>& voice) {
  const Voice& model = voice.model();
  const auto& common = model.config().common;
  return {voice,
          "voice/render",
          {{"latents", f32({kWindowFrames, common.latent})},
           {"melody", f32({kWindowFrames, common.melody_features})},
           {"excitation", f32({kWindowSamples})},
           {"noise", f32({kWindowSamples})}},
          [&model](const Values& in) { return model.render(in[0], in[1], in[2], in[3]); }};
}

}  // namespace hum::models::humming
