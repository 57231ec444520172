#include "tests/serve/fuzz_cases.h"

#include <map>
#include <utility>

#include "base/error.h"
#include "serve/client/client.h"
#include "serve/jobs/job_options.h"
#include "tests/serve/hostile_sounds.h"

namespace hum::serve {
namespace {

struct Endpoint {
  const char *method, *target;
};

// "{job}", "{upload}" and "{none}" stand for ids.
constexpr Endpoint kEndpoints[] = {{"POST", "/v1/jobs"},
                                   {"GET", "/v1/jobs"},
                                   {"GET", "/v1/jobs/{job}"},
                                   {"DELETE", "/v1/jobs/{none}"},
                                   {"GET", "/v1/jobs/{job}/events"},
                                   {"GET", "/v1/jobs/{job}/results/melody.mid"},
                                   {"POST", "/v1/uploads"},
                                   {"GET", "/v1/uploads/{upload}"},
                                   {"DELETE", "/v1/uploads/{none}"},
                                   {"GET", "/v1/presets"},
                                   {"GET", "/v1/stems"},
                                   {"GET", "/v1/presets/violin/sound.wav"},
                                   {"GET", "/health"},
                                   {"GET", "/ready"},
                                   {"GET", "/openapi.json"},
                                   {"GET", "/"}};

// A request with something wrong before its body. METHOD and TARGET are replaced, PAD becomes
// 20,000 letters.
struct HeadDefect {
  const char* name;
  int status;
  const char* request;
  bool is_cut = false;
};

// 501 and 505 are what HTTP (RFC 9110) has for a coding and a version that a server does not know.
constexpr HeadDefect kHeadDefects[] = {
    {"no Host", 400, "METHOD TARGET HTTP/1.1\r\n\r\n"},
    {"two Hosts", 400, "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"},
    {"an empty Host", 400, "METHOD TARGET HTTP/1.1\r\nHost:\r\n\r\n"},
    {"a foreign Host", 421, "METHOD TARGET HTTP/1.1\r\nHost: evil.example\r\n\r\n"},
    {"a Host with a path", 400, "METHOD TARGET HTTP/1.1\r\nHost: localhost/x\r\n\r\n"},
    {"a Host with a bad port", 400, "METHOD TARGET HTTP/1.1\r\nHost: localhost:x\r\n\r\n"},
    {"a foreign target", 421,
     "METHOD http://evil.exampleTARGET HTTP/1.1\r\nHost: localhost\r\n\r\n"},
    {"no version", kRefused4xx, "METHOD TARGET\r\nHost: localhost\r\n\r\n"},
    {"HTTP/2.0", 505, "METHOD TARGET HTTP/2.0\r\nHost: localhost\r\n\r\n"},
    {"HTTP/0.9", 505, "METHOD TARGET HTTP/0.9\r\nHost: localhost\r\n\r\n"},
    {"a header without a colon", 400, "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nX\r\n\r\n"},
    {"a header without a name", 400, "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n"},
    {"a space in a name", 400, "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nA b: c\r\n\r\n"},
    {"a control character", 400, "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nA: \1\r\n\r\n"},
    {"a long header", 431, "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nA: PAD\r\n\r\n"},
    {"a long target", 414, "METHOD TARGET?PAD HTTP/1.1\r\nHost: localhost\r\n\r\n"},
    {"a negative length", 400,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"},
    {"a length in words", 400,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nContent-Length: ten\r\n\r\n"},
    {"a length beyond 64 bits", 400,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
     "99999999999999999999999\r\n\r\n"},
    {"a length of a terabyte", kRefused4xx,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n\r\n"},
    {"two lengths", 400,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: "
     "2\r\n\r\nab"},
    {"a length and chunks", 400,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
     "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {"an unknown encoding", 501,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n"},
    {"chunks of HTTP/1.0", 400,
     "METHOD TARGET HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {"an unknown expectation", kRefused4xx,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nExpect: more\r\nContent-Length: 2\r\n\r\n{}"},
    {"a broken chunk", kRefused4xx,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"},
    {"a chunk beyond 64 bits", kRefused4xx,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
     "fffffffffffffffffff\r\n"},
    {"a header that ends early", 400, "METHOD TARGET HTTP/1.1\r\nHost: loc", /*is_cut=*/true},
    {"a body that ends early", kRefused4xx,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
     /*is_cut=*/true},
    {"a form without a boundary", kRefused4xx,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data\r\n"
     "Content-Length: 2\r\n\r\nab"},
};

// Only of requests that change something.
constexpr HeadDefect kOriginDefects[] = {
    {"a foreign Origin", 403,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n"},
    {"the Origin null", 403, "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n"},
    {"another site", 403,
     "METHOD TARGET HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n"},
};

constexpr const char* kMethods[] = {"PUT",  "PATCH",  "TRACE", "PROPFIND", "get",
                                    "POST", "DELETE", "GET",   "QUERY",    "BREW"};

// Targets whose last name, X, is one of kBadNames.
constexpr Endpoint kNamed[] = {{"GET", "/v1/jobs/X"},
                               {"DELETE", "/v1/jobs/X"},
                               {"GET", "/v1/jobs/X/events"},
                               {"GET", "/v1/jobs/X/results/melody.mid"},
                               {"GET", "/v1/jobs/{job}/results/X"},
                               {"GET", "/v1/uploads/X"},
                               {"DELETE", "/v1/uploads/X"},
                               {"GET", "/v1/presets/X/sound.wav"}};
constexpr const char* kBadNames[] = {"0",      "00000000000000000000000000000000",
                                     "..",     "%2e%2e",
                                     ".",      "%2F",
                                     "a%2Fb",  "..%2F..%2Fetc%2Fpasswd",
                                     "%5c..",  "%00",
                                     "%0d%0a", "%zz",
                                     "%",      "%ff",
                                     "%C0%80", "%F0%9F%8E%B5",
                                     "*",      "'%20OR%20'1'='1",
                                     "x;y",    "{id}",
                                     "-1",     "99999999999999999999"};

constexpr const char* kBadQueries[] = {"limit=0",     "limit=101",
                                       "limit=-1",    "limit=1.5",
                                       "limit=many",  "limit=",
                                       "limit=%00",   "limit=1e1",
                                       "limit=0x10",  "limit=99999999999999999999",
                                       "cursor=0",    "cursor=-1",
                                       "cursor=",     "cursor=abc",
                                       "cursor=1%20", "cursor=99999999999999999999"};

// Bodies of a job that are no request.
constexpr const char* kBadBodies[] = {
    "",
    "{",
    "}",
    "[]",
    "null",
    "1",
    "true",
    "\"hum\"",
    "{}",
    "{\"a\":}",
    "{'task': 1}",
    "{} {}",
    "{\"upload\" \"x\"}",
    "\xff\xfe",
    "{\"upload\": \"\xff\"}",
    "{\"notes\": NaN}",
    "{\"notes\": [1,]}",
    "{\"options\": {\"preset\": \"violin\"}}",
    "{\"upload\": \"../../records.sqlite\", \"options\": {\"preset\": \"violin\"}}",
    "{\"audio\": \"x\"}",
    "{\"preset\": \"violin\"}",
    "{\"Upload\": \"x\"}"};

constexpr const char* kFields[] = {"upload", "timbre", "backing", "task", "notes", "options"};
constexpr const char* kOddValues[] = {"null",        "true", "0",    "-1",   "1e300", "\"\"",
                                      "\"no such\"", "[]",   "[[]]", "[{}]", "{}",    "{\"a\": 1}"};
constexpr const char* kBadNotes[] = {R"([{"start": 0}])",
                                     R"([{"start": -1, "end": 1, "pitch": 60}])",
                                     R"([{"start": 1, "end": 0, "pitch": 60}])",
                                     R"([{"start": 0, "end": 0, "pitch": 60}])",
                                     R"([{"start": 0, "end": 1, "pitch": 128}])",
                                     R"([{"start": 0, "end": 1, "pitch": -1}])",
                                     R"([{"start": 0, "end": 1, "pitch": "C4"}])",
                                     R"([{"start": "0", "end": 1, "pitch": 60}])",
                                     R"([{"start": 0, "end": 1e9, "pitch": 60}])",
                                     R"([{"start": 0, "end": 1e308, "pitch": 60}])",
                                     R"([{"start": 0, "end": 1, "pitch": 60, "bends": "all"}])",
                                     R"([{"start": 0, "end": 1, "pitch": 60, "bends": [1e99]}])",
                                     R"({"notes": []})",
                                     R"({"notes": [[]]})"};
constexpr const char* kGoodNotes = R"([{"start": 0, "end": 1, "pitch": 60}])";

// Bodies of a form with the boundary x.
struct FormDefect {
  const char* name;
  const char* body;
};
constexpr FormDefect kFormDefects[] = {
    {"an empty body", ""},
    {"no part", "--x--\r\n"},
    {"another boundary",
     "--y\r\nContent-Disposition: form-data; name=\"audio\"\r\n\r\na\r\n--y--\r\n"},
    {"no end", "--x\r\nContent-Disposition: form-data; name=\"audio\"\r\n\r\na\r\n"},
    {"a part without a header", "--x\r\n\r\na\r\n--x--\r\n"},
    {"a part without a disposition", "--x\r\nContent-Type: audio/wav\r\n\r\na\r\n--x--\r\n"},
    {"a part without a name", "--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--\r\n"},
    {"an empty name", "--x\r\nContent-Disposition: form-data; name=\"\"\r\n\r\na\r\n--x--\r\n"},
    {"an open quote", "--x\r\nContent-Disposition: form-data; name=\"audio\r\n\r\na\r\n--x--\r\n"},
    {"a control character in a name",
     "--x\r\nContent-Disposition: form-data; name=\"a\1\"\r\n\r\na\r\n--x--\r\n"},
    {"an attachment",
     "--x\r\nContent-Disposition: attachment; name=\"audio\"\r\n\r\na\r\n--x--\r\n"},
    {"two dispositions",
     "--x\r\nContent-Disposition: form-data; name=\"audio\"\r\n"
     "Content-Disposition: form-data; name=\"audio\"\r\n\r\na\r\n--x--\r\n"},
    {"an encoded part",
     "--x\r\nContent-Disposition: form-data; name=\"audio\"\r\n"
     "Content-Transfer-Encoding: base64\r\n\r\nYQ==\r\n--x--\r\n"},
    {"a line without a colon",
     "--x\r\nContent-Disposition: form-data; name=\"audio\"\r\nX\r\n\r\na\r\n--x--\r\n"},
    {"a part twice",
     "--x\r\nContent-Disposition: form-data; name=\"audio\"\r\n\r\na\r\n"
     "--x\r\nContent-Disposition: form-data; name=\"audio\"\r\n\r\na\r\n--x--\r\n"},
    {"an unknown part",
     "--x\r\nContent-Disposition: form-data; name=\"soundtrack\"\r\n\r\na\r\n--x--\r\n"},
    {"a boundary and letters",
     "--xy\r\nContent-Disposition: form-data; name=\"audio\"\r\n\r\na\r\n--x--\r\n"},
    {"line feeds only", "--x\nContent-Disposition: form-data; name=\"audio\"\n\na\n--x--\n"},
};

std::string replaced(std::string text, std::string_view name, const std::string& value) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + value.size())) {
    text.replace(at, name.size(), value);
  }
  return text;
}

class Cases {
 public:
  Cases(const FuzzIds& ids, double most_seconds) : ids_(ids), most_seconds_(most_seconds) {}

  std::vector<FuzzCase> all() && {
    add_heads();
    add_methods();
    add_names();
    add_bodies();
    add_options();
    add_forms();
    add_sounds();
    return std::move(cases_);
  }

 private:
  // A target with ids.
  std::string target(const char* pattern) const {
    const std::string none(32, 'f');
    return replaced(replaced(replaced(pattern, "{job}", ids_.job), "{upload}", ids_.upload),
                    "{none}", none);
  }
  void add(const Endpoint& to, const std::string& defect, std::string request, int status,
           bool is_cut = false) {
    cases_.push_back({std::string(to.method) + " " + to.target + ": " + defect, std::move(request),
                      status, is_cut});
  }
  // With a body.
  void add_body(const Endpoint& to, const std::string& defect, const std::string& type,
                const std::string& body, int status) {
    add(to, defect,
        fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {}\r\n"
                    "Content-Length: {}\r\n\r\n{}",
                    to.method, to.target, type, body.size(), body),
        status);
  }
  void add_json(const std::string& defect, const std::string& body, int status) {
    add_body({"POST", "/v1/jobs"}, defect, "application/json", body, status);
  }
  // Without a body.
  void add_plain(const Endpoint& to, const std::string& defect, const std::string& target,
                 int status) {
    add(to, defect, fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n\r\n", to.method, target),
        status);
  }

  void add_heads() {
    const std::string pad(20'000, 'a');
    const auto add_defect = [&](const Endpoint& to, const HeadDefect& defect) {
      const std::string request = replaced(
          replaced(replaced(defect.request, "METHOD", to.method), "TARGET", target(to.target)),
          "PAD", pad);
      add(to, defect.name, request, defect.status, defect.is_cut);
    };
    for (const Endpoint& to : kEndpoints) {
      for (const HeadDefect& defect : kHeadDefects) add_defect(to, defect);
      if (to.method == std::string_view("GET")) continue;
      for (const HeadDefect& defect : kOriginDefects) add_defect(to, defect);
    }
  }

  // Every path with every method that it does not take.
  void add_methods() {
    std::map<std::string, std::string> taken;
    for (const auto& [method, path] : kEndpoints) {
      const bool is_of_job = std::string_view(path).starts_with("/v1/jobs");
      taken[target(replaced(path, "{none}", is_of_job ? "{job}" : "{upload}").c_str())] +=
          std::string(" ") + method + " ";
    }
    for (const auto& [path, methods] : taken) {
      for (const char* method : kMethods) {
        if (methods.find(std::string(" ") + method + " ") != methods.npos) continue;
        const Endpoint to{method, path.c_str()};
        add_plain(to, "a method that it does not take", path, 405);
      }
    }
  }

  void add_names() {
    for (const Endpoint& to : kNamed) {
      for (const char* name : kBadNames) {
        const std::string path = target(replaced(to.target, "X", name).c_str());
        add_plain(to, fmt::format("the name {}", name), path, kRefused4xx);
      }
      const std::string path = target(replaced(to.target, "X", std::string(3000, 'n')).c_str());
      add_plain(to, "a name of 3,000 letters", path, kRefused4xx);
    }
    for (const char* query : kBadQueries) {
      const Endpoint to{"GET", "/v1/jobs"};
      add_plain(to, query, std::string(to.target) + "?" + query, kRefused4xx);
    }
  }

  void add_bodies() {
    for (const char* body : kBadBodies)
      add_json(fmt::format("the body {}", body), body, kRefused4xx);
    add_json("10,000 levels", std::string(10'000, '[') + std::string(10'000, ']'), kRefused4xx);
    add_json("a NUL", std::string("{\"task\": \"no\0tes\"}", 18), kRefused4xx);
    for (const char* field : kFields) {
      for (const char* value : kOddValues) {
        Json body = {{"notes", parse_json(kGoodNotes)}, {"options", {{"preset", "violin"}}}};
        body[field] = parse_json(value);
        add_json(fmt::format("{} = {}", field, value), to_text(body), kValidOrRefused);
      }
    }
    for (const char* notes : kBadNotes) {
      add_json(fmt::format("the notes {}", notes),
               fmt::format(R"({{"task": "notes", "notes": {}}})", notes), kRefused4xx);
    }
    for (const char* type : {"text/plain", "application/xml", "", "multipart/mixed; boundary=x",
                             "application/x-www-form-urlencoded"}) {
      add_body({"POST", "/v1/jobs"}, fmt::format("the type '{}'", type), type, "{}", kRefused4xx);
      add_body({"POST", "/v1/uploads"}, fmt::format("the type '{}'", type), type, "{}",
               kRefused4xx);
    }
  }

  // Every option with odd values.
  void add_options() {
    const Json properties = job_options_schema()["properties"];
    for (const auto& [name, unused] : properties.items()) {
      for (const char* value : kOddValues) {
        Json options = {{"preset", "violin"}};
        options[name] = parse_json(value);
        add_json(fmt::format("options.{} = {}", name, value),
                 to_text(Json{{"notes", parse_json(kGoodNotes)}, {"options", options}}),
                 kValidOrRefused);
      }
      const std::string wrong = name + "_";
      add_json("options." + wrong,
               to_text(Json{{"notes", parse_json(kGoodNotes)},
                            {"options", {{"preset", "violin"}, {wrong, 1}}}}),
               422);
    }
  }

  void add_forms() {
    for (const char* to : {"/v1/jobs", "/v1/uploads"}) {
      const Endpoint endpoint{"POST", to};
      for (const FormDefect& defect : kFormDefects) {
        add_body(endpoint, defect.name, "multipart/form-data; boundary=x", defect.body,
                 kRefused4xx);
      }
      std::string many;
      for (int i = 0; i < 1000; ++i) {
        many += fmt::format("--x\r\nContent-Disposition: form-data; name=\"n{}\"\r\n\r\na\r\n", i);
      }
      add_body(endpoint, "1,000 parts", "multipart/form-data; boundary=x", many + "--x--\r\n",
               kRefused4xx);
      const std::string padded = "--x\r\nContent-Disposition: form-data; name=\"audio\"\r\nA: " +
                                 std::string(10'000, 'a') + "\r\n\r\na\r\n--x--\r\n";
      add_body(endpoint, "a part with a long header", "multipart/form-data; boundary=x", padded,
               kRefused4xx);
      add_body(endpoint, "a long boundary",
               "multipart/form-data; boundary=" + std::string(100, 'x'), "--x--\r\n", kRefused4xx);
    }
  }

  void add_sounds() {
    for (const HostileSound& sound : hostile_sounds(most_seconds_)) {
      for (const char* part : {"audio", "timbre", "backing"}) {
        const bool is_refused = sound.is_refused && part == std::string_view("audio");
        FormWriter form;
        form.file(part, sound.bytes);
        const std::string type = form.content_type().substr(std::string("Content-Type: ").size());
        add_body({"POST", "/v1/uploads"}, fmt::format("{}: {}", part, sound.name), type,
                 form.body(), is_refused ? kRefused4xx : kValidOrRefused);
        form.text("options", R"({"preset": "violin"})");
        if (part != std::string_view("audio")) form.text("notes", kGoodNotes);
        add_body({"POST", "/v1/jobs"}, fmt::format("{}: {}", part, sound.name), type, form.body(),
                 is_refused ? kRefused4xx : kValidOrRefused);
      }
      add_song(sound);
    }
  }

  void add_song(const HostileSound& sound) {
    const int status = sound.is_refused ? kRefused4xx : kValidOrRefused;
    FormWriter upload, job;
    upload.file("song", sound.bytes);
    job.file("audio", sound.bytes).text("task", "separate");
    const auto add_form = [&](const char* target, const FormWriter& form) {
      const std::string type = form.content_type().substr(std::string("Content-Type: ").size());
      add_body({"POST", target}, "song: " + sound.name, type, form.body(), status);
    };
    add_form("/v1/uploads", upload);
    add_form("/v1/jobs", job);
  }

  const FuzzIds& ids_;
  double most_seconds_;
  std::vector<FuzzCase> cases_;
};

}  // namespace

std::vector<FuzzCase> fuzz_cases(const FuzzIds& ids, double most_seconds) {
  return Cases(ids, most_seconds).all();
}

}  // namespace hum::serve
