//===- StartAhead.h - the driver starts beside the program ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver takes .2 s to start and to make a context (H100), at a program's
// first CUDA call. Most programs read or make their input before that, and use
// one processor: so a thread of ours starts the driver meanwhile. Nothing else
// begins early. The first call finds what it needs, or waits for the rest as it
// would for all of it; a driver that does not start tells its error then.
//
// Not in a program that could notice: one that makes processes (a child cannot
// use a driver that its parent has started), sets variables of its environment
// (CUDA_VISIBLE_DEVICES), changes who or where it is, or loads code that might.
// What it and its libraries never name they do not call. Not for one that ends
// at once, either.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_PROCESS_STARTAHEAD_H
#define DRAGON_RUNTIME_CUDART_PROCESS_STARTAHEAD_H

#include "dragon/CompilerABI.h"
#include "runtime/cudart/libraries/ForeignCalls.h"

#include <span>

namespace dragon {

/// Ours, of what makes a process: objects have no stand-ins for these, so that
/// a program's imports show them.
std::span<const LedCall> processCalls();

/// A unit registers itself; constructors run in the program's first thread. The
/// executable's first begins the start.
void startAheadOf(const dragon_module *unit);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_PROCESS_STARTAHEAD_H
