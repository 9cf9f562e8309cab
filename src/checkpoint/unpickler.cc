#include "checkpoint/unpickler.h"

#include <bit>
#include <charconv>
#include <string>

#include "base/byte_cursor.h"
#include "base/fail.h"
#include "base/printable.h"

namespace sampan::checkpoint {
namespace {

using namespace pickle;

// The operations, under the names that Python's pickletools gives them.
enum Operation : std::uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kNone = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kInt = 'I',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong = 'L',
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kFloat = 'F',
  kBinFloat = 'G',
  kUnicode = 'V',
  kBinUnicode = 'X',
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinString = 'T',
  kShortBinString = 'U',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kBinBytes8 = 0x8e,
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kEmptyList = ']',
  kList = 'l',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyDict = '}',
  kDict = 'd',
  kSetItem = 's',
  kSetItems = 'u',
  kGet = 'g',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kPut = 'p',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kMemoize = 0x94,
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kReduce = 'R',
  kBuild = 'b',
  kBinPersId = 'Q',
  kProto = 0x80,
  kFrame = 0x95,
};

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::filesystem::path& file,
          const UnpickleOptions& options)
      : cursor_(bytes, file, "the pickle"), file_(file), options_(options) {}

  Pickle run() {
    for (std::size_t done = 0;; ++done) {
      if (done >= options_.most_operations)
        base::fail(ErrorCode::kUnsupported,
                   "{}: its pickle is longer than {} operations; it is no plain checkpoint",
                   file_.string(), options_.most_operations);
      const auto operation = cursor_.little_endian<std::uint8_t>();
      if (operation == kStop) break;
      if (!constant(operation) && !number(operation) && !text(operation) && !tuple(operation) &&
          !container(operation) && !memo(operation) && !object(operation) && !frame(operation))
        refuse_operation(operation);
    }
    if (stack_.size() != 1 || !marks_.empty()) damaged("it does not leave one value");
    return Pickle(std::move(values_), stack_.back(), cursor_.position());
  }

 private:
  [[noreturn]] void damaged(std::string_view problem) const {
    base::fail(ErrorCode::kInvalidData,
               "{}: damaged pickle at byte {}: {}; download the file again", file_.string(),
               cursor_.position(), problem);
  }

  [[noreturn]] void refuse(std::string_view what) const {
    base::fail(ErrorCode::kInvalidData,
               "{}: its pickle asks for {}, which is not data; nothing was run: do not trust this "
               "file",
               file_.string(), what);
  }

  [[noreturn]] void refuse_operation(std::uint8_t operation) const {
    static constexpr std::pair<std::uint8_t, std::string_view> kNames[] = {
        {'i', "INST"},         {'o', "OBJ"},
        {'P', "PERSID"},       {0x81, "NEWOBJ"},
        {0x92, "NEWOBJ_EX"},   {0x82, "EXT1"},
        {0x83, "EXT2"},        {0x84, "EXT4"},
        {0x8f, "EMPTY_SET"},   {0x90, "ADDITEMS"},
        {0x91, "FROZENSET"},   {0x96, "BYTEARRAY8"},
        {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"},
    };
    for (const auto& [known, name] : kNames)
      if (known == operation) refuse("the operation " + std::string(name));
    damaged(fmt::format("0x{:02x} is no operation", operation));
  }

  ValueId push(Value value) {
    const auto id = static_cast<ValueId>(values_.size());
    values_.push_back(std::move(value));
    stack_.push_back(id);
    return id;
  }

  // What lies above the last mark (all, without one) may be taken.
  ValueId pop() {
    if (stack_.size() <= floor()) damaged("it takes a value where there is none");
    const ValueId top = stack_.back();
    stack_.pop_back();
    return top;
  }

  std::vector<ValueId> pop_many(std::size_t count) {
    if (stack_.size() - floor() < count) damaged("it takes values where there are none");
    std::vector<ValueId> taken(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return taken;
  }

  std::vector<ValueId> pop_to_mark() {
    if (marks_.empty()) damaged("a mark is missing");
    std::vector<ValueId> taken = pop_many(stack_.size() - marks_.back());
    marks_.pop_back();
    return taken;
  }

  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  ValueId top() const {
    if (stack_.size() <= floor()) damaged("it uses a value where there is none");
    return stack_.back();
  }

  Value& at(ValueId id) { return values_[static_cast<std::size_t>(id)]; }

  bool constant(std::uint8_t operation) {
    switch (operation) {
      case kMark:
        marks_.push_back(stack_.size());
        return true;
      case kPop:
        // Python drops a mark too when nothing lies above it.
        if (!marks_.empty() && marks_.back() == stack_.size()) {
          marks_.pop_back();
        } else {
          pop();
        }
        return true;
      case kPopMark:
        pop_to_mark();
        return true;
      case kDup:
        stack_.push_back(top());
        return true;
      case kNone:
        push(None{});
        return true;
      case kNewTrue:
        push(true);
        return true;
      case kNewFalse:
        push(false);
        return true;
      default:
        return false;
    }
  }

  bool number(std::uint8_t operation) {
    switch (operation) {
      case kInt:
        push_decimal(cursor_.line(), true);
        return true;
      case kLong: {
        std::string_view digits = cursor_.line();
        if (digits.ends_with('L')) digits.remove_suffix(1);
        push_decimal(digits, false);
        return true;
      }
      case kBinInt:
        push(std::int64_t{static_cast<std::int32_t>(cursor_.little_endian<std::uint32_t>())});
        return true;
      case kBinInt1:
        push(std::int64_t{cursor_.little_endian<std::uint8_t>()});
        return true;
      case kBinInt2:
        push(std::int64_t{cursor_.little_endian<std::uint16_t>()});
        return true;
      case kLong1:
        push_long(cursor_.little_endian<std::uint8_t>());
        return true;
      case kLong4:
        push_long(cursor_.little_endian<std::uint32_t>());
        return true;
      case kFloat:
        push_float(cursor_.line());
        return true;
      case kBinFloat: {  // the one big-endian number of the format
        std::uint64_t bits = 0;
        for (const std::byte byte : cursor_.take(8))
          bits = bits << 8 | std::to_integer<std::uint64_t>(byte);
        push(std::bit_cast<double>(bits));
        return true;
      }
      default:
        return false;
    }
  }

  void push_decimal(std::string_view digits, bool booleans) {
    // Protocols 0 and 1 write False and True as the integers 00 and 01.
    if (booleans && (digits == "00" || digits == "01")) {
      push(digits == "01");
      return;
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size())
      damaged("'" + base::printable(digits) + "' is no integer of 64 bits");
    push(value);
  }

  void push_float(std::string_view digits) {
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size())
      damaged("'" + base::printable(digits) + "' is no number");
    push(value);
  }

  void push_long(std::uint64_t length) {
    const std::span<const std::byte> bytes = cursor_.take(length);
    if (length > sizeof(std::int64_t)) {
      push(BigInteger{bytes});
      return;
    }
    const bool negative = !bytes.empty() && (bytes.back() & std::byte{0x80}) != std::byte{0};
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
      value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
    push(static_cast<std::int64_t>(value));
  }

  bool text(std::uint8_t operation) {
    switch (operation) {
      case kUnicode: {
        const std::string_view line = cursor_.line();
        if (line.find('\\') != std::string_view::npos) damaged("an escape in a text");
        push(Text{line});
        return true;
      }
      case kBinUnicode:
      case kBinString:
      case kBinBytes:
        push(Text{cursor_.text(cursor_.little_endian<std::uint32_t>())});
        return true;
      case kShortBinUnicode:
      case kShortBinString:
      case kShortBinBytes:
        push(Text{cursor_.text(cursor_.little_endian<std::uint8_t>())});
        return true;
      case kBinUnicode8:
      case kBinBytes8:
        push(Text{cursor_.text(cursor_.little_endian<std::uint64_t>())});
        return true;
      default:
        return false;
    }
  }

  bool tuple(std::uint8_t operation) {
    switch (operation) {
      case kEmptyTuple:
        push(Tuple{});
        return true;
      case kTuple:
        push_items<Tuple>(pop_to_mark());
        return true;
      case kTuple1:
        push_items<Tuple>(pop_many(1));
        return true;
      case kTuple2:
        push_items<Tuple>(pop_many(2));
        return true;
      case kTuple3:
        push_items<Tuple>(pop_many(3));
        return true;
      default:
        return false;
    }
  }

  template <typename Sequence>
  void push_items(std::vector<ValueId> items) {
    push(Sequence{std::move(items)});
  }

  bool container(std::uint8_t operation) {
    switch (operation) {
      case kEmptyList:
        push(List{});
        return true;
      case kList:
        push_items<List>(pop_to_mark());
        return true;
      case kAppend:
        append(pop_many(1));
        return true;
      case kAppends:
        append(pop_to_mark());
        return true;
      case kEmptyDict:
        push(Dict{});
        return true;
      case kDict: {
        const std::vector<ValueId> items = pop_to_mark();
        push(Dict{});
        set_items(items);
        return true;
      }
      case kSetItem:
        set_items(pop_many(2));
        return true;
      case kSetItems:
        set_items(pop_to_mark());
        return true;
      default:
        return false;
    }
  }

  void append(const std::vector<ValueId>& items) {
    List* list = std::get_if<List>(&at(top()));
    if (list == nullptr) damaged("it appends to what is no list");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }

  void set_items(const std::vector<ValueId>& items) {
    Value& target = at(top());
    Dict* dict = std::get_if<Dict>(&target);
    Call* call = std::get_if<Call>(&target);
    if ((dict == nullptr && call == nullptr) || items.size() % 2 != 0)
      damaged("it sets items of what has none");
    auto& pairs = dict != nullptr ? dict->items : call->items;
    for (std::size_t i = 0; i < items.size(); i += 2) pairs.emplace_back(items[i], items[i + 1]);
  }

  bool memo(std::uint8_t operation) {
    switch (operation) {
      case kGet:
        get(decimal_index());
        return true;
      case kBinGet:
        get(cursor_.little_endian<std::uint8_t>());
        return true;
      case kLongBinGet:
        get(cursor_.little_endian<std::uint32_t>());
        return true;
      case kPut:
        put(decimal_index());
        return true;
      case kBinPut:
        put(cursor_.little_endian<std::uint8_t>());
        return true;
      case kLongBinPut:
        put(cursor_.little_endian<std::uint32_t>());
        return true;
      case kMemoize:
        put(memo_.size());
        return true;
      default:
        return false;
    }
  }

  std::size_t decimal_index() {
    const std::string_view digits = cursor_.line();
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc() || end != digits.data() + digits.size())
      damaged("'" + base::printable(digits) + "' is no index");
    return index;
  }

  void get(std::size_t index) {
    if (index >= memo_.size() || memo_[index] == kNothing) damaged("it recalls what it never kept");
    stack_.push_back(memo_[index]);
  }

  void put(std::size_t index) {
    const ValueId kept = top();
    if (index >= options_.most_operations) damaged("its memory is addressed beyond the limit");
    if (index >= memo_.size()) memo_.resize(index + 1, kNothing);
    memo_[index] = kept;
  }

  bool object(std::uint8_t operation) {
    switch (operation) {
      case kGlobal: {
        const std::string_view module = cursor_.line();
        const std::string_view name = cursor_.line();
        push_global(module, name);
        return true;
      }
      case kStackGlobal: {
        const Text* name = std::get_if<Text>(&at(pop()));
        const Text* module = std::get_if<Text>(&at(pop()));
        if (name == nullptr || module == nullptr) damaged("a global's name is no text");
        push_global(module->characters, name->characters);
        return true;
      }
      case kReduce: {
        const ValueId arguments = pop();
        const ValueId callee = pop();
        if (!std::holds_alternative<Global>(at(callee)) ||
            !std::holds_alternative<Tuple>(at(arguments)))
          damaged("it applies what is no global");
        push(Call{callee, arguments, {}});
        return true;
      }
      case kBuild:
        build();
        return true;
      case kBinPersId: {
        const ValueId id = pop();
        push(Persistent{id});
        return true;
      }
      default:
        return false;
    }
  }

  void push_global(std::string_view module, std::string_view name) {
    const Global global{module, name};
    if (!options_.allowed(global))
      refuse(fmt::format("'{}.{}'", base::printable(module), base::printable(name)));
    push(global);
  }

  // A state dictionary carries its modules' versions as an attribute, which is no tensor: dropped.
  void build() {
    pop();
    const Call* call = std::get_if<Call>(&at(top()));
    const Global* global = call ? std::get_if<Global>(&at(call->global)) : nullptr;
    if (global == nullptr) damaged("it sets attributes of what has none");
    if (global->module != "collections" || global->name != "OrderedDict")
      refuse(fmt::format("attributes of '{}.{}'", base::printable(global->module),
                         base::printable(global->name)));
  }

  bool frame(std::uint8_t operation) {
    if (operation == kProto) {
      constexpr std::uint8_t kLatest = 5;
      const auto protocol = cursor_.little_endian<std::uint8_t>();
      if (protocol > kLatest) damaged(fmt::format("protocol {} is unknown", protocol));
      return true;
    }
    if (operation != kFrame) return false;
    const auto length = cursor_.little_endian<std::uint64_t>();
    if (length > cursor_.remaining()) damaged("a frame is longer than the file");
    return true;
  }

  static constexpr ValueId kNothing{0xffffffff};

  base::ByteCursor cursor_;
  const std::filesystem::path& file_;
  const UnpickleOptions& options_;
  std::vector<Value> values_;
  std::vector<ValueId> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::vector<ValueId> memo_;
};

}  // namespace

Pickle unpickle(std::span<const std::byte> bytes, const std::filesystem::path& file,
                const UnpickleOptions& options) {
  return Machine(bytes, file, options).run();
}

}  // namespace sampan::checkpoint
