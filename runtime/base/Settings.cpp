//===- Settings.cpp - the environment, parsed strictly --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Settings.h"

#include "runtime/trace/Bytes.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace dragon {

namespace {

/// A variable that is set.
struct Given {
  const char *variable;
  std::string_view value;

  Status bad(std::string_view expected) const {
    return Status::error(DRAGON_ERROR_SETTING, "{}='{}': expected {}", variable,
                         value, expected);
  }
};

/// In letters of either case.
bool beginsWith(std::string_view value, std::string_view word) {
  return std::ranges::equal(
      value.substr(0, word.size()), word,
      [](unsigned char a, char b) { return std::tolower(a) == b; });
}

//===----------------------------------------------------------------------===//
// The kinds of Settings.def: each understands a value and sets the field.
//===----------------------------------------------------------------------===//

struct Size {
  uint64_t unit = 0; ///< a multiple of it, and not zero; 0: any size

  Status operator()(const Given &given, std::optional<uint64_t> &field) const {
    field = parseBytes(given.value);
    if (!field)
      return given.bad("a size in bytes, such as 512M or 8G (K, M, G, T)");
    if (unit && (*field == 0 || *field % unit))
      return given.bad(fmt::format("a multiple of {}K", unit >> 10));
    return {};
  }
};

struct Switch {
  Status operator()(const Given &given, bool &field) const {
    if (given.value != "0" && given.value != "1")
      return given.bad("1 or 0");
    field = given.value == "1";
    return {};
  }
};

/// The artifact's way: "no" in front is off. It takes all else for on, "0" as
/// well; here that is an error.
struct YesNo {
  Status operator()(const Given &given, bool &field) const {
    field = !beginsWith(given.value, "no");
    if (field && !beginsWith(given.value, "yes") && given.value != "1")
      return given.bad("yes or no");
    return {};
  }
};

struct Count {
  uint64_t least, most;
  const char *of = nullptr; ///< what is counted, where there is no limit

  template <typename Number>
  Status operator()(const Given &given, Number &field) const {
    const char *begin = given.value.data(), *end = begin + given.value.size();
    uint64_t number = 0;
    auto [rest, error] = std::from_chars(begin, end, number);
    if (error == std::errc() && rest == end && number >= least &&
        number <= most) {
      field = Number(number);
      return {};
    }
    return given.bad(of ? fmt::format("a number of {}", of)
                        : fmt::format("a number from {} to {}", least, most));
  }
};

/// "a, b or c".
std::string listOf(const std::vector<std::string_view> &words) {
  std::string list(words.front());
  for (size_t i = 1; i < words.size(); ++i)
    list.append(i + 1 < words.size() ? ", " : " or ").append(words[i]);
  return list;
}

template <typename Field> struct Choice {
  struct Word {
    std::string_view word;
    Field means;
  };
  std::vector<Word> words;
  /// The artifact looks at so many letters, of either case; 0: a whole word.
  size_t letters = 0;

  Status operator()(const Given &given, Field &field) const {
    std::vector<std::string_view> all;
    for (const Word &one : words) {
      all.push_back(one.word);
      if (letters ? beginsWith(given.value, one.word.substr(0, letters))
                  : given.value == one.word) {
        field = one.means;
        return {};
      }
    }
    return given.bad(listOf(all));
  }
};

struct Paths {
  Status operator()(const Given &given, std::vector<std::string> &field) const {
    field.clear();
    for (std::string_view rest = given.value;;) {
      size_t colon = rest.find(':');
      std::string_view path = rest.substr(0, colon);
      if (path.empty())
        return given.bad("directories separated by ':'");
      field.emplace_back(path);
      if (colon == std::string_view::npos)
        return {};
      rest.remove_prefix(colon + 1);
    }
  }
};

struct PeerList {
  Status operator()(const Given &given, Peers &field) const {
    field = {};
    field.all = given.value == "auto";
    if (field.all || given.value == "none")
      return {};
    for (std::string_view rest = given.value;;) {
      const std::string_view word = rest.substr(0, rest.find(','));
      unsigned number = 0;
      const char *end = word.data() + word.size();
      if (auto [last, error] = std::from_chars(word.data(), end, number);
          error != std::errc() || last != end)
        return given.bad("auto, none, or numbers of devices such as 1,3");
      field.numbers.push_back(number);
      if (word.size() == rest.size())
        return {};
      rest.remove_prefix(word.size() + 1);
    }
  }
};

struct Text {
  Status operator()(const Given &given, std::string &field) const {
    field = given.value;
    return {};
  }
};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

struct Row {
  const char *variable;
  Status (*understand)(const Given &given, Settings &settings);
};

constexpr Row Rows[] = {
#define DRAGON_SETTING(field, variable, kind, byDefault, help)                 \
  {variable, [](const Given &given, Settings &settings) -> Status {            \
     return kind(given, settings.field);                                       \
   }},
#include "runtime/base/Settings.def"
};

/// The scripts, the build and the compiler have variables with this prefix,
/// too.
bool isForOthers(std::string_view name) {
  for (std::string_view known : {"DRAGON_BUILD_ROOT", "DRAGON_CUDA_PATH",
                                 "DRAGON_LLVM_BINDIR", "DRAGON_TEST_BACKENDS"})
    if (name == known)
      return true;
  return false;
}

/// The least number of letters to insert, remove or replace.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j)
    row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

} // namespace

Status Peers::check(unsigned own, unsigned devices) const {
  for (unsigned number : numbers)
    if (number == own || number >= devices)
      return Status::error(
          DRAGON_ERROR_SETTING, "DRAGON_PEERS names device {}: {}", number,
          number == own  ? "that is the program's own"
          : devices == 1 ? "there is no other than 0"
                         : fmt::format("there are 0 to {}", devices - 1));
  return {};
}

std::vector<std::string> unknownVariables() {
  constexpr std::string_view Prefix = "DRAGON_";
  std::vector<std::string> lines;
  for (char **entry = environ; entry && *entry; ++entry) {
    std::string_view name = *entry;
    name = name.substr(0, name.find('='));
    if (!name.starts_with(Prefix) || isForOthers(name))
      continue;
    const std::string_view word = name.substr(Prefix.size());
    const char *nearest = nullptr;
    size_t least = SIZE_MAX;
    for (const SettingDescription &setting : allSettings())
      if (size_t far = distance(
              word, std::string_view(setting.variable).substr(Prefix.size()));
          far < least) {
        least = far;
        nearest = setting.variable;
      }
    if (least == 0)
      continue;
    // Beyond that it is another word.
    const bool near = least <= std::max<size_t>(2, word.size() / 2);
    lines.push_back(
        near ? fmt::format("{} is no setting; did you mean {}?", name, nearest)
             : fmt::format("{} is no setting", name));
  }
  return lines;
}

// A program with more rights than its caller takes no files' names from it:
// secure_getenv.
StatusOr<Settings> Settings::fromEnvironment() {
  Settings settings;
  const char *temporary = ::secure_getenv("TMPDIR");
  settings.swapDirs = {temporary && *temporary ? temporary : "/var/tmp"};
  for (const Row &row : Rows) {
    const char *value = ::secure_getenv(row.variable);
    if (value && *value)
      DRAGON_TRY(row.understand({row.variable, value}, settings));
  }
  return settings;
}

std::span<const SettingDescription> allSettings() {
  static const SettingDescription Table[] = {
#define DRAGON_SETTING(field, variable, kind, byDefault, help)                 \
  {variable, byDefault, help},
#include "runtime/base/Settings.def"
  };
  return Table;
}

} // namespace dragon
