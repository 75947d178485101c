//===- AreaFile.cpp - areas outside of device memory ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-nbd/AreaFile.h"

#include <sys/mman.h>

namespace dragon::nbd {

StatusOr<std::unique_ptr<AreaFile>> AreaFile::create(const Settings &Settings,
                                                     uint64_t AreaBytes) {
  std::unique_ptr<AreaFile> File(new AreaFile);
  File->AreaBytes = AreaBytes;
  DRAGON_ASSIGN(File->Swap, SwapFile::create(Settings));
  void *Zeros =
      ::mmap(nullptr, AreaBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Zeros == MAP_FAILED)
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                         "no addresses for {} bytes", AreaBytes);
  File->Zeros = Zeros;
  return File;
}

Status AreaFile::start(const Settings &Settings) {
  DRAGON_ASSIGN(Files, FileTier::create(Settings, Moved));
  return {};
}

AreaFile::~AreaFile() {
  if (Zeros)
    ::munmap(Zeros, AreaBytes);
}

StatusOr<SwapFile::Slot> AreaFile::allocate() {
  DRAGON_ASSIGN(SwapFile::Slot Slot, Swap->allocate(AreaBytes));
  std::lock_guard Guard(Lock);
  InUse.insert(Slot.file);
  return Slot;
}

Status AreaFile::read(const SwapFile::Slot &Slot, void *To, uint64_t Bytes,
                      uint64_t Offset) {
  return Files->read(*Slot.file, To, Bytes, Slot.offset + int64_t(Offset));
}

Status AreaFile::write(const SwapFile::Slot &Slot, const void *From,
                       uint64_t Bytes, uint64_t Offset) {
  return Files->write(*Slot.file, From, Bytes, Slot.offset + int64_t(Offset));
}

Status AreaFile::zero(const SwapFile::Slot &Slot, uint64_t Bytes,
                      uint64_t Offset) {
  return Bytes ? write(Slot, Zeros, Bytes, Offset) : Status();
}

Status AreaFile::sync() {
  std::set<BackingFile *> Written;
  {
    std::lock_guard Guard(Lock);
    Written = InUse;
  }
  for (BackingFile *File : Written)
    DRAGON_TRY(File->syncData());
  return {};
}

} // namespace dragon::nbd
