//===- WriteBehind.h - contents on their way to storage ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One write that runs in the background. The idea is in WriteBehind.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_WRITEBEHIND_H
#define DRAGON_RUNTIME_CORE_WRITEBEHIND_H

#include "runtime/core/RuntimeImpl.h"

namespace dragon {

/// Of the host copy of one chunk, under way or done.
struct Writing {
  Runtime::Impl::WritePlan plan;
  Cause cause;
  uint64_t number; ///< counted as they begin, from 1
  std::shared_ptr<BackgroundIo::Job> job;

  Chunk &chunk() const { return *plan.chunk; }
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_WRITEBEHIND_H
