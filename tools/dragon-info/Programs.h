//===- Programs.h - who shares a device -------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_INFO_PROGRAMS_H
#define DRAGON_TOOLS_DRAGON_INFO_PROGRAMS_H

#include <string>

namespace dragon::info {

enum class ProgramsShown { Once, EachSecond };

/// Prints the books of all devices in the directory (empty: this user's). The
/// program's exit status: 1 if nobody shares a device.
int showPrograms(const std::string &Directory, ProgramsShown Shown, bool Json);

} // namespace dragon::info

#endif // DRAGON_TOOLS_DRAGON_INFO_PROGRAMS_H
