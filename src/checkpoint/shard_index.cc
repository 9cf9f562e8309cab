#include "checkpoint/shard_index.h"

#include <span>

#include "base/fail.h"
#include "base/foreign_content.h"
#include "base/printable.h"
#include "checkpoint/json_value.h"

namespace sampan::checkpoint {

ShardIndex parse_shard_index(std::string_view text, const std::filesystem::path& file) {
  base::refuse_foreign_content(std::as_bytes(std::span(text)), file);
  const JsonObject root = parse_json_object(text, file);
  const JsonValue* value = find_member(root, "weight_map");
  const JsonObject* map = value ? value->as<JsonObject>() : nullptr;
  if (map == nullptr || map->empty())
    base::fail(ErrorCode::kInvalidData,
               "{}: has no weight_map that says which file holds which tensor; download it again",
               file.string());
  ShardIndex index;
  for (const auto& [tensor, shard] : *map) {
    const std::string* name = shard.as<std::string>();
    if (name == nullptr)
      base::fail(ErrorCode::kInvalidData,
                 "{}: weight_map gives {} as the file of tensor '{}'; download it again",
                 file.string(), describe(shard), base::printable(tensor));
    index[*name].insert(tensor);
  }
  return index;
}

}  // namespace sampan::checkpoint
