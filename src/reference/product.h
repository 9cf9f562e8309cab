#pragma once

#include "reference/matrix.h"

namespace sampan::reference {

/// x W^T for x [rows, in] and W [out, in]: [rows, out]. The product that takes nearly all of the
/// reference's time; it uses the widest multiply-add of the processor that it runs on, so that
/// results differ between processors by roundings of double precision.
Matrix product_with_transposed(const Matrix& x, const Matrix& weight);

}  // namespace sampan::reference
