#pragma once

#include <span>
#include <string_view>

namespace sampan::verify {

/// Sentences to verify with where the caller has none: short and long ones, questions, numbers,
/// names, quotes. A model of another source language reads them as unusual text, which serves to
/// compare two answers.
std::span<const std::string_view> sample_text();

}  // namespace sampan::verify
