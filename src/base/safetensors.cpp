#include "base/safetensors.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"

namespace hum {
namespace {

int64_t element_bytes(const std::string& dtype) {
  static const std::map<std::string, int64_t> kSizes = {
      {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8}, {"I32", 4},
      {"I16", 2}, {"I8", 1},  {"U32", 4}, {"U16", 2},  {"U8", 1},  {"BOOL", 1}};
  const auto found = kSizes.find(dtype);
  return found == kSizes.end() ? 0 : found->second;
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
  fail(ExitCode::kBadData,
       fmt::format("{}: not a complete safetensors file: {}", path.string(), what),
       "copy or download the file again");
}

SafeTensor parse_entry(const std::filesystem::path& path, const std::string& name,
                       const Json& entry, std::span<const std::byte> data) {
  SafeTensor tensor;
  tensor.name = name;
  int64_t begin = 0, end = 0;
  try {
    tensor.dtype = entry.at("dtype").get<std::string>();
    tensor.dims = entry.at("shape").get<std::vector<int64_t>>();
    begin = entry.at("data_offsets").at(0).get<int64_t>();
    end = entry.at("data_offsets").at(1).get<int64_t>();
  } catch (const Json::exception& error) {
    refuse(path, fmt::format("tensor '{}': {}", name, error.what()));
  }
  int64_t expected = element_bytes(tensor.dtype);
  const auto limit = static_cast<int64_t>(data.size());
  for (const int64_t size : tensor.dims) {
    const bool fits = size >= 0 && (size == 0 || expected <= limit / size);
    if (!fits) refuse(path, fmt::format("tensor '{}' is larger than the file", name));
    expected *= size;
  }
  if (element_bytes(tensor.dtype) == 0 || begin < 0 || begin > end || end > limit ||
      end - begin != expected) {
    refuse(path, fmt::format("tensor '{}' ({}) has offsets {}..{} of {}", name, tensor.dtype, begin,
                             end, limit));
  }
  tensor.bytes = data.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  return tensor;
}

}  // namespace

SafetensorsFile SafetensorsFile::read(const std::filesystem::path& path) {
  return parse(path, read_file(path));
}

SafetensorsFile SafetensorsFile::parse(const std::filesystem::path& path, std::string bytes) {
  SafetensorsFile file;
  file.bytes_ = std::move(bytes);
  uint64_t header_size = 0;
  if (file.bytes_.size() < sizeof header_size) refuse(path, "it is shorter than its header");
  std::memcpy(&header_size, file.bytes_.data(), sizeof header_size);
  if (header_size > file.bytes_.size() - sizeof header_size) refuse(path, "its header is cut off");
  const auto all = std::as_bytes(std::span(file.bytes_));
  const auto data = all.subspan(sizeof header_size + header_size);
  Json header = try_parse_json(file.bytes_.substr(sizeof header_size, header_size));
  if (!header.is_object()) refuse(path, "the header is not JSON");
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") {
      file.tensors_.push_back(parse_entry(path, name, entry, data));
      continue;
    }
    for (const auto& [key, value] : entry.items()) {
      if (value.is_string()) file.metadata_[key] = value.get<std::string>();
    }
  }
  std::vector<std::span<const std::byte>> blocks;
  for (const auto& tensor : file.tensors_) blocks.push_back(tensor.bytes);
  std::ranges::sort(blocks, {}, [](const auto& block) { return block.data(); });
  for (size_t i = 1; i < blocks.size(); ++i) {
    if (blocks[i - 1].data() + blocks[i - 1].size() > blocks[i].data()) {
      refuse(path, "two tensors overlap");
    }
  }
  return file;
}

std::string SafetensorsFile::sha256() const { return hum::sha256(bytes_); }

void write_safetensors(const std::filesystem::path& path, std::span<const SafeTensor> tensors,
                       std::map<std::string, std::string> metadata) {
  metadata.emplace("format", "pt");
  Json header = {{"__metadata__", metadata}};
  size_t offset = 0;
  for (const auto& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.dims},
                           {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text = to_text(header);
  text.append((8 - text.size() % 8) % 8, ' ');  // 8-byte alignment for the data
  const uint64_t size = text.size();
  AtomicFile file(path);
  file.write({reinterpret_cast<const char*>(&size), sizeof size});
  file.write(text);
  for (const auto& tensor : tensors) {
    file.write({reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
  }
  file.commit();
}

}  // namespace hum
