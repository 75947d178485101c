//===- FaultHandling.cpp - the SIGSEGV handler ----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/FaultHandling.h"
#include "runtime/device/Fiber.h"
#include "runtime/device/ProgramSignals.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <sys/ucontext.h>
#include <unistd.h>
#include <vector>

// Our handler does real work, which is right for faults that the thread itself
// raised; the sanitizer cannot know that they are no asynchronous signals.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DRAGON_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define DRAGON_TSAN 1
#endif
#ifdef DRAGON_TSAN
extern "C" const char *__tsan_default_options();
extern "C" const char *__tsan_default_options() {
  return "report_signal_unsafe=0";
}
#endif

namespace dragon {

namespace {

struct FaultRange {
  uintptr_t end;
  FaultSink *sink;
};

struct FaultState {
  std::shared_mutex lock;
  std::map<uintptr_t, FaultRange> ranges;
  pid_t process = 0; // a child made by fork has none of our threads
};

// Never destroyed: faults may come as late as in exit handlers.
FaultState &faultState() {
  static FaultState *theState = new FaultState;
  return *theState;
}

// Read in the handler: must not allocate on first use.
__attribute__((tls_model(
    "initial-exec"))) thread_local const KernelFaultHook *currentHook = nullptr;

// Sinks move data and may print: they need more stack than an alternate signal
// stack usually has.
constexpr size_t ComfortableStackBytes = 256 * 1024;

struct SinkCall {
  FaultSink *sink;
  uintptr_t address;
  bool write;
  bool answer = false;
  Fiber caller;
  Fiber callee;
};

void callSinkOnFiber(void *argument) {
  auto *call = static_cast<SinkCall *>(argument);
  call->answer = call->sink->hostFault(call->address, call->write);
  Fiber::leave(call->callee, call->caller);
}

bool callSink(FaultSink &sink, uintptr_t address, bool write,
              const ucontext_t *context) {
  bool tight = (context->uc_stack.ss_flags & SS_DISABLE) == 0 &&
               context->uc_stack.ss_size < ComfortableStackBytes;
  if (!tight)
    return sink.hostFault(address, write);
  FiberStack stack = FiberStack::allocate(ComfortableStackBytes);
  if (!stack.base)
    return sink.hostFault(address, write);
  SinkCall call;
  call.sink = &sink;
  call.address = address;
  call.write = write;
  call.callee.prepare(stack, callSinkOnFiber, &call);
  Fiber::switchTo(call.caller, call.callee);
  FiberStack::free(stack);
  return call.answer;
}

bool handleHostFault(uintptr_t address, bool write, const ucontext_t *context) {
  FaultState &faults = faultState();
  if (getpid() != faults.process)
    return false;
  FaultSink *sink = nullptr;
  {
    std::shared_lock<std::shared_mutex> guard(faults.lock);
    auto it = faults.ranges.upper_bound(address);
    if (it == faults.ranges.begin())
      return false;
    --it;
    if (address >= it->second.end)
      return false;
    sink = it->second.sink;
  }
  return callSink(*sink, address, write, context);
}

void onSegmentationFault(int, siginfo_t *info, void *context) {
  int savedErrno = errno;
  auto *machine = static_cast<ucontext_t *>(context);
  // si_code > 0: raised by the kernel for an access, not sent by a process.
  bool access = info->si_code > 0;
  uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
  greg_t errorCode = machine->uc_mcontext.gregs[REG_ERR];
  bool write = errorCode & 2;
  bool fetch = errorCode & 16; // an instruction: never data that we manage
  bool handled = false;
  if (access && currentHook)
    handled =
        currentHook->onFault(currentHook->context, address, write, context);
  else if (access && !fetch)
    handled = handleHostFault(address, write, machine);
  errno = savedErrno;
  if (!handled)
    ProgramSignals::handle(info, context);
}

Status installLocked(FaultState &faults) {
  if (faults.process)
    return {};
  if (const int error = ProgramSignals::install(onSegmentationFault))
    return Status::native(DRAGON_ERROR_DEVICE, error,
                          "installing the handler of host accesses: {}",
                          std::strerror(error));
  faults.process = getpid();
  return {};
}

} // namespace

Status installFaultHandler() {
  FaultState &faults = faultState();
  std::unique_lock<std::shared_mutex> guard(faults.lock);
  return installLocked(faults);
}

Status addFaultRange(uintptr_t begin, uintptr_t end, FaultSink &sink) {
  FaultState &faults = faultState();
  std::unique_lock<std::shared_mutex> guard(faults.lock);
  DRAGON_TRY(installLocked(faults));
  faults.ranges[begin] = FaultRange{end, &sink};
  return {};
}

void removeFaultRange(uintptr_t begin) {
  FaultState &faults = faultState();
  std::unique_lock<std::shared_mutex> guard(faults.lock);
  faults.ranges.erase(begin);
}

void takeFaultSignal() {
  if (ProgramSignals::isOurs())
    ProgramSignals::install(onSegmentationFault);
}

void setKernelFaultHook(const KernelFaultHook *hook) { currentHook = hook; }

} // namespace dragon
