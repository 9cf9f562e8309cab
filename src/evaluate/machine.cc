#include "evaluate/machine.h"

#include <cstdint>
#include <fstream>
#include <sstream>

namespace sampan::evaluate {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

ProcessMemory process_memory() {
  ProcessMemory memory;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream fields(line);
    std::string name;
    std::size_t kibibytes = 0;
    if (!(fields >> name >> kibibytes)) continue;
    if (name == "VmRSS:") memory.resident_bytes = kibibytes * 1024;
    if (name == "VmHWM:") memory.peak_bytes = kibibytes * 1024;
  }
  return memory;
}

}  // namespace sampan::evaluate
