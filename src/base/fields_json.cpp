#include "base/fields_json.h"

#include <yaml-cpp/yaml.h>

#include "base/files.h"

namespace hum {
namespace {

Json scalar_to_json(const YAML::Node& node) {
  if (node.Tag() == "!") return node.Scalar();  // a quoted scalar is always a string
  bool flag = false;
  if (YAML::convert<bool>::decode(node, flag)) return flag;
  int64_t whole = 0;
  if (YAML::convert<int64_t>::decode(node, whole)) return whole;
  double number = 0;
  if (YAML::convert<double>::decode(node, number)) return number;
  return node.Scalar();
}

// An alias repeats what it names, so a short file can stand for more than any memory holds, or for
// something without end: a list that contains itself.
class YamlReader {
 public:
  Json read(const YAML::Node& node, int depth = 0) {
    if (++values_ > kMostValues || depth > kMostLevels) {
      throw YAML::Exception(
          node.Mark(),
          fmt::format("more than {} values or {} levels, with those that aliases repeat",
                      kMostValues, kMostLevels));
    }
    if (node.IsScalar()) return scalar_to_json(node);
    if (node.IsSequence()) {
      Json list = Json::array();
      for (const auto& item : node) list.push_back(read(item, depth + 1));
      return list;
    }
    Json object = Json::object();
    if (node.IsMap()) {
      for (const auto& entry : node) {
        const std::string& key = entry.first.Scalar();
        if (object.contains(key)) {
          throw YAML::Exception(entry.first.Mark(), fmt::format("'{}' is there twice", key));
        }
        object[key] = read(entry.second, depth + 1);
      }
    }
    return object;
  }

 private:
  static constexpr int64_t kMostValues = 100'000;
  static constexpr int kMostLevels = 100;
  int64_t values_ = 0;
};

}  // namespace

Json read_yaml(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  try {
    return YamlReader().read(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    fail(ExitCode::kConfig, fmt::format("{}:{}: {}", path.string(), error.mark.line + 1, error.msg),
         "the file must be YAML: 'name: value' lines, indented with spaces");
  }
}

}  // namespace hum
