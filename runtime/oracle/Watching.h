//===- Watching.h - observers that hear kernels' accesses -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An observer of the program's operations that also wants to hear what kernels
// on the cpu device access, and two of them as one.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_ORACLE_WATCHING_H
#define DRAGON_RUNTIME_ORACLE_WATCHING_H

#include "runtime/device/cpu/kernels/AccessSink.h"
#include "runtime/oracle/AccessRecorder.h"
#include "runtime/oracle/Observer.h"

#include <memory>

namespace dragon::oracle {

class Watching : public Observer {
public:
  virtual AccessSink &sink() = 0;
  /// Null where it matters in which order different bytes are touched. Else a
  /// recorder that others have as well may tell this, in place of the sink,
  /// what blocks have done when they have ended.
  virtual AccessRecorder::Consumer *gathered() { return nullptr; }
};

/// Tells both, the first one first.
std::unique_ptr<Watching> both(std::unique_ptr<Watching> first,
                               std::unique_ptr<Watching> second);

} // namespace dragon::oracle

#endif // DRAGON_RUNTIME_ORACLE_WATCHING_H
