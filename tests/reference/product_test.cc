#include "reference/product.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace sampan::reference {
namespace {

// Sizes around the edges of the tiles that the product is computed in.
TEST(ProductWithTransposed, IsThePlainProduct) {
  std::srand(1);
  for (const Index rows : {0, 1, 7, 8, 9, 17})
    for (const Index outputs : {1, 5, 6, 7, 13})
      for (const Index inputs : {1, 3, 64}) {
        const Matrix x = Matrix::Random(rows, inputs);
        const Matrix weight = Matrix::Random(outputs, inputs);
        const Matrix found = product_with_transposed(x, weight);
        ASSERT_EQ(found.rows(), rows);
        ASSERT_EQ(found.cols(), outputs);
        for (Index row = 0; row < rows; ++row)
          for (Index output = 0; output < outputs; ++output)
            EXPECT_NEAR(found(row, output), x.row(row).dot(weight.row(output)), 1e-13)
                << rows << " rows, " << outputs << " outputs, " << inputs << " inputs";
      }
}

}  // namespace
}  // namespace sampan::reference
