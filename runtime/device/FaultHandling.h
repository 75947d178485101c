//===- FaultHandling.h - accesses to addresses that hold nothing -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One SIGSEGV handler for all devices of the process. A fault in a registered
// range goes to its FaultSink (a device), which may make the address accessible
// and let the access run again. A fault on a thread that runs a kernel on the
// host processor goes to that thread's KernelFaultHook first: a kernel's access
// must never be taken for one of the program. Everything else is the program's
// (ProgramSignals.h), so other users of SIGSEGV keep working.
//
// The handler runs on the faulting thread in the middle of arbitrary code, but
// the fault is synchronous, so locks that are never held while touching
// registered addresses may be taken. It runs on the thread's alternate stack
// where there is one; where that is too small for real work (less than 256 KiB)
// sinks are called on a stack of our own.
//
// Threads: all functions from any thread.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_FAULTHANDLING_H
#define DRAGON_RUNTIME_DEVICE_FAULTHANDLING_H

#include "runtime/base/Status.h"

#include <cstdint>

namespace dragon {

/// Receives the faults in the ranges registered for it.
class FaultSink {
public:
  virtual ~FaultSink() = default;
  /// True: the access can be retried. False: it is not ours, and the previous
  /// handler gets it.
  virtual bool hostFault(uintptr_t address, bool write) = 0;
};

/// Set on threads that run kernels. `ucontext` is the handler's third argument;
/// changing its registers is how a kernel is stopped. True: return from the
/// signal; false: not ours.
struct KernelFaultHook {
  bool (*onFault)(void *context, uintptr_t address, bool write, void *ucontext);
  void *context;
};

/// Installs the handler on first use. Ranges do not overlap.
Status addFaultRange(uintptr_t begin, uintptr_t end, FaultSink &sink);
/// Returns when no fault in the range is being handled any more by another
/// thread's look-up; the sink must outlive faults that are in progress.
void removeFaultRange(uintptr_t begin);

/// Installs the handler without a range (for kernel faults alone).
Status installFaultHandler();
/// The same, from handlers of signals as well.
void takeFaultSignal();

/// The calling thread's hook; null to take it away.
void setKernelFaultHook(const KernelFaultHook *hook);

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_FAULTHANDLING_H
