// Finds the route of a request.
#include <algorithm>
#include <memory>
#include <utility>

#include "serve/http/http.h"
#include "serve/http/url.h"

namespace hum::serve {
namespace {

bool is_name(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

bool fits(const Route& route, const std::vector<std::string>& segments) {
  return std::ranges::equal(route.segments, segments,
                            [](const std::string& pattern, const std::string& segment) {
                              return is_name(pattern) ? !segment.empty() : pattern == segment;
                            });
}

// If `a` has a fixed segment where `b`, which fits the same path, has a name.
bool is_narrower(const Route& a, const Route& b) {
  for (size_t i = 0; i < a.segments.size(); ++i) {
    if (is_name(a.segments[i]) != is_name(b.segments[i])) return is_name(b.segments[i]);
  }
  return false;
}

bool same_paths(const Route& a, const Route& b) {
  return std::ranges::equal(a.segments, b.segments, [](const auto& one, const auto& other) {
    return one == other || (is_name(one) && is_name(other));
  });
}

}  // namespace

void Router::add(std::string method, std::string pattern, Handler handler, RouteLimits limits) {
  HUM_CHECK(pattern.starts_with('/') && handler, "{}: a route is a path with a handler", pattern);
  auto route = std::make_unique<Route>(Route{.method = std::move(method),
                                             .pattern = std::move(pattern),
                                             .handler = std::move(handler),
                                             .limits = std::move(limits)});
  for (const std::string_view segment : split_path(route->pattern)) {
    route->segments.emplace_back(segment);
  }
  for (const auto& other : routes_) {
    HUM_CHECK(other->method != route->method || !same_paths(*other, *route),
              "{} {} and {} are the same route", route->method, route->pattern, other->pattern);
  }
  routes_.push_back(std::move(route));
}

Router::Match Router::match(std::string_view method,
                            const std::vector<std::string>& segments) const {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  const Route* best = nullptr;  // of all methods: the narrowest pattern decides which are allowed
  for (const auto& route : routes_) {
    if (fits(*route, segments) && (best == nullptr || is_narrower(*route, *best))) {
      best = route.get();
    }
  }
  Match match;
  if (best == nullptr) return match;
  for (const auto& route : routes_) {
    if (!same_paths(*route, *best)) continue;
    match.allow += (match.allow.empty() ? "" : ", ") + route->method;
    if (route->method == "GET") match.allow += ", HEAD";
    if (route->method == wanted) match.route = route.get();
  }
  match.allow += ", OPTIONS";
  if (match.route == nullptr) return match;
  for (size_t i = 0; i < segments.size(); ++i) {
    const std::string_view name = match.route->segments[i];
    if (is_name(name)) {
      match.parameters.emplace(name.substr(1, name.size() - 2), segments[i]);
    }
  }
  return match;
}

bool Router::takes_files() const {
  return std::ranges::any_of(routes_,
                             [](const auto& route) { return !route->limits.file_parts.empty(); });
}

}  // namespace hum::serve
