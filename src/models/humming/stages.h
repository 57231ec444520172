// The humming models' computations on any number of windows. Rows are windows; their inputs are
// listed without the batch dim.
//
// T = kWindowFrames, D latent size, M melody features, K coarse books, S = kReferenceFrames, V
// vocabulary.
#pragma once

#include "models/batched_program.h"
#include "models/humming/coarse.h"
#include "models/humming/upsampler.h"
#include "models/humming/voice.h"

namespace hum::models::humming {

// The upsampler's stage 0. Rows: melody [T, M], reference [S, D], its frames i32[] -> [T, D]. If
// the upsampler attends, the last input of this stage and of the next one is the reference's melody
// [S, M].
BatchedProgram<Upsampler> draft_stage(const StoredModel<Upsampler>& upsampler);

// The upsampler's later stages: the likeliest tokens of the classified books one after another,
// then the whole latent vector. Rows: melody, reference, frames, tokens i32[T, K] -> [T, D].
BatchedProgram<Upsampler> refine_stage(const StoredModel<Upsampler>& upsampler,
                                       int64_t coarse_books);

// Samples the coarse LM as in Coarse::Sampling. apart: with a separate guidance of the timbre.
// Rows: melody, reference, frames, draft [T, D], key u32[2], temperature, top_k i32, top_p, guided
// frames i32, frames to draw i32, guidance of the melody (or of both), guidance of the timbre if
// apart; all but the first five are scalars -> i32[T, K].
BatchedProgram<Coarse> token_stage(const StoredModel<Coarse>& coarse, bool apart);

// Teacher-forced logits of the first book. Rows: melody, reference, frames, draft, tokens i32[T, K]
// -> [T, V].
BatchedProgram<Coarse> logit_stage(const StoredModel<Coarse>& coarse);

// The guided decoder. Rows: latents [T, D], melody, excitation [T 441], noise [T 441] -> [T 441].
BatchedProgram<Voice> voice_stage(const StoredModel<Voice>& voice);

}  // namespace hum::models::humming
