#include "models/codec/codec_session.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/hash.h"
#include "models/codec/code_vectors.h"
#include "models/stored_model.h"

namespace hum::models::codec {

using graph::DType;
using runtime::HostTensor;

namespace {

// Windows per encoder call: those of one training item, which keeps the cores busy.
constexpr int64_t kEncodeBatch = 8;
// Frames of a window that are kept; the rest is context on both sides.
constexpr int64_t kContextFrames = 25;
constexpr int64_t kKeptFrames = kWindowFrames - 2 * kContextFrames;

int64_t windows_for(int64_t frames) { return (frames + kKeptFrames - 1) / kKeptFrames; }

// The first books and dims of each code vector. Shapes: [K, E, D] -> [books, E, width].
HostTensor first_of(const HostTensor& codebooks, int64_t books, int64_t width) {
  const auto& dims = codebooks.shape().dims;
  HostTensor result({DType::kF32, {books, dims[1], width}});
  const auto from = codebooks.as<float>();
  const auto to = result.as<float>();
  for (int64_t row = 0; row < books * dims[1]; ++row) {
    std::copy_n(from.begin() + row * dims[2], width, to.begin() + row * width);
  }
  return result;
}

// Rows with zeros after each. Shapes: [rows, from] -> [rows, to].
std::vector<float> widened(std::span<const float> values, int64_t from, int64_t to) {
  const int64_t rows = std::ssize(values) / from;
  std::vector<float> result(static_cast<size_t>(rows * to));
  for (int64_t row = 0; row < rows; ++row) {
    std::copy_n(values.begin() + row * from, from, result.begin() + row * to);
  }
  return result;
}

}  // namespace

struct CodecSession::State {
  State(runtime::Session& session, const std::filesystem::path& folder)
      : stored(session, folder, "hum-codec") {
    std::string bytes;
    const auto& parameters = stored.model().parameters().all();
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name.starts_with("decoder.")) continue;
      const HostTensor& tensor = stored.weights()[i];
      bytes.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    }
    fingerprint = sha256(bytes);
    codebooks = stored.run(compile_codebooks(), {});
    const CodecConfig& config = stored.model().config();
    sound_codebooks = first_of(codebooks, config.sound_books(), config.sound_latent());
  }

  StoredModel<Codec> stored;
  std::string fingerprint;
  HostTensor codebooks, sound_codebooks;
  std::mutex mutex;
  std::optional<runtime::Executable> encoder, latents, decoder;

  const Codec& model() const { return stored.model(); }
  const runtime::Executable& get_encoder() {
    std::lock_guard lock(mutex);
    const auto audio = encoder_input();
    if (!encoder) encoder = stored.compile("codec/encode", {audio}, {model().encode(audio)});
    return *encoder;
  }
  const runtime::Executable& get_latents() {
    std::lock_guard lock(mutex);
    const auto audio = encoder_input();
    if (!latents) latents = stored.compile("codec/latents", {audio}, {model().latents(audio)});
    return *latents;
  }
  const runtime::Executable& get_decoder() {
    std::lock_guard lock(mutex);
    if (!decoder) {
      const auto latents =
          graph::parameter("latents", {DType::kF32, {1, kWindowFrames, model().config().latent}});
      decoder = stored.compile("codec/decode", {latents}, {model().decode(latents)});
    }
    return *decoder;
  }
  static Value encoder_input() {
    return graph::parameter("audio", {DType::kF32, {kEncodeBatch, kWindowSamples}});
  }
  // Runs a program of the encoder on consecutive whole windows: n of its rows.
  template <typename T>
  std::vector<T> run_windows(const runtime::Executable& program,
                             std::span<const float> windows) const {
    HUM_REQUIRE(windows.size() % kWindowSamples == 0, "codec: {} samples are not whole windows",
                windows.size());
    const auto count = static_cast<int64_t>(windows.size()) / kWindowSamples;
    std::vector<T> result;
    for (int64_t first = 0; first < count; first += kEncodeBatch) {
      HostTensor input({DType::kF32, {kEncodeBatch, kWindowSamples}});
      const int64_t here = std::min(kEncodeBatch, count - first);
      std::ranges::copy(windows.subspan(static_cast<size_t>(first * kWindowSamples),
                                        static_cast<size_t>(here * kWindowSamples)),
                        input.as<float>().begin());
      const HostTensor output = stored.run(program, {&input});
      const auto values = output.as<T>();
      const auto kept = values.first(values.size() / kEncodeBatch * static_cast<size_t>(here));
      result.insert(result.end(), kept.begin(), kept.end());
    }
    return result;
  }
  // All code vectors of all books in the decoder's space.
  runtime::Executable compile_codebooks() const {
    const auto& quantizer = model().config().quantizer;
    const auto ids = graph::iota({DType::kI32, {quantizer.entries}}, 0);
    graph::Values books;
    for (int64_t k = 0; k < quantizer.books; ++k) {
      books.push_back(graph::expand_dims(model().quantizer().lookup(k, ids), 0));
    }
    return stored.compile("codec/codebooks", {}, {graph::concatenate(books, 0)});
  }
};

CodecSession::CodecSession(runtime::Session& session, const std::filesystem::path& folder)
    : state_(std::make_unique<State>(session, folder)) {}

CodecSession::~CodecSession() = default;

const CodecConfig& CodecSession::config() const { return state_->model().config(); }
const std::string& CodecSession::fingerprint() const { return state_->fingerprint; }
const HostTensor& CodecSession::codebooks() const { return state_->codebooks; }
const HostTensor& CodecSession::sound_codebooks() const { return state_->sound_codebooks; }

std::vector<int32_t> CodecSession::encode_windows(std::span<const float> windows) const {
  return state_->run_windows<int32_t>(state_->get_encoder(), windows);
}

std::vector<float> CodecSession::window_latents(std::span<const float> windows) const {
  return state_->run_windows<float>(state_->get_latents(), windows);
}

std::vector<float> CodecSession::decode_latents(std::span<const float> latents) const {
  const int64_t whole = config().latent, sound = config().sound_latent();
  const bool is_sound = std::ssize(latents) == kWindowFrames * sound;
  HUM_REQUIRE(is_sound || std::ssize(latents) == kWindowFrames * whole,
              "decode_latents: {} values are not {} frames", latents.size(), kWindowFrames);
  const auto values = widened(latents, is_sound ? sound : whole, whole);
  const auto input = HostTensor::of({1, kWindowFrames, whole}, std::span<const float>(values));
  const HostTensor output = state_->stored.run(state_->get_decoder(), {&input});
  const auto samples = output.as<float>();
  return {samples.begin(), samples.end()};
}

std::vector<int32_t> CodecSession::encode(std::span<const float> samples) const {
  const int64_t frames = (static_cast<int64_t>(samples.size()) + kHopSamples - 1) / kHopSamples;
  const int64_t windows = windows_for(frames), books = config().quantizer.books;
  std::vector<float> padded(static_cast<size_t>(windows * kWindowSamples));
  for (int64_t w = 0; w < windows; ++w) {
    const int64_t start = (w * kKeptFrames - kContextFrames) * kHopSamples;
    for (int64_t i = std::max<int64_t>(0, -start); i < kWindowSamples; ++i) {
      if (start + i >= static_cast<int64_t>(samples.size())) break;
      padded[static_cast<size_t>(w * kWindowSamples + i)] = samples[static_cast<size_t>(start + i)];
    }
  }
  const std::vector<int32_t> all = encode_windows(padded);
  std::vector<int32_t> codes;
  for (int64_t w = 0; w < windows; ++w) {
    const auto first = all.begin() + (w * kWindowFrames + kContextFrames) * books;
    const int64_t kept = std::min(kKeptFrames, frames - w * kKeptFrames);
    codes.insert(codes.end(), first, first + kept * books);
  }
  return codes;
}

std::vector<int32_t> CodecSession::encode_sound(std::span<const float> samples) const {
  return first_books(encode(samples), config().quantizer.books, config().sound_books());
}

std::vector<float> CodecSession::decode(std::span<const int32_t> codes, int64_t books) const {
  const auto& quantizer = config().quantizer;
  const int64_t latent = config().latent;
  const int64_t frames = static_cast<int64_t>(codes.size()) / quantizer.books;
  HUM_REQUIRE(books >= 1 && books <= quantizer.books, "codec: {} books of {}", books,
              quantizer.books);
  const auto outside = [&](int32_t code) { return code < 0 || code >= quantizer.entries; };
  if (const auto bad = std::ranges::find_if(codes, outside); bad != codes.end()) {
    fail(ExitCode::kBadData,
         fmt::format("token {} of frame {} is outside 0..{}", *bad,
                     (bad - codes.begin()) / quantizer.books, quantizer.entries - 1));
  }
  const std::vector<float> latents = sum_code_vectors(state_->codebooks, codes, books);
  std::vector<float> samples;
  for (int64_t w = 0; w < windows_for(frames); ++w) {
    std::vector<float> window(static_cast<size_t>(kWindowFrames * latent));
    const int64_t start = w * kKeptFrames - kContextFrames;
    for (int64_t f = std::max<int64_t>(0, -start); f < kWindowFrames && start + f < frames; ++f) {
      std::copy_n(latents.begin() + (start + f) * latent, latent, window.begin() + f * latent);
    }
    const std::vector<float> decoded = decode_latents(window);
    const int64_t kept = std::min(kKeptFrames, frames - w * kKeptFrames);
    const auto first = decoded.begin() + kContextFrames * kHopSamples;
    samples.insert(samples.end(), first, first + kept * kHopSamples);
  }
  return samples;
}

}  // namespace hum::models::codec
