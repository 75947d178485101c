//===- Module.cpp - kernels and variables of translation units ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/modules/Module.h"

#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/modules/FatBinary.h"
#include "runtime/cudart/modules/ModuleAbi.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

namespace dragon {

ModuleRegistry &modules() {
  static ModuleRegistry *registry = new ModuleRegistry;
  return *registry;
}

int mostThreads(const Kernel &kernel) {
  constexpr int MostOfAny = 1024;
  uint32_t bound =
      kernel.handle.image.cpu->flags >> DRAGON_CPU_MAX_THREADS_SHIFT;
  return bound ? int(bound) : MostOfAny;
}

int dynamicSharedLimit(const Kernel &kernel) {
  int fixed = int(kernel.handle.image.cpu->static_shared_bytes);
  int set = kernel.maxDynamicShared;
  return std::max(set, std::max(0, DefaultSharedBytes - fixed));
}

/// A variable's storage in a module's code for the host processor; null if it
/// has none of that name.
static const dragon_cpu_variable *cpuVariable(const Module &module,
                                              const Variable &variable) {
  const dragon_cpu_module *cpu = module.unit ? module.unit->cpu : nullptr;
  if (cpu && cpu->version == DRAGON_CPU_MODULE_VERSION)
    for (uint64_t i = 0; i < cpu->num_variables; ++i)
      if (variable.name == cpu->variables[i].name)
        return &cpu->variables[i];
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void ModuleRegistry::addUnit(const dragon_module *unit) {
  if (!unit || unit->version != DRAGON_MODULE_VERSION) {
    printErrorOnce(fmt::format(
        "'{}' was compiled for version {} of the runtime's interface, this is "
        "version {}; compile it again",
        unit && unit->source ? unit->source : "?", unit ? unit->version : 0,
        unsigned(DRAGON_MODULE_VERSION)));
    return;
  }
  std::unique_lock<std::shared_mutex> guard(Lock);
  for (Module &module : Modules)
    if (!module.unregistered && module.wrapper == unit->fatbin_wrapper &&
        unit->fatbin_wrapper && !module.unit) {
      module.unit = unit;
      module.initial.remember(*unit);
      openSummary(module);
      return;
    }
  Module &module = Modules.emplace_back();
  module.wrapper = unit->fatbin_wrapper;
  module.unit = unit;
  module.initial.remember(*unit);
  openSummary(module);
}

void ModuleRegistry::openSummary(Module &module) {
  if (!module.unit->summary)
    return;
  std::string error;
  module.hasSummary = SummaryView::open(
      module.unit->summary, module.unit->summary_bytes, module.summary, error);
  if (!module.hasSummary)
    printErrorOnce(fmt::format("the kernel summaries of '{}' are damaged ({}); "
                               "compile it again",
                               module.unit->source ? module.unit->source : "?",
                               error));
}

Module *ModuleRegistry::addFatBinary(const void *wrapper) {
  std::unique_lock<std::shared_mutex> guard(Lock);
  for (Module &module : Modules)
    if (!module.unregistered && module.wrapper == wrapper &&
        module.kernels.empty() && module.variables.empty())
      return &module;
  Module &module = Modules.emplace_back();
  module.wrapper = wrapper;
  return &module;
}

void ModuleRegistry::addKernel(Module *module, const void *stub,
                               const char *name, int threadLimit) {
  std::unique_lock<std::shared_mutex> guard(Lock);
  // Device code that was linked from several units has one of what templates
  // and inline variables made in each of them.
  if (auto known = Kernels.find(stub);
      known != Kernels.end() && known->second->module == module)
    return;
  Kernel &kernel = module->kernels.emplace_back();
  kernel.module = module;
  kernel.stub = stub;
  kernel.name = name;
  kernel.threadLimit = threadLimit;
  Kernels[stub] = &kernel;
  ++Changes;
}

void ModuleRegistry::addVariable(Module *module, const void *shadow,
                                 const char *name, size_t bytes, bool constant,
                                 bool external, void **managed) {
  std::unique_lock<std::shared_mutex> guard(Lock);
  if (auto known = Variables.find(shadow);
      known != Variables.end() && known->second->module == module)
    return;
  Variable &variable = module->variables.emplace_back();
  variable.module = module;
  variable.shadow = shadow;
  variable.name = name;
  variable.bytes = bytes;
  variable.constant = constant;
  variable.external = external;
  variable.managed = managed;
  Variables[shadow] = &variable;
}

void ModuleRegistry::remove(Module *module) {
  std::unique_lock<std::shared_mutex> guard(Lock);
  module->unregistered = true;
  auto dropFrom = [&](auto &table) {
    for (auto it = table.begin(); it != table.end();)
      it = it->second->module == module ? table.erase(it) : std::next(it);
  };
  dropFrom(Kernels);
  dropFrom(Handles);
  dropFrom(Variables);
  ++Changes;
  takeFromNvidia(*module);
}

void ModuleRegistry::takeFromNvidia(Module &module) {
  if (!module.nvidiaHandle)
    return;
  if (auto unregister = reinterpret_cast<decltype(&__cudaUnregisterFatBinary)>(
          nvidiaFunction("__cudaUnregisterFatBinary")))
    unregister(module.nvidiaHandle);
  module.nvidiaHandle = nullptr;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Kernel *ModuleRegistry::find(const void *stubOrHandle) {
  // Loops launch one kernel many times.
  struct Found {
    const void *key = nullptr;
    Kernel *kernel = nullptr;
    uint64_t changes = 0;
  };
  thread_local Found last;
  const uint64_t changes = Changes.load(std::memory_order_acquire);
  if (last.key == stubOrHandle && last.changes == changes)
    return last.kernel;
  std::shared_lock<std::shared_mutex> guard(Lock);
  auto it = Kernels.find(stubOrHandle);
  if (it == Kernels.end()) {
    it = Handles.find(stubOrHandle);
    if (it == Handles.end())
      return nullptr;
  }
  last = {stubOrHandle, it->second, changes};
  return it->second;
}

Result ModuleRegistry::prepare(Front &front, Kernel &kernel) {
  if (kernel.prepared.load(std::memory_order_acquire))
    return cudaSuccess;
  std::lock_guard<std::mutex> guard(Preparing);
  if (kernel.prepared.load(std::memory_order_relaxed))
    return cudaSuccess;
  lookUpSummary(kernel);
  kernel.handle.image.name = kernel.name.c_str();
  DRAGON_CHECK(front.gpu ? prepareGpu(kernel) : prepareCpu(kernel));
  kernel.info.handle = kernel.handle;
  kernel.prepared.store(true, std::memory_order_release);
  return cudaSuccess;
}

void ModuleRegistry::lookUpSummary(Kernel &kernel) {
  if (!kernel.module->hasSummary)
    return;
  kernel.info.record = kernel.module->summary.findKernel(kernel.name.c_str());
  if (kernel.info.record)
    kernel.info.summary = &kernel.module->summary;
}

const dragon_cpu_kernel *
ModuleRegistry::findOnCpu(const Module &own, const std::string &name) const {
  auto search = [&](const Module &module) -> const dragon_cpu_kernel * {
    const dragon_cpu_module *cpu = module.unit ? module.unit->cpu : nullptr;
    if (cpu && cpu->version == DRAGON_CPU_MODULE_VERSION)
      for (uint32_t i = 0; i < cpu->num_kernels; ++i)
        if (name == cpu->kernels[i].name) {
          if (cpu->processor && !dragon_cpu_runs_on(cpu->processor))
            printErrorOnce(fmt::format(
                "kernel '{}' was compiled for {} processors, and this is none",
                name, cpu->processor));
          else
            return &cpu->kernels[i];
        }
    return nullptr;
  };
  const dragon_cpu_kernel *found = search(own);
  // Device code linked from several units (-rdc) may have the kernel elsewhere.
  if (!found && (!own.unit || !own.unit->cpu))
    for (const Module &module : Modules)
      if (!found && !module.unregistered)
        found = search(module);
  return found;
}

Result ModuleRegistry::prepareCpu(Kernel &kernel) {
  std::shared_lock<std::shared_mutex> guard(Lock);
  const dragon_cpu_kernel *found = findOnCpu(*kernel.module, kernel.name);
  kernel.handle.image.cpu = found;
  if (const char *name = countingNameOf(kernel); found && name)
    if (const dragon_cpu_kernel *counting = findOnCpu(*kernel.module, name))
      kernel.info.counting =
          KernelHandle{{kernel.name.c_str(), counting, nullptr, nullptr}};
  if (found)
    return cudaSuccess;
  printErrorOnce(fmt::format(
      "kernel '{}' has no code for the host processor; compile '{}' with "
      "--dragon-targets=cuda,cpu, or run on a machine with a GPU",
      kernel.name,
      kernel.module->unit && kernel.module->unit->source
          ? kernel.module->unit->source
          : "its source file"));
  return cudaErrorNoKernelImageForDevice;
}

const char *ModuleRegistry::countingNameOf(const Kernel &kernel) {
  const KernelRecord *record = kernel.info.record;
  return record && record->CountingName
             ? kernel.info.summary->string(record->CountingName)
             : nullptr;
}

static cudaError_t getFunction(cudaFunction_t *function, const void *stub) {
  using GetFunction = cudaError_t (*)(cudaFunction_t *, const void *);
  return nvidia<GetFunction>("cudaGetFuncBySymbol", function, stub);
}

Result ModuleRegistry::prepareGpu(Kernel &kernel) {
  DRAGON_CHECK(giveToNvidia(*kernel.module));
  cudaFunction_t function = nullptr;
  DRAGON_CHECK(getFunction(&function, kernel.stub));
  kernel.handle.image.function = function;
  if (kernel.info.record && kernel.info.record->SliceName) {
    // A clone that is not in the fat binary only costs the ability to slice.
    cudaFunction_t slice = nullptr;
    if (getFunction(&slice, &kernel.sliceKey) == cudaSuccess)
      kernel.handle.image.sliceFunction = slice;
  }
  if (countingNameOf(kernel)) {
    cudaFunction_t counting = nullptr;
    if (getFunction(&counting, &kernel.countingKey) == cudaSuccess)
      kernel.info.counting =
          KernelHandle{{kernel.name.c_str(), nullptr, counting, nullptr}};
  }
  if (!kernel.restrictName.empty())
    prepareRestricted(kernel);
  return cudaSuccess;
}

/// A copy that is not in the fat binary costs speed only.
void ModuleRegistry::prepareRestricted(Kernel &kernel) {
  using GetAttributes = cudaError_t (*)(cudaFuncAttributes *, const void *);
  const void *key = &kernel.restrictKey;
  cudaFunction_t function = nullptr;
  cudaFuncAttributes attributes{};
  if (getFunction(&function, key) != cudaSuccess ||
      nvidia<GetAttributes>("cudaFuncGetAttributes", &attributes, key) !=
          cudaSuccess)
    return;
  kernel.info.mostThreadsRestricted = uint32_t(attributes.maxThreadsPerBlock);
  kernel.info.restricted =
      KernelHandle{{kernel.name.c_str(), nullptr, function, nullptr}};
}

Result ModuleRegistry::giveToNvidia(Module &module) {
  auto registerBinary = reinterpret_cast<decltype(&__cudaRegisterFatBinary)>(
      nvidiaFunction("__cudaRegisterFatBinary"));
  auto registerEnd = reinterpret_cast<decltype(&__cudaRegisterFatBinaryEnd)>(
      nvidiaFunction("__cudaRegisterFatBinaryEnd"));
  auto registerFunction = reinterpret_cast<decltype(&__cudaRegisterFunction)>(
      nvidiaFunction("__cudaRegisterFunction"));
  auto registerVariable = reinterpret_cast<decltype(&__cudaRegisterVar)>(
      nvidiaFunction("__cudaRegisterVar"));
  auto registerManaged = reinterpret_cast<decltype(&__cudaRegisterManagedVar)>(
      nvidiaFunction("__cudaRegisterManagedVar"));
  if (!registerBinary || !registerEnd || !registerFunction ||
      !registerVariable || !registerManaged)
    return cudaErrorSharedObjectInitFailed;
  std::unique_lock<std::shared_mutex> guard(Lock);
  if (!module.wrapper || module.unregistered || module.nvidiaHandle)
    return cudaSuccess;
  module.nvidiaHandle = registerBinary(const_cast<void *>(module.wrapper));
  for (Kernel &kernel : module.kernels) {
    auto add = [&](const void *key, const char *name) {
      registerFunction(module.nvidiaHandle, static_cast<const char *>(key),
                       const_cast<char *>(name), name, kernel.threadLimit,
                       nullptr, nullptr, nullptr, nullptr, nullptr);
    };
    add(kernel.stub, kernel.name.c_str());
    if (module.hasSummary)
      if (const KernelRecord *record =
              module.summary.findKernel(kernel.name.c_str())) {
        if (record->SliceName)
          add(&kernel.sliceKey, module.summary.string(record->SliceName));
        if (record->CountingName)
          add(&kernel.countingKey, module.summary.string(record->CountingName));
        if (record->Flags & KernelHasRestrictCopy) {
          kernel.restrictName = RestrictPrefix + kernel.name;
          add(&kernel.restrictKey, kernel.restrictName.c_str());
        }
      }
  }
  for (Variable &variable : module.variables) {
    auto *shadow =
        const_cast<char *>(static_cast<const char *>(variable.shadow));
    auto *name = const_cast<char *>(variable.name.c_str());
    if (variable.managed)
      registerManaged(module.nvidiaHandle, variable.managed, name, name,
                      variable.external, variable.bytes, variable.constant, 0);
    else
      registerVariable(module.nvidiaHandle, shadow, name, name,
                       variable.external, variable.bytes, variable.constant, 0);
  }
  registerEnd(module.nvidiaHandle);
  return cudaSuccess;
}

Result ModuleRegistry::initialise(Front &front) {
  if (front.gpu) {
    std::vector<Module *> unknown, waiting;
    {
      std::shared_lock<std::shared_mutex> guard(Lock);
      for (Module &module : Modules) {
        if (!module.wrapper || module.unregistered)
          continue;
        if (!module.nvidiaHandle)
          unknown.push_back(&module);
        for (const Variable &variable : module.variables)
          if (variable.managed && !*variable.managed) {
            waiting.push_back(&module);
            break;
          }
      }
    }
    for (Module *module : unknown)
      DRAGON_CHECK(giveToNvidia(*module));
    // The host may use managed variables before any kernel runs.
    for (Module *module : waiting)
      if (auto load = reinterpret_cast<decltype(&__cudaInitModule)>(
              nvidiaFunction("__cudaInitModule")))
        load(module->nvidiaHandle);
    return cudaSuccess;
  }
  std::unique_lock<std::shared_mutex> guard(Lock);
  for (Module &module : Modules)
    for (Variable &variable : module.variables)
      if (variable.managed && !*variable.managed) {
        // The host uses what the kernels use.
        if (const dragon_cpu_variable *found = cpuVariable(module, variable)) {
          *variable.managed = found->address;
          continue;
        }
        auto memory = front.runtime.buffers().allocate(
            variable.bytes, AllocateOptions{0, true, nullptr});
        if (!memory.ok())
          return memory.takeStatus();
        *variable.managed = reinterpret_cast<void *>(*memory);
      }
  return cudaSuccess;
}

Result ModuleRegistry::handleOf(Front &front, Kernel &kernel, void *&handle) {
  if (front.gpu) {
    DRAGON_CHECK(giveToNvidia(*kernel.module));
    using GetKernel = cudaError_t (*)(cudaKernel_t *, const void *);
    cudaKernel_t theirs = nullptr;
    DRAGON_CHECK(nvidia<GetKernel>("cudaGetKernel", &theirs, kernel.stub));
    handle = theirs;
  } else {
    handle = &kernel;
  }
  std::unique_lock<std::shared_mutex> guard(Lock);
  Handles[handle] = &kernel;
  ++Changes;
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

Variable *ModuleRegistry::findVariable(const void *shadow) {
  std::shared_lock<std::shared_mutex> guard(Lock);
  if (auto it = Variables.find(shadow); it != Variables.end())
    return it->second;
  // The program knows the address of a managed variable itself.
  for (const auto &[key, variable] : Variables)
    if (variable->managed && *variable->managed == shadow)
      return variable;
  return nullptr;
}

Result ModuleRegistry::addressOf(Front &front, Variable &variable,
                                 void *&address) {
  if (variable.managed) {
    DRAGON_CHECK(initialise(front));
    address = *variable.managed;
    return cudaSuccess;
  }
  if (front.gpu) {
    DRAGON_CHECK(giveToNvidia(*variable.module));
    using GetAddress = cudaError_t (*)(void **, const void *);
    return nvidia<GetAddress>("cudaGetSymbolAddress", &address,
                              static_cast<const void *>(variable.shadow));
  }
  std::shared_lock<std::shared_mutex> guard(Lock);
  const dragon_cpu_variable *found = cpuVariable(*variable.module, variable);
  for (const Module &module : Modules)
    if (!found && !module.unregistered &&
        (variable.external || !variable.module->unit))
      found = cpuVariable(module, variable);
  if (!found)
    return cudaErrorInvalidSymbol;
  address = found->address;
  return cudaSuccess;
}

bool ModuleRegistry::registeredFrom(const void *base) {
  std::shared_lock<std::shared_mutex> guard(Lock);
  for (const Module &module : Modules) {
    const void *data =
        module.unit ? static_cast<const void *>(module.unit) : module.wrapper;
    Dl_info where;
    if (data && !module.unregistered && ::dladdr(data, &where) &&
        where.dli_fbase == base)
      return true;
  }
  return false;
}

bool ModuleRegistry::ownsVariableAt(uintptr_t address) {
  std::shared_lock<std::shared_mutex> guard(Lock);
  for (const Module &module : Modules) {
    const dragon_cpu_module *cpu = module.unit ? module.unit->cpu : nullptr;
    if (module.unregistered || !cpu ||
        cpu->version != DRAGON_CPU_MODULE_VERSION)
      continue;
    for (uint64_t i = 0; i < cpu->num_variables; ++i) {
      auto begin = reinterpret_cast<uintptr_t>(cpu->variables[i].address);
      if (address - begin < cpu->variables[i].bytes)
        return true;
    }
  }
  return false;
}

unsigned ModuleRegistry::architecture() {
  std::shared_lock<std::shared_mutex> guard(Lock);
  unsigned newest = 0;
  for (const Module &module : Modules)
    if (module.wrapper && !module.unregistered)
      newest = std::max(newest, newestArchitectureOf(module.wrapper));
  return newest;
}

} // namespace dragon
