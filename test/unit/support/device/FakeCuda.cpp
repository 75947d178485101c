//===- FakeCuda.cpp - a CUDA driver for machines without a GPU ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/device/FakeCuda.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dragon::test {

FakeCuda *FakeCuda::instance = nullptr;

namespace {

constexpr size_t MiB = 1 << 20;

FakeCuda &fake() { return *FakeCuda::instance; }

std::string sizeText(uint64_t bytes) {
  return bytes % MiB ? fmt::format("{}", bytes)
                     : fmt::format("{}M", bytes / MiB);
}

/// A range of a batch: "m0+2M 4M".
std::string rangeText(CUdeviceptr begin, size_t bytes) {
  return fake().nameOf(begin) + " " + sizeText(bytes);
}

std::string rangesText(CUdeviceptr *begins, size_t *sizes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + rangeText(begins[i], sizes[i]);
  return text;
}

std::string locationText(const CUmemLocation &location) {
  switch (location.type) {
  case CU_MEM_LOCATION_TYPE_DEVICE:
    return fmt::format("device {}", location.id);
  case CU_MEM_LOCATION_TYPE_HOST:
    return "host";
  default:
    return fmt::format("type {}", int(location.type));
  }
}

std::string deviceText(CUdevice device) {
  return device == CU_DEVICE_CPU ? "host" : fmt::format("device {}", device);
}

/// What the documentation of the batch calls asks.
CUresult checkBatch(CUdeviceptr *begins, size_t *sizes, size_t count,
                    unsigned long long flags, CUstream stream) {
  if (!begins || !sizes || !count || flags || !stream ||
      stream == CU_STREAM_LEGACY)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<std::pair<CUdeviceptr, CUdeviceptr>> ranges;
  for (size_t i = 0; i < count; ++i) {
    auto in = fake().managed.upper_bound(begins[i]);
    if (in == fake().managed.begin() || begins[i] % 4096 || sizes[i] % 4096 ||
        !sizes[i])
      return CUDA_ERROR_INVALID_VALUE;
    --in;
    if (begins[i] + sizes[i] > in->first + in->second.bytes)
      return CUDA_ERROR_INVALID_VALUE;
    ranges.emplace_back(begins[i], begins[i] + sizes[i]);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

void makeIndeterminate(CUdeviceptr *begins, size_t *sizes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    std::memset(reinterpret_cast<void *>(begins[i]), FakeCuda::Indeterminate,
                sizes[i]);
}

// -- The functions -----------------------------------------------------------

using Guard = std::lock_guard<std::recursive_mutex>;
#define FAKE_NOTE(FUNCTION, ...)                                               \
  Guard guard(fake().lock);                                                    \
  if (CUresult noted = fake().note(FUNCTION, fmt::format(__VA_ARGS__)))        \
  return noted

struct Api {
  static CUresult Init(unsigned) {
    FAKE_NOTE("cuInit", " ");
    return CUDA_SUCCESS;
  }
  static CUresult DriverGetVersion(int *version) {
    *version = fake().version;
    return CUDA_SUCCESS;
  }
  static CUresult GetErrorName(CUresult error, const char **name) {
    static thread_local std::string text;
    text = fmt::format("CUDA_ERROR_{}", int(error));
    *name = text.c_str();
    return CUDA_SUCCESS;
  }
  static CUresult GetErrorString(CUresult, const char **text) {
    *text = "failure of the test";
    return CUDA_SUCCESS;
  }
  static CUresult DeviceGetCount(int *count) {
    *count = int(1 + fake().others.size());
    return CUDA_SUCCESS;
  }
  static CUresult DeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return CUDA_SUCCESS;
  }
  // It is no device of a machine's, which processes could share.
  static CUresult DeviceGetUuid(CUuuid *, CUdevice) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  static CUresult DeviceGetName(char *name, int bytes, CUdevice) {
    std::snprintf(name, size_t(bytes), "fake GPU");
    return CUDA_SUCCESS;
  }
  static CUresult DeviceGetAttribute(int *value, CUdevice_attribute which,
                                     CUdevice device) {
    auto &known =
        device ? fake().others[size_t(device) - 1] : fake().attributes;
    auto it = known.find(which);
    *value = it == known.end() ? 0 : it->second;
    return CUDA_SUCCESS;
  }
  static CUresult DeviceCanAccessPeer(int *can, CUdevice, CUdevice peer) {
    *can = !fake().unreached.contains(peer);
    return CUDA_SUCCESS;
  }
  static CUresult DeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute which,
                                        CUdevice, CUdevice peer) {
    *value = which == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED &&
             peer != fake().byPcie;
    return CUDA_SUCCESS;
  }
  static CUresult DevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
    FAKE_NOTE("cuDevicePrimaryCtxRetain", " ");
    *context = reinterpret_cast<CUcontext>(uintptr_t(0xc));
    return CUDA_SUCCESS;
  }
  static CUresult DevicePrimaryCtxRelease(CUdevice) {
    FAKE_NOTE("cuDevicePrimaryCtxRelease", " ");
    return CUDA_SUCCESS;
  }
  static CUresult CtxGetCurrent(CUcontext *context) {
    *context = fake().current;
    return CUDA_SUCCESS;
  }
  static CUresult CtxSetCurrent(CUcontext context) {
    fake().current = context;
    return CUDA_SUCCESS;
  }
  static CUresult CtxSynchronize() {
    FAKE_NOTE("cuCtxSynchronize", " ");
    return CUDA_SUCCESS;
  }
  static CUresult MemGetInfo(size_t *free, size_t *total) {
    *free = fake().freeBytes;
    *total = fake().totalBytes;
    return CUDA_SUCCESS;
  }

  // Managed memory.

  static CUresult MemAllocManaged(CUdeviceptr *address, size_t bytes,
                                  unsigned flags) {
    FAKE_NOTE("cuMemAllocManaged", "{}, {}", sizeText(bytes), flags);
    if (flags != CU_MEM_ATTACH_GLOBAL || !bytes)
      return CUDA_ERROR_INVALID_VALUE;
    FakeCuda &cuda = fake();
    const size_t room = bytes + 4 * MiB;
    void *pages = mmap(nullptr, room, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
      return CUDA_ERROR_OUT_OF_MEMORY;
    const uintptr_t base = (reinterpret_cast<uintptr_t>(pages) + 2 * MiB - 1) /
                           (2 * MiB) * 2 * MiB;
    // Aligned to that and to nothing more.
    *address =
        cuda.managedAlignment == 2 * MiB ? base : base + cuda.managedAlignment;
    cuda.managed[*address] = {pages, room, bytes, cuda.numManaged++};
    cuda.managedBytes += bytes;
    cuda.mostManagedBytes = std::max(cuda.mostManagedBytes, cuda.managedBytes);
    return CUDA_SUCCESS;
  }
  /// What the driver says of memory that it does not know.
  static CUresult PointerGetAttributes(unsigned, CUpointer_attribute *,
                                       void **values, CUdeviceptr) {
    *static_cast<CUmemorytype *>(values[0]) = CUmemorytype{};
    *static_cast<unsigned *>(values[1]) = 0;
    return CUDA_SUCCESS;
  }
  static CUresult MemFree(CUdeviceptr address) {
    FAKE_NOTE("cuMemFree", "{}", fake().nameOf(address));
    auto it = fake().managed.find(address);
    if (it == fake().managed.end())
      return CUDA_ERROR_INVALID_VALUE;
    if (fake().beforeFree)
      fake().beforeFree(address);
    fake().managedBytes -= it->second.bytes;
    munmap(it->second.pages, it->second.room);
    fake().managed.erase(it);
    return CUDA_SUCCESS;
  }
  static CUresult MemRangeGetAttribute(void *, size_t, CUmem_range_attribute,
                                       CUdeviceptr, size_t) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  static CUresult MemPrefetchAsync(CUdeviceptr begin, size_t bytes,
                                   CUmemLocation location, unsigned flags,
                                   CUstream stream) {
    FAKE_NOTE("cuMemPrefetchAsync", "{}, {}, {}", rangeText(begin, bytes),
              locationText(location), fake().nameOf(stream));
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  }
  static CUresult MemPrefetchToDevice(CUdeviceptr begin, size_t bytes,
                                      CUdevice device, CUstream stream) {
    FAKE_NOTE("cuMemPrefetchAsync", "{}, {}, {}", rangeText(begin, bytes),
              deviceText(device), fake().nameOf(stream));
    return CUDA_SUCCESS;
  }
  static CUresult MemAdvise(CUdeviceptr begin, size_t bytes,
                            CUmem_advise advice, CUmemLocation location) {
    FAKE_NOTE("cuMemAdvise", "{}, {}, {}", rangeText(begin, bytes), int(advice),
              locationText(location));
    return CUDA_SUCCESS;
  }
  static CUresult MemAdviseDevice(CUdeviceptr begin, size_t bytes,
                                  CUmem_advise advice, CUdevice device) {
    FAKE_NOTE("cuMemAdvise", "{}, {}, {}", rangeText(begin, bytes), int(advice),
              deviceText(device));
    return CUDA_SUCCESS;
  }
  static CUresult checkLocations(CUmemLocation *locations, size_t *firsts,
                                 size_t count, size_t operations) {
    if (!locations || !firsts || !count || count > operations || firsts[0] != 0)
      return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  }
  static CUresult MemPrefetchBatchAsync(CUdeviceptr *begins, size_t *sizes,
                                        size_t count, CUmemLocation *locations,
                                        size_t *firsts, size_t numLocations,
                                        unsigned long long flags,
                                        CUstream stream) {
    FAKE_NOTE("cuMemPrefetchBatchAsync", "{}, {}, {}",
              rangesText(begins, sizes, count), locationText(*locations),
              fake().nameOf(stream));
    if (CUresult wrong = checkLocations(locations, firsts, numLocations, count))
      return wrong;
    return checkBatch(begins, sizes, count, flags, stream);
  }
  static CUresult MemDiscardBatchAsync(CUdeviceptr *begins, size_t *sizes,
                                       size_t count, unsigned long long flags,
                                       CUstream stream) {
    FAKE_NOTE("cuMemDiscardBatchAsync", "{}, {}",
              rangesText(begins, sizes, count), fake().nameOf(stream));
    if (CUresult wrong = checkBatch(begins, sizes, count, flags, stream))
      return wrong;
    makeIndeterminate(begins, sizes, count);
    return CUDA_SUCCESS;
  }
  static CUresult
  MemDiscardAndPrefetchBatchAsync(CUdeviceptr *begins, size_t *sizes,
                                  size_t count, CUmemLocation *locations,
                                  size_t *firsts, size_t numLocations,
                                  unsigned long long flags, CUstream stream) {
    FAKE_NOTE("cuMemDiscardAndPrefetchBatchAsync", "{}, {}, {}",
              rangesText(begins, sizes, count), locationText(*locations),
              fake().nameOf(stream));
    if (CUresult wrong = checkLocations(locations, firsts, numLocations, count))
      return wrong;
    if (CUresult wrong = checkBatch(begins, sizes, count, flags, stream))
      return wrong;
    makeIndeterminate(begins, sizes, count);
    return CUDA_SUCCESS;
  }

  // Virtual memory management.

  static CUresult MemAddressReserve(CUdeviceptr *address, size_t bytes, size_t,
                                    CUdeviceptr, unsigned long long) {
    FAKE_NOTE("cuMemAddressReserve", "{}", sizeText(bytes));
    void *pages = mmap(nullptr, bytes + 2 * MiB, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
      return CUDA_ERROR_OUT_OF_MEMORY;
    *address = (reinterpret_cast<uintptr_t>(pages) + 2 * MiB - 1) / (2 * MiB) *
               2 * MiB;
    return CUDA_SUCCESS;
  }
  static CUresult MemAddressFree(CUdeviceptr, size_t bytes) {
    FAKE_NOTE("cuMemAddressFree", "{}", sizeText(bytes));
    return CUDA_SUCCESS; // the addresses are never used again
  }
  static CUresult
  MemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *,
                              CUmemAllocationGranularity_flags) {
    *bytes = 2 * MiB;
    return CUDA_SUCCESS;
  }
  static CUresult MemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                            const CUmemAllocationProp *properties,
                            unsigned long long) {
    FAKE_NOTE("cuMemCreate", "{}, {}", sizeText(bytes),
              locationText(properties->location));
    const int file = memfd_create("fake-cuda", 0);
    if (file < 0 || ftruncate(file, off_t(bytes)) != 0)
      return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = fake().next++;
    fake().handles[*handle] = {file, bytes};
    return CUDA_SUCCESS;
  }
  static CUresult MemRelease(CUmemGenericAllocationHandle handle) {
    FAKE_NOTE("cuMemRelease", " ");
    auto it = fake().handles.find(handle);
    if (it == fake().handles.end())
      return CUDA_ERROR_INVALID_VALUE;
    close(it->second.file);
    fake().handles.erase(it);
    return CUDA_SUCCESS;
  }
  static CUresult MemMap(CUdeviceptr address, size_t bytes, size_t,
                         CUmemGenericAllocationHandle handle,
                         unsigned long long) {
    FAKE_NOTE("cuMemMap", "{}", sizeText(bytes));
    auto it = fake().handles.find(handle);
    if (it == fake().handles.end())
      return CUDA_ERROR_INVALID_VALUE;
    return mmap(reinterpret_cast<void *>(address), bytes, PROT_NONE,
                MAP_SHARED | MAP_FIXED, it->second.file, 0) == MAP_FAILED
               ? CUDA_ERROR_OUT_OF_MEMORY
               : CUDA_SUCCESS;
  }
  static CUresult MemUnmap(CUdeviceptr address, size_t bytes) {
    FAKE_NOTE("cuMemUnmap", "{}", sizeText(bytes));
    (void)mmap(reinterpret_cast<void *>(address), bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return CUDA_SUCCESS;
  }
  static CUresult MemSetAccess(CUdeviceptr address, size_t bytes,
                               const CUmemAccessDesc *, size_t count) {
    FAKE_NOTE("cuMemSetAccess", "{}, {}", sizeText(bytes), count);
    mprotect(reinterpret_cast<void *>(address), bytes, PROT_READ | PROT_WRITE);
    return CUDA_SUCCESS;
  }

  // Host memory.

  static CUresult MemHostAlloc(void **memory, size_t bytes, unsigned) {
    FAKE_NOTE("cuMemHostAlloc", "{}", sizeText(bytes));
    *memory = std::aligned_alloc(4096, bytes);
    return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  }
  static CUresult MemFreeHost(void *memory) {
    FAKE_NOTE("cuMemFreeHost", " ");
    std::free(memory);
    return CUDA_SUCCESS;
  }
  static CUresult MemHostRegister(void *, size_t bytes, unsigned) {
    FAKE_NOTE("cuMemHostRegister", "{}", sizeText(bytes));
    return CUDA_SUCCESS;
  }
  static CUresult MemHostUnregister(void *) {
    FAKE_NOTE("cuMemHostUnregister", " ");
    return CUDA_SUCCESS;
  }

  // Work.

  static CUresult Memcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    FAKE_NOTE("cuMemcpy", "{}, {}, {}", fake().nameOf(to), fake().nameOf(from),
              sizeText(bytes));
    std::memmove(reinterpret_cast<void *>(to),
                 reinterpret_cast<const void *>(from), bytes);
    return CUDA_SUCCESS;
  }
  static CUresult MemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
    FAKE_NOTE("cuMemcpyAsync", "{}, {}, {}, {}", fake().nameOf(to),
              fake().nameOf(from), sizeText(bytes), fake().nameOf(stream));
    std::memmove(reinterpret_cast<void *>(to),
                 reinterpret_cast<const void *>(from), bytes);
    return CUDA_SUCCESS;
  }
  template <typename Element>
  static CUresult fill(CUdeviceptr to, Element value, size_t count,
                       CUstream stream) {
    FAKE_NOTE("cuMemsetAsync", "{}, {:#x}, {}, {}", fake().nameOf(to),
              unsigned(value), count, fake().nameOf(stream));
    std::fill_n(reinterpret_cast<Element *>(to), count, value);
    return CUDA_SUCCESS;
  }
  static CUresult MemsetD8Async(CUdeviceptr to, unsigned char value,
                                size_t count, CUstream stream) {
    return fill(to, value, count, stream);
  }
  static CUresult MemsetD16Async(CUdeviceptr to, unsigned short value,
                                 size_t count, CUstream stream) {
    return fill(to, value, count, stream);
  }
  static CUresult MemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                                 CUstream stream) {
    return fill(to, value, count, stream);
  }
  // Streams and events are numbers; addresses that nobody dereferences.
  static CUresult StreamCreateWithPriority(CUstream *stream, unsigned flags,
                                           int) {
    Guard guard(fake().lock);
    *stream = reinterpret_cast<CUstream>(0x1000 + fake().next++);
    return fake().note("cuStreamCreateWithPriority",
                       fmt::format("{}, {}", fake().nameOf(*stream), flags));
  }
  static CUresult StreamDestroy(CUstream stream) {
    FAKE_NOTE("cuStreamDestroy", "{}", fake().nameOf(stream));
    return CUDA_SUCCESS;
  }
  static CUresult StreamSynchronize(CUstream stream) {
    FAKE_NOTE("cuStreamSynchronize", "{}", fake().nameOf(stream));
    return CUDA_SUCCESS;
  }
  static CUresult StreamQuery(CUstream) { return CUDA_SUCCESS; }
  static CUresult StreamWaitEvent(CUstream stream, CUevent event, unsigned) {
    FAKE_NOTE("cuStreamWaitEvent", "{}, {}", fake().nameOf(stream),
              fake().nameOf(event));
    return CUDA_SUCCESS;
  }
  static CUresult EventCreate(CUevent *event, unsigned) {
    Guard guard(fake().lock);
    *event = reinterpret_cast<CUevent>(0x2000 + fake().next++);
    return fake().note("cuEventCreate", fake().nameOf(*event));
  }
  static CUresult EventDestroy(CUevent event) {
    FAKE_NOTE("cuEventDestroy", "{}", fake().nameOf(event));
    return CUDA_SUCCESS;
  }
  static CUresult EventRecord(CUevent event, CUstream stream) {
    FAKE_NOTE("cuEventRecord", "{}, {}", fake().nameOf(event),
              fake().nameOf(stream));
    return CUDA_SUCCESS;
  }
  static CUresult EventQuery(CUevent) { return CUDA_SUCCESS; }
  static CUresult EventSynchronize(CUevent) { return CUDA_SUCCESS; }
  static CUresult EventElapsedTime(float *milliseconds, CUevent, CUevent) {
    *milliseconds = 1;
    return CUDA_SUCCESS;
  }
  static CUresult FuncGetAttribute(int *value, CUfunction_attribute which,
                                   CUfunction) {
    *value = which == CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET ? 0 : 1024;
    return CUDA_SUCCESS;
  }
  static CUresult KernelGetFunction(CUfunction *function, CUkernel kernel) {
    FAKE_NOTE("cuKernelGetFunction", "");
    *function = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
  }
  static CUresult LaunchKernel(CUfunction function, unsigned x, unsigned y,
                               unsigned z, unsigned, unsigned, unsigned,
                               unsigned, CUstream stream, void **args,
                               void **) {
    FAKE_NOTE("cuLaunchKernel", "{}x{}x{}, {}", x, y, z, fake().nameOf(stream));
    const unsigned grid[3] = {x, y, z};
    if (auto *kernel = reinterpret_cast<FakeKernel *>(function); kernel->run)
      kernel->run(grid, args);
    return CUDA_SUCCESS;
  }
  static CUresult LaunchKernelEx(const CUlaunchConfig *config,
                                 CUfunction function, void **args,
                                 void **extra) {
    FAKE_NOTE("cuLaunchKernelEx", "{}, {}", int(config->attrs[0].id),
              config->attrs[0].value.programmaticStreamSerializationAllowed);
    return LaunchKernel(function, config->gridDimX, config->gridDimY,
                        config->gridDimZ, config->blockDimX, config->blockDimY,
                        config->blockDimZ, config->sharedMemBytes,
                        config->hStream, args, extra);
  }
  static CUresult LaunchCooperativeKernel(CUfunction function, unsigned x,
                                          unsigned y, unsigned z, unsigned a,
                                          unsigned b, unsigned c,
                                          unsigned shared, CUstream stream,
                                          void **args) {
    return LaunchKernel(function, x, y, z, a, b, c, shared, stream, args,
                        nullptr);
  }
  // No graphs: what reads them asks first.
  static CUresult FuncGetName(const char **, CUfunction) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  static CUresult FuncGetParamInfo(CUfunction, size_t, size_t *, size_t *) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  static CUresult GraphAddKernelNode(CUgraphNode *, CUgraph,
                                     const CUgraphNode *, size_t,
                                     const CUDA_KERNEL_NODE_PARAMS *) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  static CUresult GraphKernelNodeGetParams(CUgraphNode,
                                           CUDA_KERNEL_NODE_PARAMS *) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  static CUresult ThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    *mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    return CUDA_SUCCESS;
  }
  static CUresult ModuleLoadData(CUmodule *, const void *) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  static CUresult ModuleUnload(CUmodule) { return CUDA_SUCCESS; }
  static CUresult ModuleGetFunction(CUfunction *, CUmodule, const char *) {
    return CUDA_ERROR_NOT_FOUND;
  }
};

// -- Who has them ------------------------------------------------------------

struct Function {
  const char *name;
  int version; ///< of the first driver that has it
  void *address;
};

const Function Functions[] = {
#define CUDA_SYMBOL(NAME, VERSION)                                             \
  {"cu" #NAME, VERSION,                                                        \
   reinterpret_cast<void *>(PFN_cu##NAME##_v##VERSION(&Api::NAME))},
#define CUDA_OPTIONAL(FIELD, NAME, VERSION)                                    \
  {"cu" #NAME, VERSION,                                                        \
   reinterpret_cast<void *>(PFN_cu##NAME##_v##VERSION(&Api::FIELD))},
#include "runtime/device/cuda/CudaSymbols.def"
};

/// The newest form that a program of that version knows.
void *find(const std::string &name, int version) {
  void *found = nullptr;
  int newest = -1;
  for (const Function &function : Functions)
    if (name == function.name && function.version <= version &&
        function.version > newest && !fake().missing.count(name)) {
      found = function.address;
      newest = function.version;
    }
  return found;
}

CUresult getProcAddress(const char *name, void **function, int version,
                        cuuint64_t, CUdriverProcAddressQueryResult *status) {
  fake().asked.insert(fmt::format("{} {}", name, version));
  if (version > fake().version)
    return CUDA_ERROR_INVALID_VALUE;
  *function = find(name, version);
  *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS
                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return CUDA_SUCCESS;
}

CUresult getProcAddressBefore12(const char *name, void **function, int version,
                                cuuint64_t flags) {
  CUdriverProcAddressQueryResult status;
  const CUresult result =
      getProcAddress(name, function, version, flags, &status);
  return result || *function ? result : CUDA_ERROR_NOT_FOUND;
}

void *lookup(const char *name) {
  const std::string_view text = name;
  if (text == "cuDriverGetVersion")
    return reinterpret_cast<void *>(&Api::DriverGetVersion);
  if (text == "cuGetProcAddress_v2")
    return fake().hasGetProcAddressV2
               ? reinterpret_cast<void *>(&getProcAddress)
               : nullptr;
  if (text == "cuGetProcAddress")
    return fake().hasGetProcAddress
               ? reinterpret_cast<void *>(&getProcAddressBefore12)
               : nullptr;
  fake().asked.insert(name);
  // The second form of this one came with CUDA 12.8; old drivers have but the
  // first.
  if (text == "cuEventElapsedTime_v2")
    return nullptr;
  std::string first(text);
  if (first.size() > 3 && first.compare(first.size() - 3, 3, "_v2") == 0)
    first.resize(first.size() - 3);
  return find(first, fake().version);
}

} // namespace

FakeCuda::FakeCuda() {
  instance = this;
  attributes = {
      {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
      {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
      {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
  };
}

FakeCuda::~FakeCuda() {
  for (auto &[address, allocation] : managed)
    munmap(allocation.pages, allocation.room);
  for (auto &[handle, memory] : handles)
    close(memory.file);
  instance = nullptr;
}

const CudaDriver &FakeCuda::driver() {
  auto opened = CudaDriver::open(lookup);
  EXPECT_TRUE(opened.ok()) << opened.takeStatus().message();
  Drivers.push_back(std::move(*opened));
  return *Drivers.back();
}

StatusOr<std::unique_ptr<const CudaDriver>> FakeCuda::open() {
  return CudaDriver::open(lookup);
}

std::vector<std::string> FakeCuda::take(const std::set<std::string> &names) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  std::vector<std::string> result;
  for (const std::string &call : calls)
    if (names.empty() || names.count(call.substr(0, call.find('('))))
      result.push_back(call);
  calls.clear();
  return result;
}

CUresult FakeCuda::note(const char *function, const std::string &arguments) {
  calls.push_back(fmt::format("{}({})", function, arguments));
  auto it = failing.find(function);
  return it == failing.end() ? CUDA_SUCCESS : it->second;
}

std::string FakeCuda::nameOf(CUdeviceptr address) const {
  auto it = managed.upper_bound(address);
  if (it == managed.begin())
    return "other";
  --it;
  if (address >= it->first + it->second.bytes)
    return "other";
  const size_t offset = address - it->first;
  return fmt::format("m{}", it->second.number) +
         (offset ? "+" + sizeText(offset) : "");
}

std::string FakeCuda::nameOf(CUstream stream) const {
  if (!stream)
    return "null";
  const auto number = reinterpret_cast<uintptr_t>(stream);
  return number < 0x1000 ? fmt::format("stream {}", number)
                         : fmt::format("s{}", number - 0x1000);
}

std::string FakeCuda::nameOf(CUevent event) const {
  return fmt::format("e{}", reinterpret_cast<uintptr_t>(event) - 0x2000);
}

} // namespace dragon::test
