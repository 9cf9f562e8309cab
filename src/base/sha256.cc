#include "base/sha256.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/fail.h"
#include "base/file_descriptor.h"
#include "base/system_error.h"

namespace sampan::base {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;

void check(int result) {
  if (result != 1)
    fail(ErrorCode::kInternal, "libcrypto refuses to compute SHA-256; check its installation");
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const noexcept { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  check(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(context_.get(), digest.data(), &size));
  std::string hexadecimal;
  for (const unsigned char byte : std::span(digest).first(size))
    fmt::format_to(std::back_inserter(hexadecimal), "{:02x}", byte);
  return hexadecimal;
}

// Read rather than mapped: the pages of a mapped file would count as this process's own memory.
FileDigest sha256_of_file(const std::filesystem::path& path) {
  const FileDescriptor file = FileDescriptor::open_for_reading(path);
  regular_file_size(file, path);
  Sha256 hash;
  std::uint64_t size = 0;
  std::vector<std::byte> chunk(kChunkBytes);
  while (true) {
    const ssize_t count = ::read(file.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno(errno, "cannot read", path);
    if (count == 0) return {size, hash.finish()};
    size += static_cast<std::uint64_t>(count);
    hash.update(std::span(chunk).first(static_cast<std::size_t>(count)));
  }
}

}  // namespace sampan::base
