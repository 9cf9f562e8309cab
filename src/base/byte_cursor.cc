#include "base/byte_cursor.h"

#include "base/fail.h"

namespace sampan::base {

std::string_view ByteCursor::line() {
  const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + position_,
                              remaining());
  const std::size_t length = rest.find('\n');
  if (length == std::string_view::npos) fail_truncated(remaining() + 1);
  position_ += length + 1;
  return rest.substr(0, length);
}

void ByteCursor::fail_truncated(std::uint64_t count) const {
  fail(ErrorCode::kInvalidData,
       "{}: truncated or damaged: {} needs {} bytes at byte {}, but only {} are left; "
       "download the file again",
       file_->string(), part_, count, position_, remaining());
}

}  // namespace sampan::base
