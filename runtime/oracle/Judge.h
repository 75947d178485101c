//===- Judge.h - measures the runtime against others ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DRAGON_PAGER, DRAGON_ORACLE and DRAGON_FOOTPRINTS: listens to the program and
// to its kernels, and says at the end what others would have moved for the same
// run. DRAGON_CHECK (Check.h): whether what is done instead of what the program
// says changes it. Shares no code with what it judges. Needs the cpu device and
// a program that was compiled with -fdragon-trace-accesses.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_ORACLE_JUDGE_H
#define DRAGON_RUNTIME_ORACLE_JUDGE_H

#include "runtime/base/Settings.h"
#include "runtime/base/Status.h"
#include "runtime/oracle/Observer.h"

#include <memory>

namespace dragon {

/// Null if the settings ask for none. `device`: what the program runs on;
/// `deviceBytes`: the memory that it is judged for.
StatusOr<std::unique_ptr<Observer>> makeJudge(const Settings &settings,
                                              const DeviceCaps &device,
                                              uint64_t deviceBytes);

} // namespace dragon

#endif // DRAGON_RUNTIME_ORACLE_JUDGE_H
