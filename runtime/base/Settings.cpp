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

// What the cpu device can do; chooseBudget() knows what the device needs.
constexpr uint64_t ChunkUnit = 64 << 10;

Status bad(const char *variable, std::string_view value, const char *expected) {
  return Status::error(DRAGON_ERROR_SETTING, "{}='{}': {}", variable, value,
                       expected);
}

Status parseSize(const char *variable, std::string_view value,
                 std::optional<uint64_t> &field) {
  field = parseBytes(value);
  if (!field)
    return bad(variable, value,
               "expected a size in bytes, such as 512M or 8G (K, M, G, T)");
  return {};
}

Status parseSwitch(const char *variable, std::string_view value, bool &field) {
  if (value != "0" && value != "1")
    return bad(variable, value, "expected 1 or 0");
  field = value == "1";
  return {};
}

bool beginsWith(std::string_view value, std::string_view word) {
  return std::ranges::equal(
      value.substr(0, word.size()), word,
      [](unsigned char a, char b) { return std::tolower(a) == b; });
}

/// The artifact's way: "no" in front is off. It takes all else for on, "0" as
/// well; here that is an error.
Status parseYesNo(const char *variable, std::string_view value, bool &field) {
  field = !beginsWith(value, "no");
  if (field && !beginsWith(value, "yes") && value != "1")
    return bad(variable, value, "expected yes or no");
  return {};
}

Status parseReadahead(const char *variable, std::string_view value,
                      Readahead &field) {
  // The artifact looks at the first three letters.
  if (beginsWith(value, "agg"))
    field = Readahead::Aggressive;
  else if (beginsWith(value, "dis"))
    field = Readahead::Disabled;
  else if (beginsWith(value, "nor"))
    field = Readahead::Normal;
  else
    return bad(variable, value, "expected aggressive, normal or disabled");
  return {};
}

Status parsePages(const char *variable, std::string_view value,
                  uint64_t &field) {
  const char *begin = value.data(), *end = begin + value.size();
  auto [rest, error] = std::from_chars(begin, end, field);
  if (error != std::errc() || rest != end)
    return bad(variable, value, "expected a number of pages of 4 KiB");
  return {};
}

Status parseCount(const char *variable, std::string_view value,
                  unsigned &field) {
  const char *begin = value.data(), *end = begin + value.size();
  auto [rest, error] = std::from_chars(begin, end, field);
  if (error != std::errc() || rest != end || field > 4096)
    return bad(variable, value, "expected a number from 0 to 4096");
  return {};
}

Status parsePaths(const char *variable, std::string_view value,
                  std::vector<std::string> &field) {
  field.clear();
  for (std::string_view rest = value;;) {
    size_t colon = rest.find(':');
    std::string_view path = rest.substr(0, colon);
    if (path.empty())
      return bad(variable, value, "expected directories separated by ':'");
    field.emplace_back(path);
    if (colon == std::string_view::npos)
      return {};
    rest.remove_prefix(colon + 1);
  }
}

Status parseOne(const char *variable, std::string_view value,
                Settings &settings) {
  std::string_view name = variable;
  if (name == "DRAGON_DEVICE_MEMORY")
    return parseSize(variable, value, settings.deviceMemory);
  if (name == "DRAGON_HOST_MEMORY")
    return parseSize(variable, value, settings.hostMemory);
  if (name == "DRAGON_SWAP_DIR")
    return parsePaths(variable, value, settings.swapDirs);
  if (name == "DRAGON_BACKEND") {
    for (std::string_view known : {"vmm", "cpu", "managed", "dragon"})
      if (value == known) {
        settings.backend = value;
        return {};
      }
    return bad(variable, value, "expected vmm, cpu, managed or dragon");
  }
  if (name == "DRAGON_MANAGED_MEMORY")
    return parseSize(variable, value, settings.managedMemory);
  if (name == "DRAGON_MANAGED_OVERSUBSCRIBE")
    return parseSwitch(variable, value, settings.managedOversubscribe);
  if (name == "DRAGON_READAHEAD_TYPE")
    return parseReadahead(variable, value, settings.readahead);
  if (name == "DRAGON_NR_RESERVED_PAGES")
    return parsePages(variable, value, settings.reservedPages);
  if (name == "DRAGON_ENABLE_READ_CACHE")
    return parseYesNo(variable, value, settings.enableReadCache);
  if (name == "DRAGON_ENABLE_LAZY_WRITE")
    return parseYesNo(variable, value, settings.enableLazyWrite);
  if (name == "DRAGON_ENABLE_AIO_READ")
    return parseYesNo(variable, value, settings.enableAioRead);
  if (name == "DRAGON_ENABLE_AIO_WRITE")
    return parseYesNo(variable, value, settings.enableAioWrite);
  if (name == "DRAGON_CHUNK_SIZE") {
    DRAGON_TRY(parseSize(variable, value, settings.chunkBytes));
    const uint64_t bytes = settings.chunkBytes.value_or(0);
    if (bytes == 0 || bytes % ChunkUnit)
      return bad(variable, value, "expected a multiple of 64K");
    return {};
  }
  if (name == "DRAGON_DIRECT_IO") {
    if (value == "auto")
      settings.directIo = DirectIo::Auto;
    else if (value == "on")
      settings.directIo = DirectIo::On;
    else if (value == "off")
      settings.directIo = DirectIo::Off;
    else
      return bad(variable, value, "expected auto, on or off");
    return {};
  }
  if (name == "DRAGON_IO_URING")
    return parseSwitch(variable, value, settings.ioUring);
  if (name == "DRAGON_STRICT")
    return parseSwitch(variable, value, settings.strict);
  if (name == "DRAGON_POISON")
    return parseSwitch(variable, value, settings.poison);
  if (name == "DRAGON_QUIET")
    return parseSwitch(variable, value, settings.quiet);
  if (name == "DRAGON_ELIDE")
    return parseSwitch(variable, value, settings.elide);
  if (name == "DRAGON_WAVEFRONT") {
    if (value == "auto")
      settings.wavefront = Wavefront::Auto;
    else if (value == "always")
      settings.wavefront = Wavefront::Always;
    else if (value == "off")
      settings.wavefront = Wavefront::Off;
    else
      return bad(variable, value, "expected auto, always or off");
    return {};
  }
  if (name == "DRAGON_ORACLE")
    return parseSwitch(variable, value, settings.oracle);
  if (name == "DRAGON_FOOTPRINTS")
    return parseSwitch(variable, value, settings.footprints);
  if (name == "DRAGON_CHECK")
    return parseSwitch(variable, value, settings.check);
  if (name == "DRAGON_PAGER") {
    if (value != "none" && value != "fault")
      return bad(variable, value, "expected none or fault");
    settings.pager = value == "none" ? "" : value;
    return {};
  }
  if (name == "DRAGON_SLICE_QUEUES") {
    unsigned queues = 0;
    DRAGON_TRY(parseCount(variable, value, queues));
    if (queues < 1 || queues > 8)
      return bad(variable, value, "expected a number from 1 to 8");
    settings.sliceQueues = queues;
    return {};
  }
  if (name == "DRAGON_CPU_THREADS") {
    unsigned threads = 0;
    if (!parseCount(variable, value, threads).ok() || threads == 0)
      return bad(variable, value, "expected a number from 1 to 4096");
    settings.cpuThreads = threads;
    return {};
  }
  if (name == "DRAGON_LOG") {
    if (value != "0" && value != "1" && value != "debug")
      return bad(variable, value, "expected 0, 1 or debug");
    settings.log = value == "0" ? "" : value;
    return {};
  }
  if (name == "DRAGON_STATS")
    settings.stats = value;
  else if (name == "DRAGON_TRACE")
    settings.trace = value;
  else
    return bad(variable, value, "not handled");
  return {};
}

/// Of the scripts, the build and the compiler, which share the prefix.
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
  for (const SettingDescription &setting : allSettings()) {
    const char *value = ::secure_getenv(setting.variable);
    if (value && *value)
      DRAGON_TRY(parseOne(setting.variable, value, settings));
  }
  return settings;
}

std::span<const SettingDescription> allSettings() {
  static const SettingDescription Table[] = {
#define DRAGON_SETTING(field, variable, kind, byDefault, help)                 \
  {variable, #kind, byDefault, help},
#include "runtime/base/Settings.def"
  };
  return Table;
}

} // namespace dragon
