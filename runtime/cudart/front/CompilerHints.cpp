//===- CompilerHints.cpp - what the compiler says in advance --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/CompilerHints.h"

#include "runtime/base/PerThread.h"

#include <utility>

namespace dragon {

namespace {
thread_local const dragon_reason *reason = nullptr;
using NextLaunch = PerThread<LaunchHints, struct NextLaunchTag>;
} // namespace

LaunchHints &nextLaunchHints() { return NextLaunch::get(); }

LaunchHints takeLaunchHints() {
  LaunchHints *hints = NextLaunch::find();
  return hints ? std::exchange(*hints, {}) : LaunchHints();
}

void setReason(const dragon_reason *why) { reason = why; }

const dragon_reason *takeReasonIfAny() {
  return std::exchange(reason, nullptr);
}

const dragon_reason *takeReason() {
  static const dragon_reason None{nullptr, {nullptr, nullptr, 0, 0}};
  const dragon_reason *given = takeReasonIfAny();
  return given ? given : &None;
}

} // namespace dragon
