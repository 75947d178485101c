//===- Module.h - kernels and variables of translation units ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Static constructors of a program register its fat binaries, kernels and
// device variables; here they are only written down. The first launch of a
// kernel prepares it: on the cpu device its entry is looked up by name in the
// module's table of lowered kernels; on a GPU the fat binary is given to
// NVIDIA's libcudart, with every name that was registered and with the slice
// clones (which the host code knows nothing of) under keys of our own, and the
// driver's functions are asked for by key.
//
// A kernel's key is the address of its host stub. Kernels and modules are never
// freed: launches in flight and handles that programs keep point at them.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MODULES_MODULE_H
#define DRAGON_RUNTIME_CUDART_MODULES_MODULE_H

#include "dragon/CompilerABI.h"
#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/modules/InitialValues.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace dragon {

struct Module;

struct Kernel {
  Module *module = nullptr;
  const void *stub = nullptr;
  std::string name; ///< device symbol
  int threadLimit = -1;

  std::atomic<bool> prepared{false};
  std::atomic<bool> copiesFound{false}; ///< those of info.findCopies
  KernelHandle handle{};
  KernelInfo info{};
  std::atomic<int> maxDynamicShared{-1}; ///< cudaFuncSetAttribute; -1 = not set
  std::atomic<int> carveout{-1};
  char sliceKey = 0;      ///< its address is the slice clone's stub
  char countingKey = 0;   ///< and that of the copy that counts
  char pagedKey = 0;      ///< and that of the copy that fetches pages
  char pagedSliceKey = 0; ///< and of its slice clone
  char writeBackKey = 0;  ///< and of what runs behind it
  char recycleKey = 0;
  char aheadKey = 0;
  char loopKey = 0;      ///< and that of the copy that runs part of a loop
  char pagedLoopKey = 0; ///< and of that which fetches pages
  std::string pagedName, pagedSliceName; ///< their symbols on a GPU
  std::string loopName, pagedLoopName;   ///< the same of loops
  char restrictKey = 0;     ///< and that of the copy for distinct buffers
  std::string restrictName; ///< the latter's symbol; empty: there is none
};

struct Variable {
  Module *module = nullptr;
  const void *shadow = nullptr; ///< host shadow, the program's symbol
  std::string name;
  size_t bytes = 0;
  bool constant = false;
  bool external = false;
  void **managed = nullptr; ///< managed variables: the host's pointer to it
};

/// Shared memory of a block: what it can have at all, and without
/// cudaFuncSetAttribute. Static and dynamic together.
constexpr int MostSharedBytes = 227 << 10;
constexpr int DefaultSharedBytes = 48 << 10;
/// What a launch of a prepared kernel may ask for on the cpu device.
int dynamicSharedLimit(const Kernel &kernel);
/// The most threads of a block of it there.
int mostThreads(const Kernel &kernel);

/// One registered fat binary, or (wrapper null) a unit that has none.
struct Module {
  const void *wrapper = nullptr;
  const dragon_module *unit = nullptr; ///< null: not compiled by dragon-cc
  SummaryView summary;
  bool hasSummary = false;
  std::deque<Kernel> kernels;
  std::deque<Variable> variables;
  InitialValues initial;         ///< on the host processor
  void **nvidiaHandle = nullptr; ///< once given to libcudart
  bool registered = false;       ///< the program named its kernels
  bool unregistered = false;
};

class ModuleRegistry {
public:
  // -- Registration; records only.
  void addUnit(const dragon_module *unit);
  Module *addFatBinary(const void *wrapper);
  void addKernel(Module *module, const void *stub, const char *name,
                 int threadLimit);
  void addVariable(Module *module, const void *shadow, const char *name,
                   size_t bytes, bool constant, bool external, void **managed);
  void remove(Module *module);

  // -- Use
  /// By stub, or by a handle that cudaGetKernel returned. Null if unknown.
  Kernel *find(const void *stubOrHandle);
  /// Makes the kernel launchable: `kernel.info` is valid afterwards.
  Result prepare(Front &front, Kernel &kernel);
  /// The copies for launches out of core, of a prepared kernel on a GPU.
  static void findCopies(Kernel &kernel);
  /// A cudaKernel_t for the kernel.
  Result handleOf(Front &front, Kernel &kernel, void *&handle);
  Variable *findVariable(const void *shadow);
  Result addressOf(Front &front, Variable &variable, void *&address);
  /// True if a unit in the shared object that is loaded at `base` has
  /// registered itself.
  bool registeredFrom(const void *base);
  /// The variable of the cpu device that lies there.
  struct CpuVariable {
    uintptr_t end;
    bool managed;
  };
  std::optional<CpuVariable> cpuVariableAt(uintptr_t address);
  /// All the bytes are one managed variable's of the cpu device.
  bool isManagedOnCpu(uintptr_t address, size_t bytes);
  /// Managed variables have their address in the host's pointer, on a GPU
  /// everything that was registered is known to libcudart.
  Result initialise(Front &front);
  /// The code of a program's kernels is loaded, if there are few: it launches
  /// most of them. Each takes a driver some 100 us, which would be part of what
  /// the program times. What fails is told at the launch.
  void prepareFew(Front &front);
  /// All variables begin anew; nothing runs.
  Result restoreVariables(Front &front);
  /// Data may say what some kernel touches (launch/IndexArrays.h).
  bool goByData() const { return ByData; }
  /// The newest architecture that the fat binaries hold, or that code for the
  /// host processor stands for, as 90; 0 if none says.
  unsigned architecture();

private:
  Module *moduleOf(const dragon_module *unit);
  void openSummary(Module &module);
  Result giveToNvidia(Module &module);
  /// All that was registered.
  Result initialiseNvidia();
  /// NVIDIA's libcudart forgets the module.
  void takeFromNvidia(Module &module);
  Result prepareCpu(Kernel &kernel);
  Result prepareGpu(Kernel &kernel);
  static void prepareRestricted(Kernel &kernel);
  /// In its own module, else where it has none in any. With the lock held.
  const dragon_cpu_kernel *findOnCpu(const Module &own,
                                     const std::string &name) const;
  /// Of the copy that counts, or null.
  static const char *countingNameOf(const Kernel &kernel);
  static const char *loopNameOf(const Kernel &kernel);
  static std::string pagedNameOf(const Kernel &kernel);
  void lookUpSummary(Kernel &kernel);

  std::atomic<bool> ByData{false};
  std::shared_mutex Lock;
  /// Grows with each change of what find() answers.
  std::atomic<uint64_t> Changes{1};
  std::mutex Preparing;
  std::deque<Module> Modules;
  std::unordered_map<const void *, Kernel *> Kernels;
  std::unordered_map<const void *, Kernel *> Handles;
  std::unordered_map<const void *, Variable *> Variables;
};

/// The process's registry; safe to use from static constructors.
ModuleRegistry &modules();

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_MODULES_MODULE_H
