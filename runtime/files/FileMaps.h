//===- FileMaps.h - files under buffers -------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A range of a buffer gets a file's bytes as its contents, which are read only
// when they are needed; and whole maps, with what the program asks of them.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_FILES_FILEMAPS_H
#define DRAGON_RUNTIME_FILES_FILEMAPS_H

#include "runtime/files/Sinks.h"
#include "runtime/memory/Allocator.h"

#include <memory>

namespace dragon {

class FileMaps {
public:
  FileMaps(Context &context, WorkTracker &time, AddressSpace &space,
           StorageIo &store, HostMemory &host, Contents &data,
           Residency &resident, DriverMoved &driver, Sinks &sinks)
      : Ctx(context), Time(time), Space(space), Store(store), Host(host),
        Data(data), Resident(resident), Driver(driver), Announced(sinks) {}

  /// Contents of the range become bytes [fileOffset, ...) of the file.
  Status mapRange(uintptr_t address, size_t bytes,
                  const std::shared_ptr<BackingFile> &file, int64_t fileOffset);
  /// A new buffer is a map of the file from `offset` on. `size`: the file's
  /// before it was made as long as the map.
  struct NewMap {
    uintptr_t base;
    size_t bytes;
    std::shared_ptr<BackingFile> file;
    int64_t offset;
    uint64_t size;
    unsigned flags; ///< of dragon.h, and MapHostBuffer
  };
  Status map(const NewMap &made);
  /// Somebody who may change the file (a child process) is about to come to be:
  /// its bytes are saved that are nowhere else, and the ranges. `anyReaders`:
  /// the buffers' contents are still of use.
  Status save(const std::shared_ptr<BackingFile> &file,
              std::vector<FileRange> ranges, bool anyReaders);

private:
  Status mapChunk(Chunk &chunk, size_t begin, size_t end,
                  const std::shared_ptr<BackingFile> &file, int64_t fileOffset);
  /// What the program will write: zeros until then.
  Status mapZeros(Buffer &buffer, const NewMap &made);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  StorageIo &Store;
  HostMemory &Host;
  Contents &Data;
  Residency &Resident;
  DriverMoved &Driver;
  Sinks &Announced;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_FILES_FILEMAPS_H
