#pragma once

#include <cstddef>
#include <string>

namespace sampan::evaluate {

/// The processor's name as the kernel gives it, "unknown" where it gives none.
std::string processor_name();

/// Resident memory of this process: everything it has touched, the program, the runtime's library
/// and mapped files included.
struct ProcessMemory {
  std::size_t resident_bytes = 0;  ///< now (VmRSS)
  std::size_t peak_bytes = 0;      ///< the most so far (VmHWM)
};

/// Read anew at each call; 0 where the kernel does not tell.
ProcessMemory process_memory();

}  // namespace sampan::evaluate
