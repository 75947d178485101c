//===- Module.cpp - kernels and variables of translation units ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/modules/Module.h"

#include "dragon/Paging.h"
#include "runtime/base/SymbolNames.h"
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
  else if (module.summary.anyDependsOnMemory())
    ByData = true;
}

Module *ModuleRegistry::addFatBinary(const void *wrapper) {
  std::unique_lock<std::shared_mutex> guard(Lock);
  for (Module &module : Modules)
    if (!module.unregistered && module.wrapper == wrapper &&
        module.kernels.empty() && module.variables.empty()) {
      module.registered = true;
      return &module;
    }
  Module &module = Modules.emplace_back();
  module.wrapper = wrapper;
  module.registered = true;
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
  kernel.info.name = shortName(kernel.name);
  kernel.prepared.store(true, std::memory_order_release);
  return cudaSuccess;
}

void ModuleRegistry::prepareFew(Front &front) {
  constexpr size_t Few = 16;
  std::vector<Kernel *> kernels;
  {
    std::shared_lock<std::shared_mutex> guard(Lock);
    for (Module &module : Modules)
      if (module.registered && !module.unregistered)
        for (Kernel &kernel : module.kernels) {
          if (kernels.size() == Few)
            return;
          kernels.push_back(&kernel);
        }
  }
  for (Kernel *kernel : kernels)
    (void)prepare(front, *kernel);
}

void ModuleRegistry::lookUpSummary(Kernel &kernel) {
  if (!kernel.module->hasSummary)
    return;
  kernel.info.record = kernel.module->summary.findKernel(kernel.name.c_str());
  if (!kernel.info.record)
    return;
  kernel.info.summary = &kernel.module->summary;
  kernel.info.footprints = std::make_shared<FootprintCache>(
      *kernel.info.summary, *kernel.info.record);
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
          KernelHandle{{kernel.name.c_str(), counting, {}, {}}};
  if (const std::string name = pagedNameOf(kernel); found && !name.empty()) {
    auto handle = [&](const char *symbol) {
      return KernelHandle{
          {kernel.name.c_str(), findOnCpu(*kernel.module, symbol), {}, {}}};
    };
    const PagedKernel paged{
        handle(name.c_str()), handle(DRAGON_PAGE_WRITE_BACK),
        handle(DRAGON_PAGE_RECYCLE), handle(DRAGON_PAGES_AHEAD)};
    if (paged.copy.image.cpu && paged.writeBack.image.cpu &&
        paged.recycle.image.cpu && paged.ahead.image.cpu)
      kernel.info.paged = paged;
  }
  if (const char *name = loopNameOf(kernel); found && name)
    if (const dragon_cpu_kernel *looped = findOnCpu(*kernel.module, name)) {
      kernel.info.looped = KernelHandle{{kernel.name.c_str(), looped, {}, {}}};
      const std::string pagedName = std::string(DRAGON_PAGED_PREFIX) + name;
      if (const dragon_cpu_kernel *paged =
              findOnCpu(*kernel.module, pagedName.c_str());
          paged && kernel.info.paged)
        kernel.info.pagedLoop =
            KernelHandle{{kernel.name.c_str(), paged, {}, {}}};
    }
  if (found)
    return cudaSuccess;
  printErrorOnce(fmt::format(
      "kernel '{}' has no code for the host processor; compile {} with "
      "--dragon-targets=cuda,cpu, or run on a machine with a GPU",
      kernel.name,
      kernel.module->unit && kernel.module->unit->source
          ? fmt::format("'{}'", kernel.module->unit->source)
          : "its source file"));
  return cudaErrorNoKernelImageForDevice;
}

const char *ModuleRegistry::countingNameOf(const Kernel &kernel) {
  const KernelRecord *record = kernel.info.record;
  return record && record->CountingName
             ? kernel.info.summary->string(record->CountingName)
             : nullptr;
}

/// Of the copy that fetches pages, or empty.
std::string ModuleRegistry::pagedNameOf(const Kernel &kernel) {
  const KernelRecord *record = kernel.info.record;
  return record && (record->Flags & KernelHasPagedCopy)
             ? DRAGON_PAGED_PREFIX + kernel.name
             : std::string();
}

const char *ModuleRegistry::loopNameOf(const Kernel &kernel) {
  const KernelRecord *record = kernel.info.record;
  return record && record->LoopName
             ? kernel.info.summary->string(record->LoopName)
             : nullptr;
}

Result ModuleRegistry::initialise(Front &front) {
  if (front.gpu)
    return initialiseNvidia();
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

std::optional<ModuleRegistry::CpuVariable>
ModuleRegistry::cpuVariableAt(uintptr_t address) {
  std::shared_lock<std::shared_mutex> guard(Lock);
  for (const Module &module : Modules) {
    const dragon_cpu_module *cpu = module.unit ? module.unit->cpu : nullptr;
    if (module.unregistered || !cpu ||
        cpu->version != DRAGON_CPU_MODULE_VERSION)
      continue;
    for (uint64_t i = 0; i < cpu->num_variables; ++i) {
      const dragon_cpu_variable &found = cpu->variables[i];
      auto begin = reinterpret_cast<uintptr_t>(found.address);
      if (address - begin < found.bytes)
        return CpuVariable{
            begin + found.bytes,
            std::ranges::any_of(module.variables, [&](const Variable &one) {
              return one.managed && *one.managed == found.address;
            })};
    }
  }
  return std::nullopt;
}

bool ModuleRegistry::isManagedOnCpu(uintptr_t address, size_t bytes) {
  const std::optional<CpuVariable> variable = cpuVariableAt(address);
  return variable && variable->managed && bytes &&
         bytes <= variable->end - address;
}

unsigned ModuleRegistry::architecture() {
  std::shared_lock<std::shared_mutex> guard(Lock);
  unsigned newest = 0;
  for (const Module &module : Modules) {
    if (module.unregistered)
      continue;
    if (module.wrapper)
      newest = std::max(newest, newestArchitectureOf(module.wrapper));
    const dragon_cpu_module *cpu = module.unit ? module.unit->cpu : nullptr;
    if (cpu && cpu->version == DRAGON_CPU_MODULE_VERSION)
      newest = std::max(newest, unsigned(cpu->architecture));
  }
  return newest;
}

} // namespace dragon
