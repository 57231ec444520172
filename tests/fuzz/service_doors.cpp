// Where the bytes of strangers enter `hum serve`: heads and bodies of requests, jobs, uploads.
#include <cstdlib>
#include <stdexcept>

#include "audio/io.h"
#include "audio/test_signal.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "decode/confined.h"
#include "decode/container.h"
#include "serve/http/access.h"
#include "serve/http/body_reader.h"
#include "serve/http/request_parser.h"
#include "serve/http/url.h"
#include "serve/jobs/job_options.h"
#include "tests/fuzz/doors.h"

namespace hum::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxSeconds = 20;

// A refusal as an error, such as other doors have. A refusal that blames the server or does not say
// why is a bug.
void check(const std::optional<serve::Refusal>& refusal) {
  if (!refusal) return;
  const bool is_of_http = refusal->status == 501 || refusal->status == 505;
  if (refusal->detail.empty() || (refusal->status / 100 != 4 && !is_of_http)) {
    throw std::logic_error(fmt::format("refused with {} '{}'", refusal->status, refusal->detail));
  }
  fail(ExitCode::kBadData, refusal->detail, "send a valid request");
}

struct ParsedRequest {
  std::string method, target, body;
  std::optional<serve::Refusal> refusal;
  bool is_complete = false;
};

// Feeds a parser as a connection does, `most` bytes at a time.
ParsedRequest parse_request(std::string_view bytes, size_t most) {
  serve::RequestParser parser(16 << 10, 8 << 10);
  ParsedRequest parsed;
  std::string pending;
  const auto take = [&](std::string_view piece) { parsed.body += piece; };
  while (!bytes.empty() && !parser.refusal() && !parser.complete()) {
    pending += bytes.substr(0, most);
    bytes.remove_prefix(std::min(most, bytes.size()));
    if (!parser.head_complete()) pending.erase(0, parser.feed_head(pending));
    if (parser.refusal() || !parser.head_complete() || parser.complete()) continue;
    pending.erase(0, parser.feed_body(pending, take));
  }
  parsed.refusal = parser.refusal();
  parsed.is_complete = parser.complete();
  if (!parser.head_complete() || parsed.refusal) return parsed;
  parsed.method = parser.head().method;
  parsed.target = parser.head().target;
  const auto target = serve::parse_target(parsed.target);
  if (!target) {
    parsed.refusal = serve::Refusal{400, "the target is malformed"};
  } else {
    parsed.refusal =
        serve::check_origin(parser.head(), {target->authority, "127.0.0.1"}, {"hum.example"});
  }
  return parsed;
}

void open_request(const fs::path& file) {
  const std::string bytes = read_file(file);
  const ParsedRequest whole = parse_request(bytes, bytes.size()), split = parse_request(bytes, 7);
  const bool is_same = whole.refusal.has_value() == split.refusal.has_value() &&
                       whole.is_complete == split.is_complete && whole.method == split.method &&
                       whole.target == split.target && whole.body == split.body;
  if (!is_same && !whole.refusal) throw std::logic_error("its pieces are another request");
  check(whole.refusal);
  if (!whole.is_complete) fail(ExitCode::kBadData, "the request is cut", "send all of it");
}

Door request_door() {
  return {"request",
          ".http",
          {"GET /v1/jobs?limit=5&cursor=17 HTTP/1.1\r\nHost: localhost:8417\r\nAccept: */*\r\n"
           "Cookie: a=b; c=\"d\"\r\nIf-None-Match: \"x\"\r\nRange: bytes=0-99\r\n\r\n",
           "POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
           "Idempotency-Key: 7\r\nOrigin: http://127.0.0.1\r\nContent-Length: 17\r\n\r\n"
           "{\"task\": \"notes\"}",
           "POST http://hum.example/v1/uploads HTTP/1.1\r\nHost: hum.example\r\n"
           "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nX: y\r\n\r\n",
           "DELETE /v1/jobs/%61%20b HTTP/1.0\r\nHost: [::1]:80\r\n\r\n"},
          open_request,
          18000};
}

// Also checks that a refused form leaves no file.
void open_form(const fs::path& file, const fs::path& spool) {
  const std::string bytes = read_file(file);
  std::optional<serve::Refusal> refusal;
  {
    serve::RouteLimits limits{.body_bytes = 4096, .form_bytes = 1 << 20};
    limits.file_parts = {"audio", "timbre"};
    limits.file_bytes = 2048;
    serve::RequestHead head{.method = "POST", .target = "/v1/jobs", .has_body = true};
    head.content_length = std::ssize(bytes);
    head.headers.add("Content-Type", "multipart/form-data; boundary=x");
    serve::BodyReader reader(limits, spool);
    serve::Request request;
    refusal = reader.begin(head);
    for (size_t at = 0; at < bytes.size() && !refusal; at += 100) {
      refusal = reader.feed(std::string_view(bytes).substr(at, 100));
    }
    if (!refusal) refusal = reader.finish(request);
  }
  if (!fs::is_empty(spool)) throw std::logic_error("a file of the form is left");
  check(refusal);
}

Door form_door(const fs::path& scratch) {
  const fs::path spool = scratch / "spool";
  fs::create_directories(spool);
  const std::string text =
      "--x\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n"
      "{\"preset\": \"flute\"}\r\n";
  const std::string sound =
      "--x\r\nContent-Disposition: form-data; name=\"audio\"; "
      "filename*=UTF-8''h%C3%BCm.wav\r\nContent-Type: audio/wav\r\n\r\n" +
      std::string(1000, 'a') + "\r\n";
  return {"form",
          ".form",
          {text + sound + "--x--\r\n", "a preamble\r\n" + sound + text + "--x--\r\nan epilogue",
           "--x--\r\n"},
          [spool](const fs::path& file) { open_form(file, spool); },
          12000};
}

void open_job(const fs::path& file) {
  const Json json = try_parse_json(read_file(file));
  if (!json.is_object()) fail(ExitCode::kUsage, "the job is no JSON object", "write one");
  serve::JobRequest job;
  const auto options = serve::parse_job_options(json.value("options", Json::object()), job.task);
  if (json.contains("notes")) serve::parse_given_notes(json["notes"], kMaxSeconds);
  serve::validate(options, job);
}

Door job_door() {
  return {
      "job",
      ".json",
      {R"({"options": {"preset": "violin", "lm": true, "takes": 2, "snap": "0.5", "tempo": "120",)"
       R"( "octave": "1", "format": "flac", "seed": 7, "stereo": true,)"
       R"( "rate": 44100, "loop": false}})",
       R"({"notes": [{"start": 0, "end": 0.5, "pitch": 60, "amplitude": 0.5, "bends": [0, 1]},)"
       R"( {"start": 0.5, "end": 2, "pitch": 64}], "options": {"preset": "flute"}})"},
      open_job,
      12000};
}

Door upload_door(const std::string& extension, std::vector<std::string> files,
                 const fs::path& scratch, int64_t rounds) {
  const fs::path wav = scratch / "decoded.wav";
  return {"upload", extension, std::move(files),
          [wav](const fs::path& file) {
            decode::decode_confined(file, wav,
                                    {.max_seconds = kMaxSeconds, .program = HUM_PROGRAM});
            fs::remove(wav);
          },
          rounds};
}

// Only the detection of a container, without its decoder.
Door container_door(const std::string& extension, std::vector<std::string> files, int64_t rounds) {
  return {"container", extension, std::move(files),
          [](const fs::path& file) {
            const std::string bytes = read_file(file);
            const decode::Container container = decode::container_of(bytes);
            if (container != decode::Container::kNone) decode::is_cut_off(container, bytes);
          },
          rounds};
}

// What ffmpeg makes of a wav; empty where it is not installed.
std::string made_by_ffmpeg(const fs::path& wav, const fs::path& out) {
  const std::string line =
      fmt::format("ffmpeg -y -loglevel quiet -i {} {} < /dev/null", wav.string(), out.string());
  return std::system(line.c_str()) == 0 ? read_file(out) : "";
}

}  // namespace

std::vector<Door> service_doors(const fs::path& scratch) {
  std::vector<Door> doors = {request_door(), form_door(scratch), job_door()};
  const auto sound = audio::from_mono(audio::test_signal(11025, 22050), 22050);
  for (const char* extension : {".wav", ".flac", ".ogg", ".mp3"}) {
    const fs::path path = scratch / (std::string("upload") + extension);
    audio::write_audio(path, sound);
    doors.push_back(upload_door(extension, {read_file(path)}, scratch, 100));
  }
  for (const char* extension : {".webm", ".m4a"}) {
    const std::string bytes =
        made_by_ffmpeg(scratch / "upload.wav", scratch / (std::string("upload") + extension));
    if (bytes.empty()) continue;
    doors.push_back(upload_door(extension, {bytes}, scratch, 20));
    doors.push_back(container_door(extension, {bytes}, 6000));
  }
  return doors;
}

}  // namespace hum::fuzz
