//===- Machine.cpp - finds out what there is ------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-info/Machine.h"

#include "runtime/device/cuda/CudaDevice.h"

#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <thread>

namespace dragon::info {

namespace {

std::string firstLineOf(const char *Path) {
  std::ifstream File(Path);
  std::string Line;
  std::getline(File, Line);
  return Line;
}

/// A driver may have the calls and a kernel module that does not: it is asked.
Status tryDiscard(const CudaDriver &Cuda) {
  constexpr size_t Bytes = size_t(2) << 20;
  CUdeviceptr Scratch = 0;
  DRAGON_TRY(
      Cuda.check(Cuda.MemAllocManaged(&Scratch, Bytes, CU_MEM_ATTACH_GLOBAL),
                 "cuMemAllocManaged"));
  CUstream Stream = nullptr;
  Status Result = Cuda.check(
      Cuda.StreamCreateWithPriority(&Stream, CU_STREAM_NON_BLOCKING, 0),
      "cuStreamCreateWithPriority");
  if (Result.ok()) {
    size_t Size = Bytes;
    Result =
        Cuda.check(Cuda.MemDiscardBatchAsync(&Scratch, &Size, 1, 0, Stream),
                   "cuMemDiscardBatchAsync");
    if (Result.ok())
      Result =
          Cuda.check(Cuda.StreamSynchronize(Stream), "cuMemDiscardBatchAsync");
    Cuda.StreamDestroy(Stream);
  }
  Cuda.MemFree(Scratch);
  return Result;
}

std::string findDiscard(const CudaDriver &Cuda, const std::vector<Gpu> &Gpus) {
  if (!Cuda.MemDiscardBatchAsync || !Cuda.MemDiscardAndPrefetchBatchAsync)
    return "the driver has none; CUDA 13.0 (580.65.06) and later have";
  for (const Gpu &Each : Gpus)
    if (!Each.ManagedPages)
      return fmt::format("{} does not page managed memory on faults",
                         Each.Name);
  auto Context = CudaContext::retain(Cuda);
  if (!Context.ok())
    return Context.takeStatus().message();
  Status Tried;
  {
    CudaContextScope Scope(Cuda, Context->context);
    Tried = tryDiscard(Cuda);
  }
  Cuda.DevicePrimaryCtxRelease(Context->device);
  return Tried.ok() ? "yes" : Tried.message();
}

} // namespace

Driver findDriver() {
  Driver Found;
  for (const char *Path :
       {"/sys/module/nvidia_uvm/version", "/sys/module/nvidia/version"})
    if (Found.Module.empty())
      Found.Module = firstLineOf(Path);
  auto Loaded = CudaDriver::load();
  if (!Loaded.ok()) {
    Found.Missing = Loaded.takeStatus().message();
    return Found;
  }
  const CudaDriver &Cuda = **Loaded;
  Found.Cuda = Cuda.version();
  int Count = 0;
  Cuda.DeviceGetCount(&Count);
  for (int Ordinal = 0; Ordinal < Count; ++Ordinal) {
    CUdevice Device = 0;
    char Name[256] = "?";
    if (Cuda.DeviceGet(&Device, Ordinal) != CUDA_SUCCESS)
      continue;
    Cuda.DeviceGetName(Name, sizeof Name, Device);
    auto Value = [&](CUdevice_attribute Which) {
      int Result = 0;
      return Cuda.DeviceGetAttribute(&Result, Which, Device) == CUDA_SUCCESS
                 ? Result
                 : 0;
    };
    Found.Gpus.push_back(
        {Name,
         {Value(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
          Value(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)},
         Value(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 0,
         Value(
             CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) !=
             0,
         Value(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) != 0,
         Value(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) != 0,
         Value(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0,
         Value(
             CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES) !=
             0});
  }
  Found.Discard =
      Found.Gpus.empty() ? "there is no GPU" : findDiscard(Cuda, Found.Gpus);
  return Found;
}

Host findHost() {
  Host Found{std::thread::hardware_concurrency(), 0, 0, std::nullopt};
  std::ifstream File("/proc/meminfo");
  for (std::string Line; std::getline(File, Line);) {
    std::istringstream Words(Line);
    std::string Key;
    uint64_t Kibibytes = 0;
    Words >> Key >> Kibibytes;
    if (Key == "MemTotal:")
      Found.Memory = Kibibytes << 10;
    else if (Key == "MemAvailable:")
      Found.Available = Kibibytes << 10;
  }
  rlimit Limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &Limit) == 0 &&
      Limit.rlim_cur != RLIM_INFINITY)
    Found.LockLimit = Limit.rlim_cur;
  return Found;
}

std::vector<Peer> findPeers(Device &Dev, uint64_t Bytes) {
  std::vector<Peer> Result;
  for (unsigned I = 0; I < Dev.caps().peers.size(); ++I) {
    Peer Found{Dev.caps().peers[I].name, std::nullopt, {}, ""};
    if (auto Memory = Dev.peerMemory(I); Memory.ok())
      Found.Room = *Memory;
    else
      Found.Error = Memory.takeStatus().message();
    if (Bytes)
      Found.Link = measureLink(Dev, Bytes, I);
    else
      Found.Link.WhyNot = "--no-rates";
    Result.push_back(std::move(Found));
  }
  return Result;
}

Choice chooseBackEnd(const Settings &Set) {
  Choice Result;
  std::string Notes;
  auto Made = createDevice(Set, Notes);
  if (Made.ok())
    Result.Taken = std::move(*Made);
  else
    Result.Error = Made.takeStatus().message();
  // One line for each that was tried: "back end 'vmm' is not available: why".
  const char *Taken = Result.Taken ? Result.Taken->caps().name : "";
  for (const DeviceRegistration &Known : deviceRegistrations()) {
    const std::string Name = Known.name;
    if (Name == Taken || Name == Set.backend)
      continue;
    std::string Note;
    std::istringstream Lines(Notes);
    const std::string Begin = "back end '" + Name + "' is ";
    for (std::string Line; std::getline(Lines, Line);)
      if (Line.compare(0, Begin.size(), Begin) == 0)
        Note = Line.substr(Begin.size());
    if (Note.empty())
      Note = !Set.backend.empty() ? "not tried: DRAGON_BACKEND=" + Set.backend
             : Known.byDefault ? "not tried: the one that is taken comes first"
                               : "not tried: only with DRAGON_BACKEND=" + Name;
    Result.Others.push_back({Name, Note});
  }
  return Result;
}

} // namespace dragon::info
