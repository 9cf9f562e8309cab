#pragma once

#include <gtest/gtest.h>

#include "sampan/error.h"

namespace sampan::test {

/// The `Error` that an action throws; fails the test if it throws none.
template <typename Action>
Error caught_error(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return {ErrorCode::kInternal, ""};
}

}  // namespace sampan::test
