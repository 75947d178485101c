//===- KernelRun.cpp - a launch in progress on the host processor ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/kernels/KernelRun.h"
#include "runtime/base/Rounding.h"
#include "runtime/device/cpu/kernels/AccessSink.h"
#include "runtime/device/cpu/kernels/BlockScheduler.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/ucontext.h>
#include <unistd.h>

namespace dragon {

namespace {

// Read in the signal handler and on every call of a kernel into the runtime.
__attribute__((tls_model(
    "initial-exec"))) thread_local KernelThread *currentThread = nullptr;

constexpr uint32_t SharedAlignment = 128;
// Blocks of kernels without barriers run on this one; it holds the local
// memory (at most 512 KiB in CUDA) of one thread, or whatever the lowering
// needs to run all threads of a block at once.
constexpr size_t RunnerStackBytes = 8 << 20;
constexpr size_t SignalStackBytes = 128 << 10;

} // namespace

KernelRun::KernelRun(const LaunchRequest &request,
                     const dragon_cpu_kernel &kernel, AddressMap &addresses,
                     AddressMap::Opened &opened, bool poisonShared)
    : Request(request), Kernel(kernel), Addresses(addresses), Opened(opened),
      PoisonShared(poisonShared) {
  Blocks = 1;
  for (unsigned axis = 0; axis < 3; ++axis)
    Blocks *= request.box.Hi[axis] - request.box.Lo[axis];
}

uint32_t KernelRun::staticBytes() const {
  return (Kernel.static_shared_bytes + SharedAlignment - 1) / SharedAlignment *
         SharedAlignment;
}

bool KernelRun::nextBlock(uint32_t ctaid[3]) {
  if (failed())
    return false;
  uint64_t index = Next.fetch_add(1, std::memory_order_relaxed);
  if (index >= Blocks)
    return false;
  for (unsigned axis = 0; axis < 3; ++axis) {
    uint32_t extent = Request.box.Hi[axis] - Request.box.Lo[axis];
    ctaid[axis] = Request.box.Lo[axis] + static_cast<uint32_t>(index % extent);
    index /= extent;
  }
  if (AccessSink *sink = accessSink())
    sink->blockBegins(uint64_t(Request.block[0]) * Request.block[1] *
                      Request.block[2]);
  return true;
}

void KernelRun::fail(int nativeCode, std::string message) {
  std::lock_guard<std::mutex> guard(Lock);
  if (failed())
    return;
  NativeCode = nativeCode;
  Message = std::move(message);
  Failed = true;
}

void KernelRun::failIn(const dragon_cpu_context &ctx, int nativeCode,
                       const std::string &what) {
  fail(nativeCode,
       fmt::format("kernel '{}', block ({},{},{}), thread ({},{},{}): {}",
                   name(), ctx.ctaid[0], ctx.ctaid[1], ctx.ctaid[2], ctx.tid[0],
                   ctx.tid[1], ctx.tid[2], what));
}

Status KernelRun::result() {
  std::lock_guard<std::mutex> guard(Lock);
  if (!failed())
    return {};
  return Status::native(DRAGON_ERROR_DEVICE, NativeCode, "{}", Message);
}

KernelThread::KernelThread() {
  Hook.onFault = onFault;
  Hook.context = this;
}

KernelThread::~KernelThread() {
  std::free(shared);
  if (Stack.base)
    FiberStack::free(Stack);
  if (SignalStack.base)
    FiberStack::free(SignalStack);
}

KernelThread *KernelThread::current() { return currentThread; }

bool KernelThread::prepareShared() {
  size_t bytes = Run->staticBytes() + Run->request().dynamicSharedBytes;
  if (bytes > sharedBytes || !shared) {
    std::free(shared);
    sharedBytes = (bytes + 4095) / 4096 * 4096 + 4096;
    shared = static_cast<char *>(
        std::aligned_alloc(4096, sharedBytes)); // >= the 128 of the contract
    if (!shared) {
      Run->fail(KernelLaunchFailure,
                fmt::format("kernel '{}': no {} bytes for shared memory",
                            Run->name(), bytes));
      sharedBytes = 0;
      return false;
    }
  }
  if (!Stack.base)
    Stack = FiberStack::allocate(RunnerStackBytes);
  if (!SignalStack.base)
    SignalStack = FiberStack::allocate(SignalStackBytes);
  if (!Stack.base || !SignalStack.base) {
    Run->fail(KernelLaunchFailure,
              fmt::format("kernel '{}': no memory for a stack", Run->name()));
    return false;
  }
  return true;
}

void KernelThread::initialise(dragon_cpu_context &context,
                              const uint32_t ctaid[3]) {
  const LaunchRequest &request = Run->request();
  for (unsigned axis = 0; axis < 3; ++axis) {
    context.tid[axis] = 0;
    context.ctaid[axis] = ctaid[axis];
    context.ntid[axis] = request.block[axis];
    context.nctaid[axis] = request.grid[axis];
  }
  context.shared = shared;
  context.static_bytes = Run->staticBytes();
  context.dynamic_bytes = request.dynamicSharedBytes;
  context.block = nullptr;
  context.thread = nullptr;
  context.grid = Run->grid();
}

void *KernelThread::frame(uint32_t thread, uint64_t bytes) {
  constexpr uint64_t Alignment = 64;
  const uint64_t stride = roundUp(bytes, Alignment);
  if (thread == 0) {
    const uint32_t *block = Run->request().block;
    const uint64_t needed = stride * block[0] * block[1] * block[2];
    if (needed > FrameBytes) {
      Frames.reset(static_cast<char *>(std::aligned_alloc(Alignment, needed)));
      FrameBytes = Frames ? needed : 0;
    }
    if (!Frames) {
      Run->fail(KernelLaunchFailure,
                fmt::format("kernel '{}': no {} bytes for what the threads of "
                            "a block keep from barrier to barrier",
                            Run->name(), needed));
      stop();
    }
  }
  return Frames.get() + thread * stride;
}

void KernelThread::work(KernelRun &run) {
  Run = &run;
  if (!prepareShared())
    return;
  // A kernel thread that runs out of stack can only be told on another one.
  stack_t before{}, ours{};
  sigaltstack(nullptr, &before);
  bool replaced = false;
  if (before.ss_flags & SS_DISABLE) {
    ours.ss_sp = SignalStack.base;
    ours.ss_size = SignalStack.bytes;
    replaced = sigaltstack(&ours, nullptr) == 0;
  }
  // A kernel can be launched while another one runs on this thread only from
  // a fault handler; keep what was there.
  KernelThread *outer = currentThread;
  currentThread = this;
  setKernelFaultHook(&Hook);
  if (run.kernel().flags & DRAGON_CPU_NEEDS_FIBERS) {
    if (!Scheduler)
      Scheduler = std::make_unique<BlockScheduler>(*this);
    Scheduler->runBlocks();
  } else {
    runWithoutFibers();
  }
  currentThread = outer;
  setKernelFaultHook(outer ? &outer->Hook : nullptr);
  if (replaced)
    sigaltstack(&before, nullptr);
  Run = nullptr;
}

void KernelThread::runWithoutFibers() {
  Runner.prepare(Stack, blockLoop, this);
  runningStack = &Stack;
  runningFiber = &Runner;
  Fiber::switchTo(native, Runner);
  runningStack = nullptr;
  runningFiber = nullptr;
  runningContext = nullptr;
  Runner.abandon();
}

void KernelThread::blockLoop(void *self) {
  auto &thread = *static_cast<KernelThread *>(self);
  KernelRun &run = *thread.Run;
  dragon_cpu_context context;
  uint32_t ctaid[3];
  thread.runningContext = &context;
  while (run.nextBlock(ctaid)) {
    thread.initialise(context, ctaid);
    if (run.poisonShared())
      std::memset(thread.shared, 0xA5,
                  run.staticBytes() + run.request().dynamicSharedBytes);
    run.kernel().entry(&context, run.request().args);
  }
  Fiber::leave(thread.Runner, thread.native);
}

void KernelThread::stop() { Fiber::leave(*runningFiber, native); }

// Runs after the signal, on the stack of the thread that failed.
void KernelThread::faulted() {
  KernelThread &thread = *currentThread;
  thread.noteFault();
  thread.stop();
}

void KernelThread::noteFault() {
  uintptr_t bottom = reinterpret_cast<uintptr_t>(runningStack->base);
  if (runningStack->guarded && FaultAddress < bottom &&
      bottom - FaultAddress <= FiberStack::guardBytes())
    Run->failIn(
        FaultContext, KernelLaunchFailure,
        fmt::format("more than {} bytes of local memory", runningStack->bytes));
  else
    Run->failIn(FaultContext, KernelIllegalAddress,
                fmt::format("{} address {:#x}, {}",
                            FaultWrites ? "writes" : "reads", FaultAddress,
                            FaultPlace.value_or("where no memory is")));
}

// Runs in the signal handler, on a thread that was inside of kernel code.
bool KernelThread::onFault(void *self, uintptr_t address, bool write,
                           void *ucontext) {
  auto &thread = *static_cast<KernelThread *>(self);
  if (!thread.runningStack)
    return false;
  KernelRun &run = *thread.Run;
  const dragon_cpu_context &context = *thread.runningContext;
  AddressRange range;
  if (run.addresses().openForKernel(address, run.opened()))
    return true;
  thread.FaultPlace = run.addresses().outOfBounds(address);
  if (!thread.FaultPlace && run.addresses().findReserved(address, range)) {
    char line[2048]; // mangled names are long
    int length = std::snprintf(
        line, sizeof(line),
        "dragon: error: kernel '%s' %s address %#lx, block (%u,%u,%u), thread "
        "(%u,%u,%u): in buffer [%#lx, %#lx), outside of the announced "
        "footprint\n",
        run.name(), write ? "writes" : "reads",
        static_cast<unsigned long>(address), context.ctaid[0], context.ctaid[1],
        context.ctaid[2], context.tid[0], context.tid[1], context.tid[2],
        static_cast<unsigned long>(range.begin),
        static_cast<unsigned long>(range.end));
    // Results would be wrong from here on: nothing may be written any more.
    [[maybe_unused]] ssize_t written =
        ::write(STDERR_FILENO, line,
                std::min(static_cast<size_t>(length), sizeof(line) - 1));
    if (AccessSink *sink = accessSink())
      sink->processEnds();
    _exit(FootprintViolationStatus);
  }
  const FiberStack &stack = *thread.runningStack;
  thread.FaultAddress = address;
  thread.FaultWrites = write;
  thread.FaultContext = context; // it may lie where we continue
  // Continue in faulted(), at the top of the stack, which nobody needs again.
  auto &registers = static_cast<ucontext_t *>(ucontext)->uc_mcontext.gregs;
  uintptr_t top = reinterpret_cast<uintptr_t>(stack.top()) & ~uintptr_t(63);
  registers[REG_RSP] = static_cast<greg_t>(top - 64 - sizeof(void *));
  registers[REG_RIP] = reinterpret_cast<greg_t>(&KernelThread::faulted);
  registers[REG_EFL] &= ~static_cast<greg_t>(1 << 10); // direction flag
  return true;
}

std::unique_ptr<KernelThread> KernelThreadPool::take() {
  std::lock_guard<std::mutex> guard(Lock);
  if (Free.empty())
    return std::make_unique<KernelThread>();
  std::unique_ptr<KernelThread> thread = std::move(Free.back());
  Free.pop_back();
  return thread;
}

void KernelThreadPool::give(std::unique_ptr<KernelThread> thread) {
  std::lock_guard<std::mutex> guard(Lock);
  Free.push_back(std::move(thread));
}

} // namespace dragon
