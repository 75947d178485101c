//===- StartUp.cpp - what begins before main, and with the first call -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/libraries/ForeignCalls.h"
#include "runtime/cudart/modules/Module.h"
#include "runtime/cudart/mpi/Calls.h"
#include "runtime/cudart/process/KilledRun.h"
#include "runtime/cudart/process/Lifecycle.h"
#include "runtime/cudart/process/RunPage.h"
#include "runtime/cudart/process/StartAhead.h"
#include "runtime/cudart/staging/Staging.h"

using namespace dragon;

extern "C" void __dragon_register_module(const dragon_module *module) {
  modules().addUnit(module);
  startAheadOf(module);
  noteProgramOf(module);
}

void dragon::startProcess(Front &front) {
  Runtime &runtime = front.runtime;
  staging().buffers.attach(runtime);
  armLifecycle();
  prepareRunPage(runtime.settings());
  reportWhenKilled(runtime);
  leadCallsTo(processCalls());
  leadCallsTo(mpi::transferCalls());
  leadCallsTo(mpi::requestCalls());
  watchForeignCalls();
  // NVIDIA's runtime loads what is registered when it starts. Left to the first
  // launch, that took 2 ms of it. What fails is told there.
  if (front.gpu && modules().initialise(front).error() == cudaSuccess)
    modules().prepareFew(front);
}
