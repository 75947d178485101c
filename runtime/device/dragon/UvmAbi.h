//===- UvmAbi.h - what DRAGON's nvidia-uvm is asked, to the byte -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are passed to ioctl() as they are: UVM encodes neither direction nor
// size in them. Each structure ends in the driver's own status; ioctl() returns
// 0 whenever the structure could be copied, whatever the status says.
//
// Source: nvidia-uvm's uvm_ioctl.h and nvstatuscodes.h (580.95.05) and the
// patches of DRAGON's artifact (5b7a20a, drivers 384.81 to 440.33.01).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_DRAGON_UVMABI_H
#define DRAGON_RUNTIME_DEVICE_DRAGON_UVMABI_H

#include <cstddef>
#include <cstdint>

namespace dragon::uvm {

inline constexpr char Path[] = "/dev/nvidia-uvm";

enum Request : unsigned long {
  ValidateVaRange = 72,
  DragonInit = 1000,
  DragonMap = 1001,
  DragonRemap = 1004
};

/// No status has this value; the driver writes another one on its way back.
constexpr uint32_t NotAnswered = 0xffffffff;

/// ValidateVaRange: is there a managed range of just this extent?
struct VaRange {
  uint64_t base;
  uint64_t length;
  uint32_t status;
};
static_assert(sizeof(VaRange) == 24 && offsetof(VaRange, length) == 8 &&
              offsetof(VaRange, status) == 16);

/// DragonInit, once for each process.
struct Init {
  uint64_t blocksPerReclaim; ///< 2 MiB each
  uint64_t reservedPages;    ///< of host memory, below which it reclaims
  uint16_t flags;
  uint32_t status;
};
static_assert(sizeof(Init) == 24 && offsetof(Init, reservedPages) == 8 &&
              offsetof(Init, flags) == 16 && offsetof(Init, status) == 20);

enum InitFlags : uint16_t {
  ReadCache = 0x01,
  LazyWrite = 0x02,
  AioRead = 0x04,
  AioWrite = 0x08
};

/// DragonMap and DragonRemap; the latter looks at address and flags only.
struct Map {
  int32_t file;
  uint64_t address; ///< where a managed range begins
  uint64_t bytes;
  uint16_t flags;
  uint32_t status;
};
static_assert(sizeof(Map) == 32 && offsetof(Map, address) == 8 &&
              offsetof(Map, bytes) == 16 && offsetof(Map, flags) == 24 &&
              offsetof(Map, status) == 28);

enum MapFlags : uint16_t {
  Read = 0x01,
  Write = 0x02,
  Volatile = 0x10,
  UseHostBuffer = 0x20
};

/// The statuses that these calls are known to return.
enum NvStatus : uint32_t {
  Ok = 0,
  IllegalAction = 0x16,
  InsufficientResources = 0x1a,
  InvalidAddress = 0x1e,
  InvalidArgument = 0x1f,
  InvalidDevice = 0x26,
  InvalidOperation = 0x38,
  NoMemory = 0x51,
  NotSupported = 0x56,
  OperatingSystem = 0x59,
  NothingToDo = 0x10006
};

} // namespace dragon::uvm

#endif // DRAGON_RUNTIME_DEVICE_DRAGON_UVMABI_H
