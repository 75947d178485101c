//===- SettingsReader.cpp - the DRAGON_ variables -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lines NAME=VALUE, as the environment; then the budgets that follow from them.
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "runtime/memory/Budget.h"

#include <cstdlib>
#include <string>

using namespace dragon;

DRAGON_READER("settings") {
  for (const SettingDescription &setting : allSettings())
    ::unsetenv(setting.variable);
  const std::string text(reinterpret_cast<const char *>(data), bytes);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const size_t equals = line.find('=');
    if (equals == line.npos || line.compare(0, 7, "DRAGON_") != 0)
      continue;
    ::setenv(line.substr(0, equals).c_str(), line.c_str() + equals + 1, 1);
  }
  auto settings = Settings::fromEnvironment();
  if (!settings.ok())
    return;
  DeviceCaps caps{};
  caps.name = "cpu";
  caps.granularity = 2 << 20;
  caps.totalMemory = caps.freeMemory = uint64_t(8) << 30;
  chooseBudget(*settings, caps, uint64_t(16) << 30).takeStatus().ignore();
}
