// hum codec encode | decode: sound to tokens and back.
#include <iostream>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "audio/resample.h"
#include "base/log.h"
#include "cli/commands/commands.h"
#include "models/codec/token_file.h"
#include "models/weights_folder.h"
#include "pipeline/recording.h"

namespace hum::cli {
namespace {

using models::codec::CodecSession;
using models::codec::TokenFile;

struct EncodeArgs {
  std::string input, output, weights;
  double max_seconds = audio::kDefaultMaxSeconds;
  template <class V>
  void declare(V& v) {
    v.positional("input", input, "a sound file: wav, flac, ogg or mp3");
    v.short_flag('o', "output", output, "tokens to write: .safetensors");
    v("weights", weights, "folder of released weights (default: HUM_WEIGHTS, else weights/)");
    v("max_seconds", max_seconds, "longest sound to accept");
  }
};

void require_named(const std::string& output, const char* example) {
  if (output.empty()) {
    fail(ExitCode::kUsage, "no output was named", std::string("-o ") + example);
  }
}

int encode(EncodeArgs& args) {
  require_named(args.output, "tokens.safetensors");
  pipeline::require_output(args.output, {".safetensors"});
  const auto recording = pipeline::read_recording(args.input, args.max_seconds);
  for (const auto& warning : recording.warnings) spdlog::warn("{}: {}", args.input, warning);
  runtime::Session session(app::session_options());
  const CodecSession codec(session,
                           models::weights_part(app::weights_folder(args.weights), "codec"));
  TokenFile tokens{.codes = codec.encode(recording.samples),
                   .books = codec.config().quantizer.books,
                   .samples = static_cast<int64_t>(recording.samples.size()),
                   .fingerprint = codec.fingerprint()};
  models::codec::write_token_file(args.output, tokens);
  std::cout << fmt::format("{}: {} frames of {} tokens\n", args.output, tokens.frames(),
                           tokens.books);
  return 0;
}

struct DecodeArgs {
  std::string input, output, weights;
  int64_t books = 0, rate_hz = models::codec::kSampleRateHz;
  template <class V>
  void declare(V& v) {
    v.positional("input", input, "tokens that hum codec encode wrote");
    v.short_flag('o', "output", output, "sound to write: .wav, .flac or .ogg");
    v("books", books, "codebooks to use, coarse ones first (0: all)");
    v("rate", rate_hz, "sample rate of the output: 22050, 44100 or 48000");
    v("weights", weights, "folder of released weights (default: HUM_WEIGHTS, else weights/)");
  }
};

void require_fits(const DecodeArgs& args, const TokenFile& tokens, const CodecSession& codec) {
  const auto& quantizer = codec.config().quantizer;
  const bool in_range = std::ranges::all_of(
      tokens.codes, [&](int32_t code) { return code >= 0 && code < quantizer.entries; });
  if (tokens.books != quantizer.books || !in_range) {
    fail(ExitCode::kBadData, args.input + ": its tokens do not fit this codec's codebooks",
         "name the weights that made them with --weights");
  }
  if (tokens.fingerprint != codec.fingerprint()) {
    spdlog::warn("{}: made by another codec than these weights: it may sound wrong", args.input);
  }
}

int decode(DecodeArgs& args) {
  require_named(args.output, "out.wav");
  if (args.rate_hz != 22050 && args.rate_hz != 44100 && args.rate_hz != 48000) {
    fail(ExitCode::kUsage, fmt::format("--rate {} is not offered", args.rate_hz),
         "use 22050, 44100 or 48000");
  }
  pipeline::require_output(args.output, {".wav", ".flac", ".ogg"});
  const TokenFile tokens = models::codec::read_token_file(args.input);
  if (args.books < 0 || args.books > tokens.books) {
    fail(ExitCode::kUsage, fmt::format("--books {} of {}", args.books, tokens.books));
  }
  runtime::Session session(app::session_options());
  const CodecSession codec(session,
                           models::weights_part(app::weights_folder(args.weights), "codec"));
  require_fits(args, tokens, codec);
  auto samples = codec.decode(tokens.codes, args.books == 0 ? tokens.books : args.books);
  samples.resize(static_cast<size_t>(tokens.samples));
  const auto rate_hz = static_cast<int>(args.rate_hz);
  const auto sound =
      audio::from_mono(audio::resample(samples, models::codec::kSampleRateHz, rate_hz), rate_hz);
  audio::write_audio(args.output, sound);
  std::cout << fmt::format("{}: {:.1f} s of sound\n", args.output, sound.seconds());
  return 0;
}

}  // namespace

const Command kCodecEncode = {"codec encode", "write a sound's codec tokens",
                              "hum codec encode examples/vocadito_10.wav -o tokens.safetensors",
                              make_command<EncodeArgs, encode>};
const Command kCodecDecode = {"codec decode", "play codec tokens",
                              "hum codec decode tokens.safetensors -o out.wav",
                              make_command<DecodeArgs, decode>};

}  // namespace hum::cli
