#include "app/play/codec_files.h"

#include <algorithm>

#include "app/play/outputs.h"
#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "audio/resample.h"
#include "base/log.h"
#include "decode/read.h"
#include "models/codec/token_file.h"
#include "models/weights_folder.h"
#include "pipeline/recording.h"

namespace hum::app {
namespace {

using models::codec::CodecSession;
using models::codec::TokenFile;

void require_named(const std::string& output, const char* example) {
  if (output.empty()) {
    fail(ExitCode::kUsage, "no output file was given", std::string("-o ") + example);
  }
}

void require_fits(const DecodeOptions& options, const TokenFile& tokens,
                  const CodecSession& codec) {
  const auto& quantizer = codec.config().quantizer;
  const bool in_range = std::ranges::all_of(
      tokens.codes, [&](int32_t code) { return code >= 0 && code < quantizer.entries; });
  if (tokens.books != quantizer.books || !in_range) {
    fail(ExitCode::kBadData, options.input + ": the tokens do not fit this codec's codebooks",
         "use --weights to name the weights that made them");
  }
  if (tokens.fingerprint != codec.fingerprint()) {
    spdlog::warn("{}: another codec made these tokens, so they may sound wrong", options.input);
  }
}

}  // namespace

EncodedFile encode_file(const EncodeOptions& options) {
  require_named(options.output, "tokens.safetensors");
  pipeline::validate_max_seconds(options.max_seconds);
  pipeline::require_output(options.output, {".safetensors"});
  const auto recording = decode::read_recording(options.input, options.max_seconds);
  for (const auto& warning : recording.warnings)
    spdlog::warn("{}: {}", audio::name_of(options.input), warning);
  runtime::Session session(session_options());
  const CodecSession codec(session, models::weights_part(weights_folder(options.weights), "codec"));
  const TokenFile tokens{.codes = codec.encode(recording.samples),
                         .books = codec.config().quantizer.books,
                         .samples = static_cast<int64_t>(recording.samples.size()),
                         .fingerprint = codec.fingerprint()};
  models::codec::write_token_file(options.output, tokens);
  return {tokens.frames(), tokens.books};
}

double decode_file(const DecodeOptions& options) {
  require_named(options.output, "out.wav");
  if (options.rate_hz != 22050 && options.rate_hz != 44100 && options.rate_hz != 48000) {
    fail(ExitCode::kUsage, fmt::format("--rate {} is not supported", options.rate_hz),
         "use 22050, 44100 or 48000");
  }
  pipeline::require_output(options.output, kSoundExtensions);
  const TokenFile tokens = models::codec::read_token_file(options.input);
  if (options.books < 0 || options.books > tokens.books) {
    fail(ExitCode::kUsage, fmt::format("--books {} is outside 0..{}", options.books, tokens.books),
         "0 uses all codebooks");
  }
  runtime::Session session(session_options());
  const CodecSession codec(session, models::weights_part(weights_folder(options.weights), "codec"));
  require_fits(options, tokens, codec);
  auto samples = codec.decode(tokens.codes, options.books == 0 ? tokens.books : options.books);
  samples.resize(static_cast<size_t>(tokens.samples));
  const auto rate_hz = static_cast<int>(options.rate_hz);
  const auto sound =
      audio::from_mono(audio::resample(samples, models::codec::kSampleRateHz, rate_hz), rate_hz);
  audio::write_audio(options.output, sound);
  return sound.seconds();
}

}  // namespace hum::app
