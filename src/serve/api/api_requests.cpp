// The part of the API that takes sounds and jobs in: their keys, limits and answers.
#include "base/error.h"
#include "base/hash.h"
#include "serve/api/api_impl.h"
#include "serve/api/incoming_impl.h"

namespace hum::serve {
namespace {

constexpr int kRetryAfterFullQueue_s = 10;
constexpr size_t kMostKeyBytes = 255;

std::optional<IdempotencyKey> key_of(const Request& request) {
  const auto key = request.headers.find("Idempotency-Key");
  if (!key) return std::nullopt;
  if (key->empty() || key->size() > kMostKeyBytes) {
    fail(ExitCode::kUsage,
         fmt::format("Idempotency-Key: 1 to {} characters are accepted", kMostKeyBytes),
         "send a random name for each new request");
  }
  std::string all = request.method + ' ' + request.route + '\n';
  all += request.body;
  for (const Part& part : request.parts) {
    all += fmt::format("\n{} {} ", part.name, part.size_bytes) +
           (part.sha256.empty() ? part.text : part.sha256);
  }
  return IdempotencyKey{std::string(*key), sha256(all)};
}

Response over_quota(const ReachedLimit& limit) {
  Response refused = problem(429, limit.detail, Json{{"hint", limit.hint}, {"limit", limit.name}});
  refused.headers.set("Retry-After", std::to_string(limit.retry_after_s));
  return refused;
}

}  // namespace

Response Api::answer(const Acceptance& acceptance) const {
  switch (acceptance.outcome) {
    case Acceptance::kOtherRequest:
      return problem_with_hint(422, "this Idempotency-Key was used for another request",
                               "send a new key with each new request");
    case Acceptance::kQueueFull: {
      auto full = problem_with_hint(
          429, fmt::format("{} jobs are waiting, and no more are taken", acceptance.position),
          "send it again later");
      full.headers.set("Retry-After", std::to_string(kRetryAfterFullQueue_s));
      return full;
    }
    case Acceptance::kNoUpload:
      return problem_with_hint(
          422, fmt::format("there is no upload '{}', or it has expired", acceptance.missing),
          "upload it again");
    case Acceptance::kOverQuota:
      return over_quota(*acceptance.limit);
    case Acceptance::kAccepted:
    case Acceptance::kRepeated:
      break;
  }
  Response accepted = json_response(202, {{"id", acceptance.id},
                                          {"status", to_name(Status::kQueued)},
                                          {"position", acceptance.position},
                                          {"links", job_links(acceptance.id)}});
  accepted.headers.set("Location", job_path(acceptance.id));
  return accepted;
}

Response Api::post_job(Request& request) {
  const std::string& caller = caller_of(request);
  const auto key = key_of(request);
  if (key) {
    if (const auto earlier = records_.earlier(caller, *key)) return answer(*earlier);
  }
  if (const auto limit = records_.reached_limit(caller, /*is_job=*/true)) {
    return over_quota(*limit);
  }
  Incoming incoming(store_, long_work_, options_, caller);
  incoming.read(request);
  const Acceptance acceptance = records_.accept(incoming.job(), incoming.uploads(), key);
  if (acceptance.outcome == Acceptance::kAccepted) incoming.keep();
  return answer(acceptance);
}

Response Api::post_upload(Request& request) {
  const std::string& caller = caller_of(request);
  const auto key = key_of(request);
  const auto created = [&](const std::string& id) {
    const auto upload = records_.upload(caller, id);
    if (!upload) return problem(404, "this upload has expired");
    Response response = json_response(201, upload_json(*upload));
    response.headers.set("Location", "/v1/uploads/" + id);
    return response;
  };
  if (key) {
    const auto earlier = records_.earlier(caller, *key);
    if (earlier && earlier->outcome == Acceptance::kRepeated) return created(earlier->id);
    if (earlier) return answer(*earlier);
  }
  if (const auto limit = records_.reached_limit(caller, /*is_job=*/false)) {
    return over_quota(*limit);
  }
  if (request.parts.size() != 1) {
    fail(ExitCode::kUsage,
         "an upload is one sound: the part 'audio', 'timbre', 'backing' or 'song'",
         "send it as multipart/form-data: curl -F audio=@hum.wav ...");
  }
  const Part& sound = request.parts[0];
  Incoming incoming(store_, long_work_, options_, caller);
  const Upload upload = incoming.decode(sound.file.path(), sound.name);
  const Acceptance acceptance = records_.add_upload(upload, key);
  if (acceptance.outcome == Acceptance::kAccepted) incoming.keep();
  if (acceptance.id.empty()) return answer(acceptance);
  return created(acceptance.id);
}

}  // namespace hum::serve
