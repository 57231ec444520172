// The bars of `make bench`: each function measures one bar, prints its table to stderr and returns
// the result. The smoke form skips peers that are not installed, and the figures that need them.
// Like cli, this folder names concrete models.
#pragma once

#include "bench/scale.h"
#include "eval/harness/bar.h"

namespace hum::bench {

// Notes and posteriors of a real singer against basic-pitch's own.
eval::Bar notes_real(const Scale& scale);
// Quality of unseen clips after the codec: true tokens through both decoders.
eval::Bar codec_notes(const Scale& scale);
// 1 to 8 books of the true tokens through both decoders.
eval::Bar codec_ladder(const Scale& scale);
// The real singer on three presets through `hum generate`, and the negative controls.
eval::Bar hum_to_preset(const Scale& scale);
// `hum evaluate model` on 500 clips (bench/sound_report.h): the codec alone, seen and unseen
// presets, an unseen sound font, a real singer, the VALL-E-style baseline, training without
// augmentation.
eval::Bar sound_codec(const Scale& scale);
eval::Bar sound_seen(const Scale& scale);
eval::Bar sound_unseen(const Scale& scale);
eval::Bar sound_font(const Scale& scale);
eval::Bar sound_real(const Scale& scale);
eval::Bar sound_valle(const Scale& scale);
eval::Bar sound_augmentation(const Scale& scale);
// Hums with known notes, heard by Basic Pitch and by the ear, and played from either.
eval::Bar sound_hum(const Scale& scale);
// What is gained and lost by --residual, with stored references and with clips.
eval::Bar sound_residual(const Scale& scale);
// hum data extract: the same bits however the work is shared out.
eval::Bar extract_same(const Scale& scale);
// hum data extract: its speed beside its stages alone and beside Python, and its memory.
eval::Bar extract_rate(const Scale& scale);
// hum data extract: workers and PostgreSQL under SIGKILLs.
eval::Bar extract_kill(const Scale& scale);
// hum data extract: claims of several processes on a table of a million recordings in PostgreSQL.
eval::Bar extract_scale(const Scale& scale);
// Real instruments as --timbre: does the output sound like its own reference?
eval::Bar sound_references(const Scale& scale);
// Judges that no loss ever saw: is hum nearer to the true instrument than other instruments?
eval::Bar sound_judges(const Scale& scale);
// Hums with known notes on five presets: hum's notes beside FluidSynth's playing what was heard.
eval::Bar sound_notes(const Scale& scale);
// Figures of separated stems against museval and mir_eval.
eval::Bar stems_metrics(const Scale& scale);
// Spleeter's masks and vocals against its U-Nets in PyTorch.
eval::Bar stems_parity(const Scale& scale);
// hum's own separator on songs that no training has; what the ear hears of the lead it finds.
eval::Bar stems_synthetic(const Scale& scale);
eval::Bar stems_lead(const Scale& scale);
// What `hum separate` expects of its stems, against what they are.
eval::Bar stems_confidence(const Scale& scale);
// The processor time that training hum's own separator and rendering its songs takes.
eval::Bar stems_train(const Scale& scale);
// What the ear hears of people who sing in a band, after separation.
eval::Bar stems_melody(const Scale& scale);
// `hum separate`: whether its stems add up to the song; its speed and memory, with Spleeter's
// U-Nets beside PyTorch's; and real songs whose stems are known.
eval::Bar stems_sum(const Scale& scale);
eval::Bar stems_speed(const Scale& scale);
eval::Bar stems_real(const Scale& scale);
// Time and memory of `hum generate`, with an empty compile cache and with a warm one.
eval::Bar demo_time(const Scale& scale);
// Seconds of sound per second of `hum generate`, for one and many recordings per call, and its
// cost.
eval::Bar generate_speed(const Scale& scale);
// Time until a stream produces sound.
eval::Bar generate_stream(const Scale& scale);
// `hum serve`: the wait of one user; many users at once; the server at rest; with many open event
// streams; jobs under SIGKILLs; wrong requests.
eval::Bar serve_latency(const Scale& scale);
eval::Bar serve_load(const Scale& scale);
eval::Bar serve_idle(const Scale& scale);
eval::Bar serve_idle_streams(const Scale& scale);
eval::Bar serve_kill(const Scale& scale);
eval::Bar serve_fuzz(const Scale& scale);
// Hours of one core that training the released weights took, by their logs.
eval::Bar train_time(const Scale& scale);
// The largest batch that fits a given memory, with and without recomputation.
eval::Bar recompute_memory(const Scale& scale);
// Compile time of deep models as a scan over stacked layers.
eval::Bar scan_compile(const Scale& scale);

// From recording to notes: the time for 60 s of sound, both sides warm, against basic-pitch.
eval::Bar notes_speed(const Scale& scale);

// What hum hears of a voice (bench/hear): annotated recordings of people, recordings whose notes
// are plain, synthetic hums by two voices, sound without a voice, the octave of every preset, the
// pitch of every frame, whether confidences are probabilities, whether other constants of the
// decoder would be better, and its speed.
eval::Bar hear_people(const Scale& scale);
eval::Bar hear_known(const Scale& scale);
eval::Bar hear_synthetic(const Scale& scale);
eval::Bar hear_nothing(const Scale& scale);
eval::Bar hear_octave(const Scale& scale);
eval::Bar hear_pitch(const Scale& scale);
eval::Bar hear_sure(const Scale& scale);
eval::Bar hear_constants(const Scale& scale);
eval::Bar hear_speed(const Scale& scale);

// The training step of the 25.7M-parameter language model (bench/lm) against PyTorch and JAX: time
// in bf16 and f32, peak memory.
eval::Bar train_bf16(const Scale& scale);
eval::Bar train_f32(const Scale& scale);
eval::Bar train_jax(const Scale& scale);
eval::Bar train_memory(const Scale& scale);
// Greedy decoding of the 385M coarse LM's shape against transformers, llama.cpp, and the memory
// bandwidth.
eval::Bar decode_385m(const Scale& scale);
// From process start to the end of its first step, with an empty and with a filled compile cache.
eval::Bar warm_start(const Scale& scale);

// The codec's training step, as used for its released weights, against PyTorch in bf16.
eval::Bar train_codec(const Scale& scale);

}  // namespace hum::bench
