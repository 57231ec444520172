// Places of sounds in spaces where near ones have the same colour; among them the embeddings of
// programs that hum has nothing to do with (bench/peers/embeddings.py).
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/hear/ears.h"

namespace hum::bench {

using Place = std::vector<double>;

// Of numbers of any type.
template <class Values>
Place as_place(const Values& values) {
  return {values.begin(), values.end()};
}

// Euclidean.
double distance(const Place& a, const Place& b);
// 1 less the cosine, for embeddings, whose length says little.
double cosine_distance(const Place& a, const Place& b);

struct Embeddings {
  std::map<std::string, std::vector<Place>> of;  // by program: each sound's
  std::map<std::string, std::string> left_out;   // by program: why it has none
};

// The embeddings of aisfx and musicnn, if build/peers-judges is installed and they run there.
Embeddings outside_embeddings(std::span<const hear::Sound> sounds);

}  // namespace hum::bench
