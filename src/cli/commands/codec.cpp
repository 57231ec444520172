// hum codec encode | decode: converts sound to tokens and back.
#include <iostream>

#include "app/play/codec_files.h"
#include "base/error.h"
#include "base/names.h"
#include "cli/commands/commands.h"

namespace hum::cli {
namespace {

struct EncodeArgs {
  app::EncodeOptions options;
  template <class V>
  void declare(V& v) {
    v.positional("input", options.input, "a sound file: wav, flac, ogg, mp3, m4a or webm");
    v.short_flag('o', "output", options.output, "tokens to write: .safetensors");
    v("weights", options.weights,
      "folder of released weights (default: HUM_WEIGHTS, else weights/)");
    v("max_seconds", options.max_seconds, "longest sound to accept, in seconds");
  }
};

int encode(EncodeArgs& args) {
  const auto tokens = app::encode_file(args.options);
  std::cout << fmt::format("{}: {} of {}\n", args.options.output, counted(tokens.frames, "frame"),
                           counted(tokens.books, "token"));
  return 0;
}

struct DecodeArgs {
  app::DecodeOptions options;
  template <class V>
  void declare(V& v) {
    v.positional("input", options.input, "tokens that hum codec encode wrote");
    v.short_flag('o', "output", options.output, "sound to write: .wav, .flac, .ogg or .mp3");
    v("books", options.books, "number of codebooks to use, coarsest first (0: all)");
    v("rate", options.rate_hz, "sample rate of the output in Hz: 22050, 44100 or 48000");
    v("weights", options.weights,
      "folder of released weights (default: HUM_WEIGHTS, else weights/)");
  }
};

int decode(DecodeArgs& args) {
  const double seconds = app::decode_file(args.options);
  std::cout << fmt::format("{}: {:.1f} s of sound\n", args.options.output, seconds);
  return 0;
}

}  // namespace

const Command kCodecEncode = {"codec encode", "encode a sound as codec tokens",
                              "hum codec encode examples/vocadito_10.wav -o tokens.safetensors",
                              make_command<EncodeArgs, encode>};
const Command kCodecDecode = {"codec decode", "decode codec tokens to sound",
                              "hum codec decode tokens.safetensors -o out.wav",
                              make_command<DecodeArgs, decode>};

}  // namespace hum::cli
