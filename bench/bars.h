// The bars of `make bench`: each function measures one of them, shows its table on stderr and says
// how it went. Like cli, this folder names concrete models.
#pragma once

#include "eval/harness/bar.h"

namespace hum::bench {

// Notes and posteriors of a real singer against basic-pitch's own.
eval::Bar notes_real();
// What is left of unseen clips after the codec: true tokens through both decoders.
eval::Bar codec_notes();
// 1 to 8 books of the true tokens through both decoders.
eval::Bar codec_ladder();
// The real singer on three presets through `hum generate`, and the cheats.
eval::Bar hum_to_preset();
// `hum evaluate model` on 200 clips (bench/sound_report.h): the codec alone, seen and unseen
// presets, a real singer, the VALL-E-style baseline, training without augmentation.
eval::Bar sound_codec();
eval::Bar sound_seen();
eval::Bar sound_unseen();
eval::Bar sound_real();
eval::Bar sound_valle();
eval::Bar sound_augmentation();
// Hums with known notes, read plainly and cleaned up, and played from either.
eval::Bar sound_hum();
// Time and memory of `hum generate`, with an empty compile cache and with a warm one.
eval::Bar demo_time();
// Sound a second of `hum generate`, for one and many recordings in a call, and its cost.
eval::Bar generate_speed();
// How soon a stream sounds.
eval::Bar generate_stream();
// Hours that training the released weights takes.
eval::Bar train_time();
// The largest batch that fits a given memory, with and without recomputation.
eval::Bar recompute_memory();
// Compile time of deep models as a scan over stacked layers.
eval::Bar scan_compile();

// Recording in, notes out: the time of 60 s of sound, both sides warm, against basic-pitch.
eval::Bar notes_speed();

// The training step of the 25.7M-parameter language model (bench/lm) against PyTorch and JAX: time
// in bf16 and f32, peak memory.
eval::Bar train_bf16();
eval::Bar train_f32();
eval::Bar train_jax();
eval::Bar train_memory();
// Greedy decoding of the 385M coarse LM's shape against transformers and the memory's bandwidth.
eval::Bar decode_385m();
// From process start to the end of its first step, with an empty compile cache and a filled one.
eval::Bar warm_start();

// The codec's training step, as its released weights were made, against PyTorch in bf16.
eval::Bar train_codec();

}  // namespace hum::bench
