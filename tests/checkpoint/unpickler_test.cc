#include "checkpoint/unpickler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/caught_error.h"

namespace sampan::checkpoint {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

Pickle read(const std::string& bytes, std::size_t most_operations = 1000) {
  return unpickle(std::as_bytes(std::span(bytes)), "some.bin",
                  {.allowed = [](const pickle::Global& global) { return global.module == "good"; },
                   .most_operations = most_operations});
}

Error error_of(const std::string& bytes) {
  return test::caught_error([&] { read(bytes); });
}

template <typename T>
T root_of(const std::string& bytes) {
  const Pickle pickle = read(bytes);
  const T* value = pickle.as<T>(pickle.root());
  if (value == nullptr) {
    ADD_FAILURE() << "another type";
    return T{};
  }
  return *value;
}

TEST(Unpickler, NumbersOfEveryFormAreRead) {
  const std::pair<std::string, std::int64_t> integers[] = {
      {"K\xff.", 255},
      {"M\x01\x02.", 513},
      {"J\xff\xff\xff\xff.", -1},
      {"I-7\n.", -7},
      {"L123L\n.", 123},
      {"\x8a\x00."s, 0},
      {"\x8a\x01\xff.", -1},
      {"\x8a\x02\xff\x00."s, 255},
      {"\x8b\x02\x00\x00\x00\x00\x80."s, -32768},
  };
  for (const auto& [bytes, value] : integers) EXPECT_EQ(root_of<std::int64_t>(bytes), value);
  EXPECT_EQ(root_of<double>("G\x3f\xf8\x00\x00\x00\x00\x00\x00."s), 1.5);
  EXPECT_EQ(root_of<double>("F0.25\n."), 0.25);
  EXPECT_TRUE(root_of<bool>("I01\n."));
  EXPECT_FALSE(root_of<bool>("\x89."));
}

TEST(Unpickler, MemoHandsOutTheSameValueAndListsMayHoldThemselves) {
  const std::string pickled = "]q\x00h\x00"s + "a.";
  const Pickle pickle = read(pickled);
  const auto* list = pickle.as<pickle::List>(pickle.root());
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 1u);
  EXPECT_EQ(list->items[0], pickle.root());
}

TEST(Unpickler, AnAllowedGlobalIsKeptByNameAndNeverCalled) {
  const std::string pickled = "cgood\nThing\nK\x05\x85R}K\x01K\x02s.";
  // The dict on top makes it leave two values.
  EXPECT_THAT(error_of(pickled).what(), HasSubstr("does not leave one value"));
  const std::string call = "cgood\nThing\nK\x05\x85RK\x01K\x02s.";
  const Pickle pickle = read(call);
  const auto* value = pickle.as<pickle::Call>(pickle.root());
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(pickle.as<pickle::Global>(value->global)->name, "Thing");
  EXPECT_EQ(pickle.as<pickle::Tuple>(value->arguments)->items.size(), 1u);
  EXPECT_EQ(value->items.size(), 1u);
  EXPECT_EQ(pickle.size(), call.size());
}

TEST(Unpickler, WhateverIsNotDataIsRefusedByName) {
  const std::pair<std::string, const char*> cases[] = {
      {"cos\nsystem\n(S'id'\ntR.", "'os.system'"},
      {"\x80\x04\x8c\x08"s + "builtins\x8c\x04" + "eval\x93.", "'builtins.eval'"},
      {"c__builtin__\ngetattr\n.", "'__builtin__.getattr'"},
      {"cgood\nThing\n)\x81.", "NEWOBJ"},
      {"(ios\nsystem\n.", "INST"},
      {"(cgood\nThing\no.", "OBJ"},
      {"\x82\x01.", "EXT1"},
      {"Pid\n.", "PERSID"},
      {"\x8f.", "EMPTY_SET"},
      {"cgood\nThing\n)R}b.", "attributes of 'good.Thing'"},
      {"cbad\nev\x1bil\n.", "'bad.ev\\x1bil'"},
  };
  for (const auto& [bytes, message] : cases) {
    const Error error = error_of(bytes);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
    EXPECT_THAT(error.what(), HasSubstr(message));
    EXPECT_THAT(error.what(), HasSubstr("not data"));
  }
}

TEST(Unpickler, DamagedPicklesAreRefused) {
  const std::string cases[] = {
      "",
      "K",
      ".",
      "NN.",
      "(N.",
      "0.",
      "(0K\x01",
      "t.",
      "N\x87.",
      "Na.",
      "}Ns.",
      "N(K\x01K\x02u.",
      "}(K\x01u.",
      "h\x01.",
      "Nj\xff\xff\xff\xff.",
      "Nr\xff\xff\xff\xff.",
      "NNR.",
      "cgood\nThing\nNR.",
      "NN\x93.",
      "X\xff\xff\xff\xff.",
      "\x8d\xff\xff\xff\xff\xff\xff\xff\xff.",
      "\x8b\xff\xff\xff\x7f.",
      "\x95\xff\xff\xff\xff\xff\xff\xff\xffN.",
      "\x80\x09N.",
      "I12x\n.",
      "L99999999999999999999L\n.",
      "V\\u0041\n.",
      "\xfe.",
      "(Q.",
  };
  for (const std::string& bytes : cases) {
    const Error error = error_of(bytes);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
    EXPECT_THAT(error.what(), HasSubstr("some.bin")) << testing::PrintToString(bytes);
  }
}

TEST(Unpickler, OperationsAreCountedAndDepthCostsNothing) {
  const std::string endless(2000, 'N');
  EXPECT_EQ(test::caught_error([&] { read(endless); }).code(), ErrorCode::kUnsupported);
  // A hundred thousand tuples in one another: reading and dropping them does not recurse.
  const Pickle deep = read("N" + std::string(100'000, '\x85') + ".", 200'000);
  EXPECT_EQ(deep.values().size(), 100'001u);
}

}  // namespace
}  // namespace sampan::checkpoint
