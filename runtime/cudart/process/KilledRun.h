//===- KilledRun.h - the statistics of a run that is killed -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_PROCESS_KILLEDRUN_H
#define DRAGON_RUNTIME_CUDART_PROCESS_KILLEDRUN_H

namespace dragon {

class Runtime;

/// If statistics or a trace are wanted, they are written when SIGTERM, SIGINT,
/// SIGHUP or SIGABRT end the process. Called once.
void reportWhenKilled(Runtime &runtime);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_PROCESS_KILLEDRUN_H
