//===- Lifecycle.cpp - fork, exit and reset -------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/Lifecycle.h"

#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/front/ProcessState.h"
#include "runtime/cudart/process/RunPage.h"
#include "runtime/cudart/staging/Staging.h"

#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

namespace dragon {

namespace {
void beforeFork() {
  // fork() itself was refused where that fails; what calls it inside of the C
  // library (daemon, forkpty) cannot be.
  if (Status status = staging().children.saveInputs(); !status.ok())
    report(status);
  staging().children.bringResults();
  staging().children.lockForFork();
}
void afterForkInParent() { staging().children.unlockInParent(); }
void afterForkInChild() {
  staging().children.unlockInChild();
  processIsChild();
}

[[gnu::constructor]] void watchForks() {
  pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
}

/// The driver still answers here, for the last time.
void endOfDevice() {
  Front *front = Front::existing();
  if (!front || !front->gpu || inForkedChild())
    return;
  report(staging().buffers.processEnds());
  report(front->runtime.quiesce(/*last=*/true));
  refuseAllCalls();
}

[[gnu::destructor]] void endOfProcess() {
  Front *front = Front::existing();
  if (!front || inForkedChild())
    return;
  refuseOtherThreads();
  report(front->runtime.shutdown());
  makeRunPage(front->runtime);
  // What the program has printed is not written yet.
  if (const int status = front->runtime.verdict()) {
    std::fflush(nullptr);
    ::_exit(status);
  }
}
} // namespace

void armLifecycle() {
  processHasDevice();
  std::atexit(endOfDevice);
}

} // namespace dragon
