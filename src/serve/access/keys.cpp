#include "serve/access/keys.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <sstream>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "serve/http/file_stamp.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostNameBytes = 64;
constexpr std::string_view kHashPrefix = "sha256:";
constexpr std::string_view kTokenPrefix = "hum_";

bool is_name(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789.-_";
  return !text.empty() && text.size() <= kMostNameBytes &&
         text.find_first_not_of(kLetters) == text.npos;
}

bool is_hash(std::string_view text) {
  constexpr size_t kDigits = 64;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

template <typename T>
bool read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0;
}

// "jobs=5". Throws: kConfig.
void read_limit(const std::string& word, Quota& quota) {
  const size_t equals = std::min(word.find('='), word.size());
  const std::string name = word.substr(0, equals);
  const std::string value = word.substr(std::min(equals + 1, word.size()));
  if (name == "bytes") {
    quota.bytes = parse_bytes(value);
    return;
  }
  const bool is_read = (name == "jobs" && read_number(value, quota.jobs)) ||
                       (name == "seconds_per_hour" && read_number(value, quota.seconds_per_hour));
  if (!is_read) fail(ExitCode::kConfig, fmt::format("'{}' is no limit of a key", word));
}

std::string limits_text(const Quota& quota) {
  std::string text;
  if (quota.jobs != kDefaultQuota.jobs) text += fmt::format(" jobs={}", quota.jobs);
  if (quota.seconds_per_hour != kDefaultQuota.seconds_per_hour) {
    text += fmt::format(" seconds_per_hour={}", quota.seconds_per_hour);
  }
  if (quota.bytes != kDefaultQuota.bytes) text += fmt::format(" bytes={}", quota.bytes);
  return text;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

bool is_comment(const std::vector<std::string>& words) {
  return words.empty() || words[0].starts_with('#');
}

// Throws: kConfig.
Key read_key(const std::vector<std::string>& words) {
  const std::string hash = words.size() > 1 ? words[1] : "";
  if (!is_name(words[0]) || !hash.starts_with(kHashPrefix) ||
      !is_hash(std::string_view(hash).substr(kHashPrefix.size()))) {
    fail(ExitCode::kConfig, "is not a name and the hash of its token");
  }
  Key key{.name = words[0], .sha256 = hash.substr(kHashPrefix.size())};
  for (size_t i = 2; i < words.size(); ++i) read_limit(words[i], key.quota);
  return key;
}

bool has_name(const std::vector<Key>& keys, std::string_view name) {
  return std::ranges::find(keys, name, &Key::name) != keys.end();
}

// Requires that the last key differs from all keys before it. Throws: kConfig.
void require_new(const std::vector<Key>& keys, const std::string& where) {
  const Key& added = keys.back();
  for (const Key& other : std::span(keys).first(keys.size() - 1)) {
    if (other.name == added.name) {
      fail(ExitCode::kConfig, fmt::format("{}: a second key '{}'", where, added.name),
           "remove one of the two lines");
    }
    if (other.sha256 == added.sha256) {
      fail(ExitCode::kConfig,
           fmt::format("{}: '{}' has the token of '{}'", where, added.name, other.name),
           fmt::format("remove the line, then hum serve add-key {} makes a token", added.name));
    }
  }
}

// Throws: kUsage.
void require_name(const fs::path& file, const std::string& name) {
  if (has_name(read_keys(file), name)) return;
  fail(ExitCode::kUsage, fmt::format("{} has no key '{}'", file.string(), name),
       "hum serve list-keys --keys " + file.string());
}

// 256 random bits.
std::string new_token() { return std::string(kTokenPrefix) + new_id() + new_id(); }

// Keeps who may read the file.
void rewrite(const fs::path& file, const std::string& text) {
  std::error_code missing, ignored;
  const auto before = fs::status(file, missing);
  write_file(file, text);
  if (fs::exists(before)) fs::permissions(file, before.permissions(), ignored);
}

}  // namespace

std::vector<Key> read_keys(const fs::path& file) {
  std::istringstream text(read_text(file));
  std::vector<Key> keys;
  int64_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const auto words = words_of(line);
    if (is_comment(words)) continue;
    try {
      keys.push_back(read_key(words));
    } catch (const Error& error) {
      fail(ExitCode::kConfig, fmt::format("{}:{}: {}", file.string(), number, error.message()),
           "NAME sha256:HASH jobs=20 seconds_per_hour=7200 bytes=2GB, as hum serve add-key does");
    }
    require_new(keys, fmt::format("{}:{}", file.string(), number));
  }
  return keys;
}

std::string add_key(const fs::path& file, const std::string& name, const Quota& quota) {
  if (!is_name(name)) {
    fail(ExitCode::kUsage, fmt::format("'{}' cannot be the name of a key", name),
         "use 1 to 64 of the letters a-z, digits, '.', '-' and '_'");
  }
  std::string text;
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    if (has_name(read_keys(file), name)) {
      fail(ExitCode::kUsage, fmt::format("{} has a key '{}' already", file.string(), name),
           fmt::format("hum serve add-key {} --replace --keys {} gives it another token; its "
                       "limits and jobs stay",
                       name, file.string()));
    }
    text = read_text(file);
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
  }
  const std::string token = new_token();
  text += fmt::format("{} {}{}{}\n", name, kHashPrefix, sha256(token), limits_text(quota));
  rewrite(file, text);
  return token;
}

std::string replace_token(const fs::path& file, const std::string& name) {
  require_name(file, name);
  const std::string token = new_token();
  std::istringstream text(read_text(file));
  std::string changed;
  for (std::string line; std::getline(text, line);) {
    const auto words = words_of(line);
    if (!is_comment(words) && words[0] == name) {
      line.replace(line.find(words[1]), words[1].size(), std::string(kHashPrefix) + sha256(token));
    }
    changed += line + '\n';
  }
  rewrite(file, changed);
  return token;
}

void remove_key(const fs::path& file, const std::string& name) {
  require_name(file, name);
  std::istringstream text(read_text(file));
  std::string kept;
  for (std::string line; std::getline(text, line);) {
    const auto words = words_of(line);
    if (is_comment(words) || words[0] != name) kept += line + '\n';
  }
  // A file without a word is a mistake (KeyFile).
  rewrite(file, kept.empty() ? "# no keys\n" : kept);
}

bool equals_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

KeyFile::KeyFile(fs::path file)
    : file_(std::move(file)),
      seen_(file_stamp(file_)),
      keys_(std::make_shared<const std::vector<Key>>(read_keys(file_))) {}

KeyFile::Keys KeyFile::current() {
  const std::scoped_lock lock(mutex_);
  const std::string stamp = file_stamp(file_);
  if (stamp == seen_) return keys_;
  seen_ = stamp;
  try {
    if (trimmed(read_text(file_), " \t\r\n").empty()) {
      fail(ExitCode::kConfig, file_.string() + ": is empty",
           "hum serve remove-key removes the last key");
    }
    keys_ = std::make_shared<const std::vector<Key>>(read_keys(file_));
    spdlog::info("the file of keys has changed: {} keys", keys_->size());
  } catch (const Error& error) {
    spdlog::error("the file of keys has changed and cannot be used; the keys from before stay: {}",
                  error.message());
  }
  return keys_;
}

std::optional<Key> KeyFile::with_token(std::string_view token) {
  const std::string hash = sha256(token);
  const Keys keys = current();
  std::optional<Key> found;
  for (const Key& key : *keys) {
    if (equals_secret(key.sha256, hash)) found = key;
  }
  return found;
}

std::optional<Key> KeyFile::with_name(std::string_view name) {
  const Keys keys = current();
  const auto found = std::ranges::find(*keys, name, &Key::name);
  return found == keys->end() ? std::nullopt : std::optional(*found);
}

}  // namespace hum::serve
