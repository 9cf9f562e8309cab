#pragma once

#include <array>
#include <cstddef>
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

/// The digest of a file's content. Throws `Error` as `MappedFile` does.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace sampan::base
