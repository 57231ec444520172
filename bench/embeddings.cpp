#include "bench/embeddings.h"

#include <cmath>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "bench/peer_settings.h"
#include "bench/peers.h"

namespace hum::bench {
namespace {

constexpr const char* kPrograms[] = {"aisfx", "musicnn"};

double dot(const Place& a, const Place& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

double distance(const Place& a, const Place& b) {
  return std::sqrt(std::transform_reduce(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
                                         [](double x, double y) { return (x - y) * (x - y); }));
}

double cosine_distance(const Place& a, const Place& b) {
  const double lengths = std::sqrt(dot(a, a) * dot(b, b));
  return lengths > 0 ? 1 - dot(a, b) / lengths : 1;
}

Embeddings outside_embeddings(std::span<const hear::Sound> sounds) {
  Embeddings embeddings;
  if (!is_installed(kPeersJudges)) {
    for (const char* program : kPrograms) {
      embeddings.left_out[program] = "not installed: bench/peers/install.sh peers-judges";
    }
    return embeddings;
  }
  const ScratchFolder folder;
  const Json answer =
      run_peer("embeddings.py", hear::write_sounds(sounds, folder), {}, kPeersJudges);
  answer.at("left out").get_to(embeddings.left_out);
  for (const auto& [program, places] : answer.at("embeddings").items()) {
    places.get_to(embeddings.of[program]);
    HUM_CHECK(embeddings.of[program].size() == sounds.size());
  }
  return embeddings;
}

}  // namespace hum::bench
