#include "serve/page/page.h"

#include <gmock/gmock.h>

#include <regex>
#include <set>
#include <string>

namespace hum::serve {
namespace {

using testing::IsEmpty;
using testing::StartsWith;

// All texts in `bytes` that match, or their first group.
std::set<std::string> matches(std::string_view bytes, const std::string& pattern) {
  const std::string text(bytes);
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), expression);
       match != std::sregex_iterator(); ++match) {
    found.insert((*match)[match->size() > 1 ? 1 : 0]);
  }
  return found;
}

// The files that a file names: "/page/main.js" in a document, './api.js' in a module.
std::set<std::string> named_files(const PageFile& file) {
  std::set<std::string> names = matches(file.bytes, "/page/[a-z_0-9]+\\.[a-z]+");
  for (const std::string& name : matches(file.bytes, "from '\\./([a-z_0-9]+\\.js)'")) {
    names.insert("/page/" + name);
  }
  return names;
}

TEST(Page, StartsAtTheRoot) {
  const PageFile* start = find_page_file("/");
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->content_type, "text/html; charset=utf-8");
  EXPECT_THAT(std::string(start->bytes), StartsWith("<!doctype html>"));
  EXPECT_EQ(find_page_file("/page/absent.js"), nullptr);
}

TEST(Page, HasEveryFileThatItNamesAndNoOther) {
  std::set<std::string> named = {"/"};
  for (const PageFile& file : page_files()) named.merge(named_files(file));
  std::set<std::string> present;
  for (const PageFile& file : page_files()) present.emplace(file.path);
  EXPECT_EQ(named, present);
}

TEST(Page, HasEveryPictureThatItNames) {
  const std::set<std::string> pictures =
      matches(find_page_file("/page/icons.svg")->bytes, "<symbol id=\"([a-z-]+)\"");
  for (const PageFile& file : page_files()) {
    for (const auto* pattern : {"icons\\.svg#([a-z-]+)", "\\bicon\\('([a-z-]+)'\\)"}) {
      for (const std::string& name : matches(file.bytes, pattern)) {
        EXPECT_TRUE(pictures.contains(name)) << file.path << " names the picture " << name;
      }
    }
  }
}

// The content security policy of the service allows neither.
TEST(Page, HasNoInlineScriptsAndStyles) {
  const std::string_view start = find_page_file("/")->bytes;
  EXPECT_THAT(matches(start, "<script(?![^>]* src=)[^>]*>"), IsEmpty());
  EXPECT_THAT(matches(start, "<style|\\sstyle="), IsEmpty());
  EXPECT_THAT(matches(start, "\\son[a-z]+="), IsEmpty());
  for (const PageFile& file : page_files()) {
    EXPECT_THAT(matches(file.bytes, "setAttribute\\('style'|innerHTML|eval\\("), IsEmpty())
        << file.path;
  }
}

TEST(Page, AsksNoOtherService) {
  for (const PageFile& file : page_files()) {
    std::set<std::string> addresses = matches(file.bytes, "(?:https?:)?//[a-z]+\\.[a-z.]+[^'\" ]*");
    addresses.erase("http://www.w3.org/2000/svg");  // the name of a format
    EXPECT_THAT(addresses, IsEmpty()) << file.path;
  }
}

TEST(Page, EntityTagsDistinguishItsFiles) {
  std::set<std::string_view> tags;
  for (const PageFile& file : page_files()) {
    EXPECT_EQ(file.etag.size(), 18) << file.path;
    EXPECT_EQ(file.etag.front(), '"');
    EXPECT_EQ(file.etag.back(), '"');
    tags.insert(file.etag);
  }
  EXPECT_EQ(tags.size(), page_files().size());
}

// Modules and style sheets are ASCII, as all source is.
TEST(Page, IsPlainText) {
  for (const PageFile& file : page_files()) {
    EXPECT_FALSE(file.bytes.empty()) << file.path;
    for (const char letter : file.bytes) {
      ASSERT_TRUE(letter == '\n' || (letter >= ' ' && letter <= '~')) << file.path;
    }
  }
}

}  // namespace
}  // namespace hum::serve
