// train-codec: whole training steps of the released codec (encoder, quantizer with its running
// codebooks, decoder, spectral losses, clipping, fused AdamW) from the released weights, on the
// same batches and with the same random draws as the peer. Crops, batch and optimizer are those of
// configs/codec.yaml, sizes and loss those of the released weights; the quantizer is active from
// the first step (bench/codec_step/problem.h). The draws (which books an item keeps, where idle
// entries move) follow the rule of models/codec. The problem file passes them to the peer; hum
// makes them within its step.
#include "base/scratch_folder.h"
#include "bench/bars.h"
#include "bench/locations.h"
#include "bench/peers.h"
#include "bench/program.h"
#include "bench/torch_bar.h"

namespace hum::bench {

eval::Bar train_codec(const Scale& scale) {
  const ScratchFolder folder;
  const std::string problem = folder / "problem.safetensors";
  run_program({kCodecStepProgram, "problem", problem, std::to_string(scale.loss_steps)});
  const auto hum = [&](int steps) {
    return last_line_json(
        run_program({kCodecStepProgram, "train", problem, "bf16", std::to_string(steps)},
                    {{"HUM_CACHE", folder / "cache"}})
            .out);
  };
  return against_torch({.name = "train-codec",
                        .dtype = "bf16",
                        .script = "codec_torch.py",
                        .problem = problem,
                        .hum = {{"", hum}},
                        .limit = 1.5,
                        .loss_limit = 0.01},
                       scale);
}

}  // namespace hum::bench
