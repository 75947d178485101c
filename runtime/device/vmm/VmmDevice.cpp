//===- VmmDevice.cpp - a GPU by CUDA's virtual memory management ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/vmm/VmmDevice.h"

#include <algorithm>
#include <cstring>

namespace dragon {

namespace {

CUstream streamOf(Queue queue) { return static_cast<CUstream>(queue); }
CUevent eventOf(Event event) { return static_cast<CUevent>(event); }

// cudaErrorInvalidDeviceFunction
constexpr int InvalidDeviceFunction = 98;

} // namespace

VmmDevice::VmmDevice(const CudaDriver &cuda, CUdevice device, CUcontext context)
    : Cuda(cuda), Ordinal(device), Context(context), Pool(cuda, device) {}

VmmDevice::~VmmDevice() {
  CudaContextScope scope(Cuda, Context);
  for (const auto &[begin, end] : Reserved)
    removeFaultRange(begin);
  Pool.close();
  Cuda.DevicePrimaryCtxRelease(Ordinal);
}

StatusOr<std::unique_ptr<Device>> VmmDevice::create(const Settings &) {
  DRAGON_ASSIGN(const CudaDriver *cuda, CudaDriver::load());
  CUdevice ordinal;
  DRAGON_TRY(cuda->check(cuda->DeviceGet(&ordinal, 0), "cuDeviceGet"));
  CUcontext context;
  DRAGON_TRY_IN(cuda->check(cuda->DevicePrimaryCtxRetain(&context, ordinal),
                            "cuDevicePrimaryCtxRetain"),
                "creating a context on the GPU");
  std::unique_ptr<VmmDevice> device(new VmmDevice(*cuda, ordinal, context));
  CudaContextScope scope(*cuda, context);
  DRAGON_TRY(device->Pool.open());
  size_t free = 0, total = 0;
  DRAGON_TRY(cuda->check(cuda->MemGetInfo(&free, &total), "cuMemGetInfo"));
  device->Caps.name = "vmm";
  device->Caps.granularity = device->Pool.granularity();
  device->Caps.hostMapped = device->Pool.hostMapped();
  device->Caps.deviceIsHostVisible = false;
  device->Caps.strict = false;
  device->Caps.asynchronous = true;
  device->Caps.hasLink = true;
  device->Caps.totalMemory = total;
  device->Caps.freeMemory = free;
  return StatusOr<std::unique_ptr<Device>>(std::move(device));
}

//===----------------------------------------------------------------------===//
// Addresses and physical memory
//===----------------------------------------------------------------------===//

StatusOr<uintptr_t> VmmDevice::reserveImpl(size_t bytes) {
  CudaContextScope scope(Cuda, Context);
  CUdeviceptr va = 0;
  DRAGON_TRY_IN(
      Cuda.check(Cuda.MemAddressReserve(&va, bytes, Caps.granularity, 0, 0),
                 "cuMemAddressReserve"),
      "reserving {} bytes of addresses", bytes);
  if (Status status = addFaultRange(va, va + bytes, *this); !status.ok()) {
    Cuda.MemAddressFree(va, bytes);
    return status;
  }
  std::unique_lock<std::shared_mutex> guard(Lock);
  Reserved[va] = va + bytes;
  return static_cast<uintptr_t>(va);
}

Status VmmDevice::releaseImpl(uintptr_t base, size_t bytes) {
  CudaContextScope scope(Cuda, Context);
  {
    std::unique_lock<std::shared_mutex> guard(Lock);
    auto it = Reserved.find(base);
    if (it == Reserved.end() || it->second != base + bytes)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "release: [{:#x}, +{:#x}) is not a reserved range",
                           base, bytes);
    auto chunk = Mapped.lower_bound(base);
    if (chunk != Mapped.end() && chunk->first < base + bytes)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "release: [{:#x}, +{:#x}) still has a chunk mapped "
                           "at {:#x}",
                           base, bytes, chunk->first);
    Reserved.erase(it);
  }
  removeFaultRange(base);
  return Cuda.check(Cuda.MemAddressFree(base, bytes), "cuMemAddressFree")
      .within("releasing [{:#x}, +{:#x})", base, bytes);
}

StatusOr<Physical> VmmDevice::createImpl(Place place, size_t bytes) {
  CudaContextScope scope(Cuda, Context);
  return Pool.create(place, bytes);
}

Status VmmDevice::destroyImpl(const Physical &physical) {
  CudaContextScope scope(Cuda, Context);
  return Pool.destroy(physical);
}

Status VmmDevice::mapImpl(uintptr_t va, const Physical &physical) {
  CudaContextScope scope(Cuda, Context);
  DRAGON_ASSIGN(CUmemGenericAllocationHandle handle, Pool.handle(physical));
  uintptr_t end = va + physical.bytes;
  DRAGON_TRY_IN(
      Cuda.check(Cuda.MemMap(va, physical.bytes, 0, handle, 0), "cuMemMap"),
      "mapping chunk {} at [{:#x}, {:#x})", physical.id, va, end);
  CUmemAccessDesc desc[2];
  unsigned count = Pool.access(physical.place, desc);
  CUresult result = Cuda.MemSetAccess(va, physical.bytes, desc, count);
  if (result != CUDA_SUCCESS) {
    Cuda.MemUnmap(va, physical.bytes);
    return Cuda.check(result, "cuMemSetAccess")
        .within("mapping chunk {} at [{:#x}, {:#x})", physical.id, va, end);
  }
  std::unique_lock<std::shared_mutex> guard(Lock);
  Mapped[va] =
      Chunk{end, physical.place, static_cast<char *>(physical.hostView)};
  return {};
}

Status VmmDevice::unmapImpl(uintptr_t va, const Physical &physical) {
  CudaContextScope scope(Cuda, Context);
  {
    std::unique_lock<std::shared_mutex> guard(Lock);
    auto it = Mapped.find(va);
    if (it == Mapped.end() || it->second.end != va + physical.bytes)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "unmap: chunk {} is not mapped at {:#x}",
                           physical.id, va);
    Mapped.erase(it);
  }
  return Cuda.check(Cuda.MemUnmap(va, physical.bytes), "cuMemUnmap")
      .within("unmapping chunk {} at {:#x}", physical.id, va);
}

//===----------------------------------------------------------------------===//
// Queues and events
//===----------------------------------------------------------------------===//

StatusOr<Queue> VmmDevice::createQueueImpl(unsigned flags, int priority) {
  CudaContextScope scope(Cuda, Context);
  CUstream stream;
  DRAGON_TRY(Cuda.check(Cuda.StreamCreateWithPriority(&stream, flags, priority),
                        "cuStreamCreateWithPriority"));
  return Queue(stream);
}

Status VmmDevice::destroyQueueImpl(Queue queue) {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.StreamDestroy(streamOf(queue)), "cuStreamDestroy");
}

Status VmmDevice::synchronizeImpl(Queue queue) {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.StreamSynchronize(streamOf(queue)),
                    "cuStreamSynchronize");
}

StatusOr<bool> VmmDevice::queryImpl(Queue queue) {
  CudaContextScope scope(Cuda, Context);
  CUresult result = Cuda.StreamQuery(streamOf(queue));
  if (result == CUDA_ERROR_NOT_READY)
    return false;
  DRAGON_TRY(Cuda.check(result, "cuStreamQuery"));
  return true;
}

Status VmmDevice::synchronizeAllImpl() {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.CtxSynchronize(), "cuCtxSynchronize");
}

StatusOr<Event> VmmDevice::createEventImpl(bool timing) {
  CudaContextScope scope(Cuda, Context);
  CUevent event;
  DRAGON_TRY(
      Cuda.check(Cuda.EventCreate(&event, timing ? CU_EVENT_DEFAULT
                                                 : CU_EVENT_DISABLE_TIMING),
                 "cuEventCreate"));
  return Event(event);
}

Status VmmDevice::destroyEventImpl(Event event) {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.EventDestroy(eventOf(event)), "cuEventDestroy");
}

Status VmmDevice::recordImpl(Event event, Queue queue) {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.EventRecord(eventOf(event), streamOf(queue)),
                    "cuEventRecord");
}

Status VmmDevice::waitImpl(Queue queue, Event event) {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.StreamWaitEvent(streamOf(queue), eventOf(event), 0),
                    "cuStreamWaitEvent");
}

StatusOr<bool> VmmDevice::queryEventImpl(Event event) {
  CudaContextScope scope(Cuda, Context);
  CUresult result = Cuda.EventQuery(eventOf(event));
  if (result == CUDA_ERROR_NOT_READY)
    return false;
  DRAGON_TRY(Cuda.check(result, "cuEventQuery"));
  return true;
}

Status VmmDevice::synchronizeEventImpl(Event event) {
  CudaContextScope scope(Cuda, Context);
  return Cuda.check(Cuda.EventSynchronize(eventOf(event)),
                    "cuEventSynchronize");
}

StatusOr<float> VmmDevice::elapsedMillisecondsImpl(Event start, Event end) {
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

Status VmmDevice::resolve(uintptr_t address, size_t bytes,
                          std::vector<Piece> &pieces) {
  std::shared_lock<std::shared_mutex> guard(Lock);
  uintptr_t end = address + bytes;
  auto range = Reserved.upper_bound(address);
  if (range == Reserved.begin() || std::prev(range)->second <= address) {
    pieces.push_back({address, bytes});
    return {};
  }
  auto it = Mapped.upper_bound(address);
  if (it != Mapped.begin())
    --it;
  bool lastIsDevice = false;
  for (; address < end; ++it) {
    if (it == Mapped.end() || it->first > address || it->second.end <= address)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "nothing is mapped at {:#x} (range ends at {:#x})",
                           address, end);
    const Chunk &chunk = it->second;
    size_t part = std::min(end, chunk.end) - address;
    bool isDevice = chunk.place == Place::Device;
    if (isDevice && lastIsDevice)
      pieces.back().bytes += part;
    else if (isDevice)
      pieces.push_back({address, part});
    else
      pieces.push_back(
          {reinterpret_cast<uintptr_t>(chunk.hostView) + (address - it->first),
           part});
    lastIsDevice = isDevice;
    address += part;
  }
  return {};
}

Status VmmDevice::copyImpl(void *to, const void *from, size_t bytes, CopyKind,
                           Queue queue) {
  std::vector<Piece> source, target;
  DRAGON_TRY_IN(resolve(reinterpret_cast<uintptr_t>(from), bytes, source),
                "source of a copy");
  DRAGON_TRY_IN(resolve(reinterpret_cast<uintptr_t>(to), bytes, target),
                "destination of a copy");
  CudaContextScope scope(Cuda, Context);
  auto in = source.begin();
  auto out = target.begin();
  while (bytes) {
    size_t part = std::min(in->bytes, out->bytes);
    DRAGON_TRY_IN(Cuda.check(Cuda.MemcpyAsync(out->address, in->address, part,
                                              streamOf(queue)),
                             "cuMemcpyAsync"),
                  "copying {} bytes from {:#x} to {:#x}", part, in->address,
                  out->address);
    bytes -= part;
    for (auto *it : {&in, &out}) {
      (*it)->address += part;
      if (((*it)->bytes -= part) == 0)
        ++*it;
    }
  }
  return {};
}

Status VmmDevice::fillImpl(void *to, uint32_t value, unsigned width,
                           size_t count, Queue queue) {
  std::vector<Piece> target;
  DRAGON_TRY_IN(resolve(reinterpret_cast<uintptr_t>(to), count * width, target),
                "fill");
  CudaContextScope scope(Cuda, Context);
  for (const Piece &piece : target) {
    size_t elements = piece.bytes / width;
    CUresult result;
    if (width == 1)
      result =
          Cuda.MemsetD8Async(piece.address, static_cast<unsigned char>(value),
                             elements, streamOf(queue));
    else if (width == 2)
      result =
          Cuda.MemsetD16Async(piece.address, static_cast<unsigned short>(value),
                              elements, streamOf(queue));
    else
      result =
          Cuda.MemsetD32Async(piece.address, value, elements, streamOf(queue));
    DRAGON_TRY_IN(Cuda.check(result, "cuMemsetAsync"),
                  "filling {} bytes at {:#x}", piece.bytes, piece.address);
  }
  return {};
}

// The mode is the cpu device's (docs/settings.md).
Status VmmDevice::poisonImpl(uintptr_t, size_t, Queue) { return {}; }

Status VmmDevice::launchImpl(const LaunchRequest &request) {
  const KernelImage &image = request.kernel->image;
  const char *name = request.kernelName ? request.kernelName : image.name;
  uint32_t blocks[3];
  bool whole = true;
  for (unsigned axis = 0; axis < 3; ++axis) {
    blocks[axis] = request.box.Hi[axis] - request.box.Lo[axis];
    whole &= blocks[axis] == request.grid[axis];
  }
  if (!image.function)
    return Status::native(DRAGON_ERROR_DEVICE, InvalidDeviceFunction,
                          "kernel '{}' has no code for this GPU; compile for "
                          "its architecture (-arch)",
                          name);
  if (!whole && (!image.sliceFunction || request.cooperative))
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
  CudaContextScope scope(Cuda, Context);
  auto function =
      static_cast<CUfunction>(whole ? image.function : image.sliceFunction);
  CUresult result;
  if (request.cooperative)
    result = Cuda.LaunchCooperativeKernel(
        function, blocks[0], blocks[1], blocks[2], request.block[0],
        request.block[1], request.block[2], request.dynamicSharedBytes,
        streamOf(request.queue), launchArgs);
  else
    result = Cuda.LaunchKernel(function, blocks[0], blocks[1], blocks[2],
                               request.block[0], request.block[1],
                               request.block[2], request.dynamicSharedBytes,
                               streamOf(request.queue), launchArgs, nullptr);
  return Cuda.check(result, "cuLaunchKernel").within("launch of '{}'", name);
}

bool VmmDevice::acceptsImpl(const LaunchRequest &request) {
  const KernelImage &image = request.kernel->image;
  if (!image.function || !image.sliceFunction || request.cooperative)
    return false;
  auto limit = [&](CUdevice_attribute attribute) -> uint64_t {
    int value = 0;
    return Cuda.DeviceGetAttribute(&value, attribute, Ordinal) == CUDA_SUCCESS
               ? uint64_t(value)
               : 0;
  };
  constexpr CUdevice_attribute MostBlocks[] = {
      CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
      CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
  constexpr CUdevice_attribute MostThreads[] = {
      CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
      CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
  uint64_t threads = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (request.grid[axis] > limit(MostBlocks[axis]) ||
        request.block[axis] > limit(MostThreads[axis]))
      return false;
    threads *= request.block[axis];
  }
  CudaContextScope scope(Cuda, Context);
  for (void *function : {image.function, image.sliceFunction}) {
    auto attribute = [&](CUfunction_attribute which) -> uint64_t {
      int value = 0;
      return Cuda.FuncGetAttribute(&value, which,
                                   static_cast<CUfunction>(function)) ==
                     CUDA_SUCCESS
                 ? uint64_t(value)
                 : 0;
    };
    if (threads > attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) ||
        request.dynamicSharedBytes >
            attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) ||
        attribute(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Host access
//===----------------------------------------------------------------------===//

// The host never reaches device memory: every chunk of it is guarded.
Status VmmDevice::guardHostAccessImpl(uintptr_t, size_t, bool) { return {}; }

Status VmmDevice::setFaultHandlerImpl(FaultHandler handler, void *context) {
  std::unique_lock<std::shared_mutex> guard(Lock);
  Handler = handler;
  HandlerContext = context;
  return {};
}

bool VmmDevice::hostFault(uintptr_t address, bool write) {
  FaultHandler handler;
  void *context;
  {
    std::shared_lock<std::shared_mutex> guard(Lock);
    auto it = Mapped.upper_bound(address);
    if (it != Mapped.begin() && std::prev(it)->second.end > address &&
        std::prev(it)->second.place == Place::Host)
      return true; // another thread was faster
    handler = Handler;
    context = HandlerContext;
  }
  return handler && handler(context, address, write);
}

StatusOr<DeviceMemory> VmmDevice::memoryImpl() {
  CudaContextScope scope(Cuda, Context);
  size_t free = 0, total = 0;
  DRAGON_TRY(Cuda.check(Cuda.MemGetInfo(&free, &total), "cuMemGetInfo"));
  return DeviceMemory{free + Pool.keptDeviceBytes(), total};
}

} // namespace dragon
