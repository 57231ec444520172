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

Json yaml_to_json(const YAML::Node& node) {
  if (node.IsScalar()) return scalar_to_json(node);
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const auto& item : node) list.push_back(yaml_to_json(item));
    return list;
  }
  Json object = Json::object();
  if (node.IsMap()) {
    for (const auto& entry : node) {
      const std::string& key = entry.first.Scalar();
      if (object.contains(key)) {
        throw YAML::Exception(entry.first.Mark(), fmt::format("'{}' is there twice", key));
      }
      object[key] = yaml_to_json(entry.second);
    }
  }
  return object;
}

}  // namespace

Json read_yaml(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  try {
    return yaml_to_json(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    fail(ExitCode::kConfig, fmt::format("{}:{}: {}", path.string(), error.mark.line + 1, error.msg),
         "the file must be YAML: 'name: value' lines, indented with spaces");
  }
}

}  // namespace hum
