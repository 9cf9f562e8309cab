#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace sampan::base {

/// SHA-256 (FIPS 180-4) of bytes that come piece by piece. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> bytes);
  /// The digest in 64 lower-case hexadecimal digits. The object cannot be used afterwards.
  std::string finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

struct FileDigest {
  std::uint64_t size = 0;  ///< bytes that were read
  std::string sha256;
};

/// Size and digest of a file's content. Throws `Error` as `MappedFile` does.
FileDigest sha256_of_file(const std::filesystem::path& path);

}  // namespace sampan::base
