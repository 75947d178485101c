//===- CompilerHints.h - what the compiler says in advance ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Directives stand in front of what they are about: the calling thread's next
// launch, or its next directive. What they say waits here until that comes: the
// launch is made by a function of the program, the kernel's stub, to which
// nothing of theirs can be passed. The launch's configuration travels the same
// way (__cudaPushCallConfiguration).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_FRONT_COMPILERHINTS_H
#define DRAGON_RUNTIME_CUDART_FRONT_COMPILERHINTS_H

#include "runtime/core/Runtime.h"

#include <vector>

namespace dragon {

/// What the compiler says of a launch.
struct LaunchHints {
  std::vector<LastUse> lastUses;
  bool followed = false;
};
/// The hints of the calling thread's next launch, to be added to.
LaunchHints &nextLaunchHints();
/// The same, once.
LaunchHints takeLaunchHints();

/// Why the calling thread's next directive was inserted; null: nothing is said.
void setReason(const dragon_reason *why);
/// The same, once; of one without a name if its source was compiled without
/// -fdragon-trace-accesses.
const dragon_reason *takeReason();
/// The same, but null then.
const dragon_reason *takeReasonIfAny();

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_FRONT_COMPILERHINTS_H
