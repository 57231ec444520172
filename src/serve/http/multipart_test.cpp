#include "serve/http/multipart.h"

#include <gmock/gmock.h>

#include "base/rng.h"
#include "base/testing/mutation.h"

namespace hum::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Seen {
  std::string name, file_name, content_type, content;
  bool ended = false;
  bool operator==(const Seen&) const = default;
};

struct Parsed {
  std::vector<Seen> parts;
  bool whole = false;
  std::string error;
  bool operator==(const Parsed&) const = default;
};

// Parses the pieces one after the other.
Parsed parse(const std::vector<std::string_view>& pieces, const std::string& boundary = "abc") {
  Parsed parsed;
  MultipartParser parser(
      boundary,
      {.begin =
           [&](const PartHead& head) {
             parsed.parts.push_back({head.name, head.file_name, head.content_type, "", false});
           },
       .content = [&](std::string_view bytes) { parsed.parts.back().content += bytes; },
       .end = [&] { parsed.parts.back().ended = true; }});
  parsed.whole = true;
  for (const std::string_view piece : pieces) parsed.whole = parsed.whole && parser.feed(piece);
  parsed.whole = parser.finish() && parsed.whole;
  parsed.error = parser.error();
  return parsed;
}

const std::string kForm =
    "ignored preamble\r\n"
    "--abc\r\n"
    "Content-Disposition: form-data; name=\"options\"\r\n\r\n"
    "{\"takes\": 2}\r\n"
    "--abc  \r\n"
    "content-disposition:form-data;name=audio;filename=\"my \\\"hum\\\".wav\"\r\n"
    "Content-Type: audio/wav\r\n\r\n"
    "RIFF\r\n--ab\r\n--\r\n\r\n-\r\r\n--abd\r\n"
    "--abc\r\n"
    "Content-Disposition: form-data; name=\"empty\"\r\n\r\n"
    "\r\n"
    "--abc--\r\nignored --abc epilogue";

TEST(MultipartParser, FindsNamesTypesAndContent) {
  const Parsed parsed = parse({kForm});
  EXPECT_TRUE(parsed.whole) << parsed.error;
  EXPECT_THAT(parsed.parts, ElementsAre(Seen{"options", "", "", "{\"takes\": 2}", true},
                                        Seen{"audio", "my \"hum\".wav", "audio/wav",
                                             "RIFF\r\n--ab\r\n--\r\n\r\n-\r\r\n--abd", true},
                                        Seen{"empty", "", "", "", true}));
}

TEST(MultipartParser, GivesTheSameForEverySplitOfTheInput) {
  const Parsed whole = parse({kForm});
  const std::string_view form = kForm;
  for (size_t i = 0; i <= form.size(); ++i) {
    EXPECT_EQ(parse({form.substr(0, i), form.substr(i)}), whole) << "split at " << i;
  }
  std::vector<std::string_view> bytes;
  for (size_t i = 0; i < form.size(); ++i) bytes.push_back(form.substr(i, 1));
  EXPECT_EQ(parse(bytes), whole);
  for (size_t i = 0; i < form.size(); i += 3) {
    for (size_t j = i; j < form.size(); j += 5) {
      EXPECT_EQ(parse({form.substr(0, i), form.substr(i, j - i), form.substr(j)}), whole)
          << "split at " << i << " and " << j;
    }
  }
}

TEST(MultipartParser, PassesContentOnWithoutHoldingIt) {
  size_t held = 0, passed = 0;
  MultipartParser parser("abc", {.begin = [](const PartHead&) {},
                                 .content = [&](std::string_view bytes) { passed += bytes.size(); },
                                 .end = [] {}});
  ASSERT_TRUE(parser.feed("--abc\r\nContent-Disposition: form-data; name=a\r\n\r\n"));
  const std::string piece(1000, '\r');
  for (int i = 1; i <= 50; ++i) {
    ASSERT_TRUE(parser.feed(piece));
    held = std::max(held, i * piece.size() - passed);
  }
  EXPECT_LE(held, std::string_view("\r\n--abc").size());
}

TEST(MultipartParser, EndsAtTheLastBoundaryOnly) {
  const std::string_view form = kForm;
  const size_t last = form.rfind("--\r\nignored") + 2;
  for (size_t end = 0; end < last; ++end) {
    const Parsed cut = parse({form.substr(0, end)});
    EXPECT_FALSE(cut.whole) << "cut at " << end;
    EXPECT_FALSE(cut.error.empty());
  }
  EXPECT_TRUE(parse({form.substr(0, last)}).whole);
}

std::string with_header(const std::string& header) {
  return "--abc\r\n" + header + "\r\n\r\nx\r\n--abc--\r\n";
}

TEST(MultipartParser, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "no part with the boundary"},
      {"no boundary at all", "no part with the boundary"},
      {"--abcd\r\n", "not followed by a line end"},
      {"--abc\nx", "not followed by a line end"},
      {"--abc" + std::string(300, ' ') + "\r\n", "too many spaces"},
      {"--abc\r\n\r\nx\r\n--abc--", "no header"},
      {with_header("Content-Type: text/plain"), "no Content-Disposition"},
      {with_header("Content-Disposition: attachment; name=a"), "not form-data"},
      {with_header("Content-Disposition: form-data"), "no valid name"},
      {with_header("Content-Disposition: form-data; name=\"\""), "no valid name"},
      {with_header("Content-Disposition: form-data; name=\"a\tb\""), "no valid name"},
      {with_header("Content-Disposition: form-data; name=\"\xff\""), "no valid name"},
      {with_header("Content-Disposition: form-data; name=\"a"), "valid parameters"},
      {with_header("Content-Disposition: form-data; name=a; name=b"), "valid parameters"},
      {with_header("Content-Disposition: form-data; name=a b"), "valid parameters"},
      {with_header("Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; "
                   "name=b"),
       "two Content-Dispositions"},
      {with_header("Content-Disposition: form-data; name=a\r\nno colon"), "'Name: value'"},
      {with_header("Content-Disposition: form-data; name=a\r\n: x"), "'Name: value'"},
      {with_header("Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64"),
       "encoded as base64"},
      {with_header("X: " + std::string(9000, 'x')), "too long"},
      {"--abc\r\nX: " + std::string(9000, 'x'), "too long"},
  };
  for (const auto& [form, error] : cases) {
    const Parsed parsed = parse({form});
    EXPECT_FALSE(parsed.whole) << form;
    EXPECT_THAT(parsed.error, HasSubstr(error)) << form;
  }
}

TEST(MultipartParser, ReadsFileNamesAsClientsWriteThem) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"filename=\"C:\\music\\hum.wav\"", "C:\\music\\hum.wav"},
      {"filename=\"a%22b.wav\"", "a%22b.wav"},
      {"filename=\"a.wav\"; filename*=UTF-8''na%C3%AFve.wav", "na\xC3\xAFve.wav"},
      {"filename=\"a.wav\"; filename*=latin1''b.wav", "a.wav"},
      {"filename=\"a.wav\"; filename*=UTF-8'en'b%2.wav", "a.wav"},
      {"filename=\"\"", ""},
  };
  for (const auto& [parameter, name] : cases) {
    const Parsed parsed =
        parse({with_header("Content-Disposition: form-data; name=a; " + parameter)});
    ASSERT_TRUE(parsed.whole) << parameter << ": " << parsed.error;
    EXPECT_EQ(parsed.parts.at(0).file_name, name) << parameter;
  }
}

TEST(MultipartParser, SurvivesDamage) {
  Rng rng(1, "multipart");
  for (int i = 0; i < 3000; ++i) {
    const std::string form = mutation::damaged(kForm, rng);
    const Parsed whole = parse({form});
    EXPECT_EQ(whole.whole, whole.error.empty());
    // A split never changes the outcome: an attacker chooses where packets end.
    const auto at = static_cast<size_t>(rng.integer(0, std::ssize(form)));
    const Parsed split =
        parse({std::string_view(form).substr(0, at), std::string_view(form).substr(at)});
    EXPECT_EQ(split.whole, whole.whole) << form;
    if (whole.whole) {
      EXPECT_EQ(split, whole) << form;
    }
  }
}

TEST(MultipartBoundary, IsReadFromTheContentType) {
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(multipart_boundary("Multipart/Form-Data;charset=utf-8;boundary=\"a b\""), "a b");
  for (const std::string_view type :
       {"multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=a",
        "text/plain; boundary=a", "multipart/form-data; boundary=\"a", ""}) {
    EXPECT_EQ(multipart_boundary(type), std::nullopt) << type;
  }
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=" + std::string(71, 'a')),
            std::nullopt);
}

}  // namespace
}  // namespace hum::serve
