//===- CudaDevice.cpp - what all back ends on the CUDA driver share -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/cuda/PeerDevices.h"

#include <atomic>
#include <vector>

namespace dragon {

namespace {

CUevent eventOf(Event event) { return static_cast<CUevent>(event); }

// cudaErrorInvalidDeviceFunction
constexpr int InvalidDeviceFunction = 98;

} // namespace

CudaDevice::CudaDevice(const CudaDriver &cuda, const CudaContext &context)
    : Cuda(cuda), Ordinal(context.device), Context(context.context) {}

CudaDevice::~CudaDevice() { Cuda.DevicePrimaryCtxRelease(Ordinal); }

StatusOr<CudaContext> CudaContext::retain(const CudaDriver &cuda) {
  CudaContext made;
  DRAGON_TRY(cuda.check(cuda.DeviceGet(&made.device, 0), "cuDeviceGet"));
  DRAGON_TRY_IN(
      cuda.check(cuda.DevicePrimaryCtxRetain(&made.context, made.device),
                 "cuDevicePrimaryCtxRetain"),
      "creating a context on the GPU");
  return made;
}

Status CudaDevice::describe(const char *name, size_t granularity,
                            bool hostMapped) {
  CudaContextScope scope(Cuda, Context);
  size_t free = 0, total = 0;
  DRAGON_TRY(Cuda.check(Cuda.MemGetInfo(&free, &total), "cuMemGetInfo"));
  Caps.name = name;
  Caps.identity = identityOf(Cuda, Ordinal);
  Caps.granularity = granularity;
  Caps.hostMapped = hostMapped;
  Caps.deviceIsHostVisible = false;
  Caps.strict = false;
  Caps.asynchronous = true;
  Caps.hasLink = true;
  Caps.totalMemory = total;
  Caps.freeMemory = free;
  return {};
}

int CudaDevice::attribute(CUdevice_attribute which) const {
  int value = 0;
  return Cuda.DeviceGetAttribute(&value, which, Ordinal) == CUDA_SUCCESS ? value
                                                                         : 0;
}

Status CudaDevice::pinImpl(uintptr_t begin, size_t bytes) {
  CudaContextScope scope(Cuda, Context);
  // Memory that is read-only for the process is refused otherwise.
  const unsigned readOnly =
      attribute(CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED)
          ? CU_MEMHOSTREGISTER_READ_ONLY
          : 0;
  return Cuda
      .check(Cuda.MemHostRegister(reinterpret_cast<void *>(begin), bytes,
                                  CU_MEMHOSTREGISTER_PORTABLE | readOnly),
             "cuMemHostRegister")
      .within("pinning {} bytes at {:#x}", bytes, begin);
}

Status CudaDevice::unpinImpl(uintptr_t begin) {
  CudaContextScope scope(Cuda, Context);
  return Cuda
      .check(Cuda.MemHostUnregister(reinterpret_cast<void *>(begin)),
             "cuMemHostUnregister")
      .within("unpinning memory at {:#x}", begin);
}

//===----------------------------------------------------------------------===//
// Queues and events
//===----------------------------------------------------------------------===//

StatusOr<Queue> CudaDevice::createQueueImpl(unsigned flags, int priority) {
  CudaContextScope scope(Cuda, Context);
  CUstream stream;
  DRAGON_TRY(Cuda.check(Cuda.StreamCreateWithPriority(&stream, flags, priority),
                        "cuStreamCreateWithPriority"));
  return Queue(stream);
}

Status CudaDevice::destroyQueueImpl(Queue queue) {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.StreamDestroy(streamOf(queue)), "cuStreamDestroy");
}

Status CudaDevice::synchronizeImpl(Queue queue) {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.StreamSynchronize(streamOf(queue)),
                    "cuStreamSynchronize");
}

StatusOr<bool> CudaDevice::queryImpl(Queue queue) {
  CudaContextScope scope(Cuda, Context);
  CUresult result = Cuda.StreamQuery(streamOf(queue));
  if (result == CUDA_ERROR_NOT_READY)
    return false;
  DRAGON_TRY(Cuda.check(result, "cuStreamQuery"));
  return true;
}

Status CudaDevice::synchronizeAllImpl() {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.CtxSynchronize(), "cuCtxSynchronize");
}

StatusOr<Event> CudaDevice::createEventImpl(bool timing) {
  CudaContextScope scope(Cuda, Context);
  CUevent event;
  DRAGON_TRY(
      Cuda.check(Cuda.EventCreate(&event, timing ? CU_EVENT_DEFAULT
                                                 : CU_EVENT_DISABLE_TIMING),
                 "cuEventCreate"));
  return Event(event);
}

Status CudaDevice::destroyEventImpl(Event event) {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.EventDestroy(eventOf(event)), "cuEventDestroy");
}

Status CudaDevice::recordImpl(Event event, Queue queue) {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.EventRecord(eventOf(event), streamOf(queue)),
                    "cuEventRecord");
}

Status CudaDevice::waitImpl(Queue queue, Event event) {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.StreamWaitEvent(streamOf(queue), eventOf(event), 0),
                    "cuStreamWaitEvent");
}

StatusOr<bool> CudaDevice::queryEventImpl(Event event) {
  CudaContextScope scope(Cuda, Context);
  CUresult result = Cuda.EventQuery(eventOf(event));
  if (result == CUDA_ERROR_NOT_READY)
    return false;
  DRAGON_TRY(Cuda.check(result, "cuEventQuery"));
  return true;
}

Status CudaDevice::synchronizeEventImpl(Event event) {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.EventSynchronize(eventOf(event)),
                    "cuEventSynchronize");
}

StatusOr<float> CudaDevice::elapsedMillisecondsImpl(Event start, Event end) {
  CudaContextScope scope(Cuda, Context);
  float milliseconds = 0;
  DRAGON_TRY(Cuda.check(
      Cuda.EventElapsedTime(&milliseconds, eventOf(start), eventOf(end)),
      "cuEventElapsedTime"));
  return milliseconds;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

Status CudaDevice::copyPiece(uintptr_t to, uintptr_t from, size_t bytes,
                             Queue queue) {
  return Cuda
      .check(Cuda.MemcpyAsync(to, from, bytes, streamOf(queue)),
             "cuMemcpyAsync")
      .within("copying {} bytes from {:#x} to {:#x}", bytes, from, to);
}

Status CudaDevice::fillPiece(uintptr_t to, uint32_t value, unsigned width,
                             size_t bytes, Queue queue) {
  const size_t elements = bytes / width;
  CUresult result;
  if (width == 1)
    result = Cuda.MemsetD8Async(to, static_cast<unsigned char>(value), elements,
                                streamOf(queue));
  else if (width == 2)
    result = Cuda.MemsetD16Async(to, static_cast<unsigned short>(value),
                                 elements, streamOf(queue));
  else
    result = Cuda.MemsetD32Async(to, value, elements, streamOf(queue));
  return Cuda.check(result, "cuMemsetAsync")
      .within("filling {} bytes at {:#x}", bytes, to);
}

// The mode is the cpu device's (docs/settings.md).
Status CudaDevice::poisonImpl(uintptr_t, size_t, Queue) { return {}; }

StatusOr<CUfunction> CudaDevice::functionOf(const KernelCode &code) {
  const std::atomic_ref<void *> known(code.function);
  void *before = known.load(std::memory_order_relaxed);
  if (before || !Cuda.KernelGetFunction)
    return static_cast<CUfunction>(before);
  CUfunction function = nullptr;
  DRAGON_TRY(Cuda.check(
      Cuda.KernelGetFunction(&function, static_cast<CUkernel>(code.kernel)),
      "cuKernelGetFunction"));
  known.store(function, std::memory_order_relaxed);
  return function;
}

Status CudaDevice::launchImpl(const LaunchRequest &request) {
  const KernelImage &image = request.kernel->image;
  const char *name = request.kernelName ? request.kernelName : image.name;
  uint32_t blocks[3];
  for (unsigned axis = 0; axis < 3; ++axis)
    blocks[axis] = request.box.Hi[axis] - request.box.Lo[axis];
  // A slice clone stands for what has no other code.
  const bool whole = request.isWholeGrid() && image.code;
  if (!image.code && !image.sliceCode)
    return Status::native(DRAGON_ERROR_DEVICE, InvalidDeviceFunction,
                          "kernel '{}' has no code for this GPU; compile for "
                          "its architecture (-arch)",
                          name);
  if (!whole && (!image.sliceCode || request.cooperative))
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "kernel '{}' cannot run a part of its grid ({})", name,
                         request.cooperative ? "a cooperative launch"
                                             : "it has no slice clone");
  // The clone has six more parameters: the first block and the whole grid.
  std::vector<void *> args;
  uint32_t trailing[6];
  void **launchArgs = request.args;
  if (!whole) {
    args.assign(request.args, request.args + request.numArgs);
    for (unsigned axis = 0; axis < 3; ++axis) {
      trailing[axis] = request.box.Lo[axis];
      trailing[3 + axis] = request.grid[axis];
    }
    for (uint32_t &value : trailing)
      args.push_back(&value);
    launchArgs = args.data();
  }
  DRAGON_TRY(beforeWork(request.queue));
  CudaContextScope scope(Cuda, Context);
  StatusOr<CUfunction> code = functionOf(whole ? image.code : image.sliceCode);
  if (!code.ok())
    return code.takeStatus().within("launch of '{}'", name);
  const CUfunction function = *code;
  CUresult result;
  if (request.cooperative)
    result = Cuda.LaunchCooperativeKernel(
        function, blocks[0], blocks[1], blocks[2], request.block[0],
        request.block[1], request.block[2], request.dynamicSharedBytes,
        streamOf(request.queue), launchArgs);
  else if (request.programmatic && whole && Cuda.LaunchKernelEx)
    result = launchProgrammatic(function, request, launchArgs);
  else
    result = Cuda.LaunchKernel(function, blocks[0], blocks[1], blocks[2],
                               request.block[0], request.block[1],
                               request.block[2], request.dynamicSharedBytes,
                               streamOf(request.queue), launchArgs, nullptr);
  return Cuda.check(result, "cuLaunchKernel").within("launch of '{}'", name);
}

CUresult CudaDevice::launchProgrammatic(CUfunction function,
                                        const LaunchRequest &request,
                                        void **args) {
  CUlaunchAttribute early{};
  early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  early.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = request.grid[0];
  config.gridDimY = request.grid[1];
  config.gridDimZ = request.grid[2];
  config.blockDimX = request.block[0];
  config.blockDimY = request.block[1];
  config.blockDimZ = request.block[2];
  config.sharedMemBytes = request.dynamicSharedBytes;
  config.hStream = streamOf(request.queue);
  config.attrs = &early;
  config.numAttrs = 1;
  return Cuda.LaunchKernelEx(&config, function, args, nullptr);
}

bool CudaDevice::acceptsImpl(const LaunchRequest &request) {
  const KernelImage &image = request.kernel->image;
  if (!image.sliceCode || request.cooperative)
    return false;
  constexpr CUdevice_attribute MostBlocks[] = {
      CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
      CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
  constexpr CUdevice_attribute MostThreads[] = {
      CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
      CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
  uint64_t threads = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (request.grid[axis] > uint64_t(attribute(MostBlocks[axis])) ||
        request.block[axis] > uint64_t(attribute(MostThreads[axis])))
      return false;
    threads *= request.block[axis];
  }
  CudaContextScope scope(Cuda, Context);
  for (const KernelCode &code : {image.code, image.sliceCode}) {
    if (!code)
      continue;
    const StatusOr<CUfunction> function = functionOf(code);
    if (!function.ok())
      return false;
    auto most = [&](CUfunction_attribute which) -> uint64_t {
      int value = 0;
      return Cuda.FuncGetAttribute(&value, which, *function) == CUDA_SUCCESS
                 ? uint64_t(value)
                 : 0;
    };
    if (threads > most(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) ||
        request.dynamicSharedBytes >
            most(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) ||
        most(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET))
      return false;
  }
  return true;
}

// cuPointerGetAttributes succeeds for memory that the driver does not know, and
// then gives 0. Managed memory counts as device memory, or as host memory.
bool CudaDevice::hostReachesImpl(const void *address) {
  CUmemorytype type = {};
  unsigned managed = 0;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                 CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void *values[] = {&type, &managed};
  CudaContextScope scope(Cuda, Context);
  CUresult result = Cuda.PointerGetAttributes(
      2, which, values, reinterpret_cast<CUdeviceptr>(address));
  return result != CUDA_SUCCESS || type != CU_MEMORYTYPE_DEVICE || managed;
}

// Of memory that the program maps itself (cuMemMap), the driver gives the range
// of one mapping.
AddressRange CudaDevice::othersAtImpl(uintptr_t address) {
  CUmemorytype type = {};
  CUdeviceptr begin = 0;
  size_t bytes = 0;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                 CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                 CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void *values[] = {&type, &begin, &bytes};
  CudaContextScope scope(Cuda, Context);
  if (Cuda.PointerGetAttributes(3, which, values, address) != CUDA_SUCCESS ||
      !type)
    return {address, address};
  if (address - begin < bytes)
    return {begin, begin + bytes};
  return {address, address + 1};
}

StatusOr<DeviceMemory> CudaDevice::memoryImpl() {
  CudaContextScope scope(Cuda, Context);
  size_t free = 0, total = 0;
  DRAGON_TRY(Cuda.check(Cuda.MemGetInfo(&free, &total), "cuMemGetInfo"));
  return DeviceMemory{free, total};
}

} // namespace dragon
