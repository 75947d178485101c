//===- KernelRun.h - a launch in progress on the host processor -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks of one launch, handed out one by one to the threads that run them,
// and what became of the launch. A kernel that fails (assert, trap, an access
// to nothing, a barrier that cannot complete) stops all its blocks; the first
// failure is the launch's.
//
// KernelThread is what an operating system thread needs to run blocks: a stack
// that kernels run on (so that a failed one can be left in the middle, even
// from a signal), shared memory, and the fibers of a block. They are pooled.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CPU_KERNELS_KERNELRUN_H
#define DRAGON_RUNTIME_DEVICE_CPU_KERNELS_KERNELRUN_H

#include "runtime/device/Device.h"
#include "runtime/device/FaultHandling.h"
#include "runtime/device/Fiber.h"
#include "runtime/device/cpu/memory/AddressMap.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace dragon {

class BlockScheduler;

/// The process's exit status after a kernel touched what was not announced.
constexpr int FootprintViolationStatus = 86;

/// CUDA's codes for kernels that fail.
enum KernelFailure : int {
  KernelIllegalAddress = 700,
  KernelAssert = 710,
  KernelLaunchFailure = 719,
  KernelUnsupported = 801
};

class KernelRun {
public:
  KernelRun(const LaunchRequest &request, const dragon_cpu_kernel &kernel,
            AddressMap &addresses, AddressMap::Opened &opened,
            bool poisonShared);

  const LaunchRequest &request() const { return Request; }
  const dragon_cpu_kernel &kernel() const { return Kernel; }
  const char *name() const { return Request.kernelName; }
  AddressMap &addresses() { return Addresses; }
  AddressMap::Opened &opened() { return Opened; }
  bool poisonShared() const { return PoisonShared; }
  uint64_t blocks() const { return Blocks; }
  uint32_t staticBytes() const;
  /// What the blocks of a cooperative launch share, else null.
  void *grid() { return Request.cooperative ? Grid : nullptr; }

  /// The next block to run; false: none is left, or the launch failed.
  bool nextBlock(uint32_t ctaid[3]);
  /// Stops the launch; the first failure counts.
  void fail(int nativeCode, std::string message);
  /// As fail(), in the words of one thread of the launch.
  void failIn(const dragon_cpu_context &ctx, int nativeCode,
              const std::string &what);
  bool failed() const { return Failed.load(std::memory_order_relaxed); }
  Status result();

private:
  const LaunchRequest &Request;
  const dragon_cpu_kernel &Kernel;
  AddressMap &Addresses;
  AddressMap::Opened &Opened;
  const bool PoisonShared;
  uint64_t Blocks;
  alignas(16) uint32_t Grid[4] = {};
  std::atomic<uint64_t> Next{0};
  std::atomic<bool> Failed{false};
  std::mutex Lock;
  int NativeCode = 0;
  std::string Message;
};

class KernelThread {
public:
  KernelThread();
  ~KernelThread();

  /// Runs blocks of the launch until there are none.
  void work(KernelRun &run);

  /// The one that the calling thread runs a kernel with, or null.
  static KernelThread *current();
  KernelRun &run() { return *Run; }
  /// Ends the running kernel thread and with it all of the launch's blocks on
  /// this operating system thread. KernelRun::fail() was called. The stack is
  /// abandoned: nothing on it is destroyed.
  [[noreturn]] void stop();

  /// For the scheduler: the stack that runs on (null: not a kernel's), and the
  /// fiber that is the operating system thread itself.
  const FiberStack *runningStack = nullptr;
  Fiber *runningFiber = nullptr;
  Fiber native;
  dragon_cpu_context *runningContext = nullptr;
  char *shared = nullptr;
  size_t sharedBytes = 0;
  void initialise(dragon_cpu_context &context, const uint32_t ctaid[3]);
  /// See dragon_cpu_frame().
  void *frame(uint32_t thread, uint64_t bytes);

private:
  bool prepareShared();
  void runWithoutFibers();
  static void blockLoop(void *self);
  static bool onFault(void *self, uintptr_t address, bool write,
                      void *ucontext);
  static void faulted();
  void noteFault();

  KernelRun *Run = nullptr;
  FiberStack Stack;
  Fiber Runner;
  FiberStack SignalStack;
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> Frames; ///< of the threads of a block
  uint64_t FrameBytes = 0;            ///< what Frames has
  std::unique_ptr<BlockScheduler> Scheduler;
  KernelFaultHook Hook;
  uintptr_t FaultAddress = 0;
  bool FaultWrites = false;
  dragon_cpu_context FaultContext{};
  std::optional<std::string> FaultPlace; ///< if that is next to a buffer
};

/// KernelThreads that are not in use.
class KernelThreadPool {
public:
  std::unique_ptr<KernelThread> take();
  void give(std::unique_ptr<KernelThread> thread);

private:
  std::mutex Lock;
  std::vector<std::unique_ptr<KernelThread>> Free;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CPU_KERNELS_KERNELRUN_H
