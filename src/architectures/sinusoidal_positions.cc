#include "architectures/sinusoidal_positions.h"

#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace sampan::architectures {

graph::Initializer sinusoidal_positions(std::string name, std::int64_t positions,
                                        std::int64_t d_model) {
  const auto write = [positions, d_model](std::span<std::byte> out) {
    const auto width = static_cast<std::size_t>(d_model);
    const std::size_t sines = (width + 1) / 2;
    std::vector<float> row(width);
    for (std::int64_t position = 0; position < positions; ++position) {
      for (std::size_t column = 0; column < width; ++column) {
        const std::size_t i = column < sines ? column : column - sines;
        const double rate =
            std::pow(10000.0, static_cast<double>(2 * i) / static_cast<double>(d_model));
        const double angle = static_cast<double>(position) / rate;
        row[column] = static_cast<float>(column < sines ? std::sin(angle) : std::cos(angle));
      }
      std::memcpy(out.data() + static_cast<std::size_t>(position) * width * sizeof(float),
                  row.data(), width * sizeof(float));
    }
  };
  return {std::move(name), tensor::DType::kF32, {positions, d_model}, graph::DataSource(write)};
}

}  // namespace sampan::architectures
