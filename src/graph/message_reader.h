#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/fail.h"

namespace sampan::graph {

/// Reads one protobuf message from hostile bytes: protozero checks the bounds, this the wire type
/// of every field, which protozero only asserts. `what` names the message in errors ("node").
template <typename Field>
class MessageReader {
 public:
  MessageReader(std::string_view bytes, std::string_view what)
      : reader_(bytes.data(), bytes.size()), what_(what) {}

  bool next() { return reader_.next(); }
  Field field() const { return static_cast<Field>(reader_.tag()); }

  std::string_view bytes() {
    require(protozero::pbf_wire_type::length_delimited);
    const protozero::data_view view = reader_.get_view();
    return {view.data(), view.size()};
  }
  std::string text() { return std::string(bytes()); }

  std::int64_t integer() {
    require(protozero::pbf_wire_type::varint);
    return reader_.get_int64();
  }

  float real() {
    require(protozero::pbf_wire_type::fixed32);
    return reader_.get_float();
  }

  /// One more element, or a packed run of them.
  void append_integers(std::vector<std::int64_t>& values) {
    if (!reader_.has_wire_type(protozero::pbf_wire_type::length_delimited))
      return values.push_back(integer());
    for (const std::int64_t value : reader_.get_packed_int64()) values.push_back(value);
  }
  void append_reals(std::vector<float>& values) {
    if (!reader_.has_wire_type(protozero::pbf_wire_type::length_delimited))
      return values.push_back(real());
    for (const float value : reader_.get_packed_float()) values.push_back(value);
  }
  void append_reals(std::vector<double>& values) {
    if (reader_.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
      for (const double value : reader_.get_packed_double()) values.push_back(value);
      return;
    }
    require(protozero::pbf_wire_type::fixed64);
    values.push_back(reader_.get_double());
  }

  void skip() { reader_.skip(); }

  /// Refuses a field that has no place in `graph::Model`.
  [[noreturn]] void refuse_field() const {
    base::fail(ErrorCode::kUnsupported, "{}: field {} of ONNX's schema is not supported", what_,
               static_cast<std::uint32_t>(reader_.tag()));
  }

 private:
  void require(protozero::pbf_wire_type type) const {
    if (!reader_.has_wire_type(type))
      base::fail(ErrorCode::kInvalidData, "{}: field {} is damaged", what_,
                 static_cast<std::uint32_t>(reader_.tag()));
  }

  protozero::pbf_reader reader_;
  std::string_view what_;
};

}  // namespace sampan::graph
