#include "serve/http/body_reader.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/scratch_folder.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

TEST(SpooledFile, IsRemovedUnlessMoved) {
  const ScratchFolder folder;
  const fs::path first = folder / "first", second = folder / "second";
  write_file(first, "a");
  {
    SpooledFile file(first);
    SpooledFile moved = std::move(file);
    EXPECT_EQ(moved.path(), first);
    EXPECT_TRUE(file.empty());  // NOLINT(bugprone-use-after-move): that is the test
    EXPECT_THROW(moved.move_to(folder / "no/such/folder"), Error);
  }
  EXPECT_FALSE(fs::exists(first));
  write_file(first, "b");
  SpooledFile(first).move_to(second);
  EXPECT_EQ(read_file(second), "b");
}

RequestHead form_head() {
  RequestHead head;
  head.method = "POST";
  head.headers = {{"Content-Type", "multipart/form-data; boundary=abc"}};
  head.has_body = true;
  return head;
}

std::string part(const std::string& name, const std::string& content) {
  return "--abc\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + content +
         "\r\n";
}

const RouteLimits kLimits = {.body_bytes = 20, .form_bytes = 1000, .file_parts = {"audio"}};

TEST(BodyReader, SpoolsFilesAndKeepsText) {
  const ScratchFolder folder;
  Request request;
  {
    BodyReader reader(kLimits, folder.path());
    ASSERT_FALSE(reader.begin(form_head()));
    ASSERT_FALSE(reader.feed(part("options", "{}") + part("audio", "RIFF") + "--abc--"));
    ASSERT_FALSE(reader.finish(request));
  }
  ASSERT_EQ(request.parts.size(), 2U);
  EXPECT_EQ(request.part("options")->text, "{}");
  Part* audio = request.part("audio");
  ASSERT_NE(audio, nullptr);
  EXPECT_EQ(audio->text, "");
  EXPECT_EQ(audio->size_bytes, 4);
  EXPECT_EQ(audio->sha256, sha256("RIFF"));
  EXPECT_EQ(read_file(audio->file.path()), "RIFF");
  EXPECT_EQ(audio->file.path().parent_path(), folder.path());
  request.parts.clear();
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

int refusal_of(const std::string& form, const RouteLimits& limits = kLimits) {
  const ScratchFolder folder;
  int status = 0;
  {
    BodyReader reader(limits, folder.path());
    Request request;
    auto refusal = reader.begin(form_head());
    if (!refusal) refusal = reader.feed(form);
    if (!refusal) refusal = reader.finish(request);
    status = refusal ? refusal->status : 0;
  }
  EXPECT_TRUE(fs::is_empty(folder.path())) << "a file is left over";
  return status;
}

TEST(BodyReader, RefusesWhatIsTooMuchAndLeavesNothing) {
  const std::string end = "--abc--\r\n";
  EXPECT_EQ(refusal_of(part("audio", "RIFF") + end), 0);
  EXPECT_EQ(refusal_of(part("audio", "RIFF") + part("audio", "RIFF") + end), 400);
  EXPECT_EQ(refusal_of(part("audio", "RIFF") + "--abc"), 400);
  EXPECT_EQ(refusal_of(part("audio", "RIFF") + "--abcx"), 400);
  EXPECT_EQ(refusal_of(part("audio", std::string(1000, 'x')) + end), 413);
  const RouteLimits small_files = {
      .form_bytes = 1000, .file_parts = {"audio", "backing"}, .file_bytes = 4};
  EXPECT_EQ(refusal_of(part("audio", "RIFF") + part("backing", "RIFF") + end, small_files), 0);
  EXPECT_EQ(refusal_of(part("audio", "RIFFx") + end, small_files), 413);
  EXPECT_EQ(refusal_of(part("a", std::string(11, 'x')) + part("b", std::string(11, 'x')) + end),
            413);
  std::string many;
  for (int i = 0; i < 33; ++i) many += part(std::to_string(i), "");
  EXPECT_EQ(refusal_of(many + end, {.body_bytes = 20, .form_bytes = 100'000}), 413);
  EXPECT_EQ(refusal_of(part("audio", "RIFF") + end, {}), 415);
}

TEST(BodyReader, LooksAtTheHeadFirst) {
  RequestHead head = form_head();
  head.content_length = 1001;
  EXPECT_EQ(BodyReader(kLimits, "").begin(head)->status, 413);
  head.content_length = 10;
  head.headers.set("content-type", "multipart/form-data");
  EXPECT_EQ(BodyReader(kLimits, "").begin(head)->status, 400);
  head.headers.set("content-type", "application/json");
  head.content_length = 21;
  EXPECT_EQ(BodyReader(kLimits, "").begin(head)->status, 413);
  BodyReader reader(kLimits, "");
  head.content_length = 20;
  ASSERT_FALSE(reader.begin(head));
  ASSERT_FALSE(reader.feed(std::string(20, ' ')));
  EXPECT_EQ(reader.feed(" ")->status, 413);
}

TEST(BodyReader, SaysWhatToSendInPlaceOfAnotherPartOrType) {
  const RouteLimits limits = {.body_bytes = 20,
                              .form_bytes = 1000,
                              .file_parts = {"audio"},
                              .text_parts = std::vector<std::string>{"options"},
                              .media_types = {"multipart/form-data", "application/json"},
                              .hint = "send audio"};
  const ScratchFolder folder;
  const auto refusal_of_part = [&](const std::string& name) {
    BodyReader reader(limits, folder.path());
    EXPECT_FALSE(reader.begin(form_head()));
    return reader.feed(part(name, std::string(500, 'x')));
  };
  EXPECT_FALSE(refusal_of_part("audio"));
  const auto other = refusal_of_part("file");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->status, 422) << "not 413";
  EXPECT_EQ(other->detail, "there is no part 'file'; the parts are audio, options");
  EXPECT_EQ(other->hint, "send audio");
  const auto misspelt = refusal_of_part("audios");
  ASSERT_TRUE(misspelt);
  EXPECT_EQ(misspelt->hint, "did you mean 'audio'? send audio");
  EXPECT_TRUE(fs::is_empty(folder.path()));

  RequestHead raw = form_head();
  raw.content_length = 1'000'000;
  for (const char* type : {"audio/wav", "", "application/x-www-form-urlencoded", "text/json"}) {
    raw.headers.set("content-type", type);
    const auto refusal = BodyReader(limits, "").begin(raw);
    ASSERT_TRUE(refusal) << type;
    EXPECT_EQ(refusal->status, 415) << "not 413";
    EXPECT_EQ(refusal->detail, "the body is not multipart/form-data or application/json");
    EXPECT_EQ(refusal->hint, "send audio");
  }
  raw.content_length = 20;
  raw.headers.set("content-type", "Application/JSON; charset=utf-8");
  EXPECT_FALSE(BodyReader(limits, "").begin(raw));
}

TEST(BodyReader, SaysWhenTheFolderIsGone) {
  const ScratchFolder folder;
  BodyReader reader(kLimits, folder.path() / "missing");
  ASSERT_FALSE(reader.begin(form_head()));
  EXPECT_EQ(reader.feed(part("audio", "RIFF"))->status, 500);
}

}  // namespace
}  // namespace hum::serve
