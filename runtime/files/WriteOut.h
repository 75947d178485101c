//===- WriteOut.h - contents of buffers go to files -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each byte goes to the file once, from wherever it is: host memory, the
// device, a file, swap. What was evicted to its place in the file before is
// there already. Several chunks are on their way at a time, through transit
// memory: while some are written others leave the device or storage.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_FILES_WRITEOUT_H
#define DRAGON_RUNTIME_FILES_WRITEOUT_H

#include "runtime/files/Sinks.h"

#include <memory>

namespace dragon {

class WriteOut {
public:
  WriteOut(Context &context, WorkTracker &time, AddressSpace &space,
           HostSlabs &slabs, StorageIo &store, WriteBehind &writes,
           HostMemory &host, Contents &data, Sinks &sinks)
      : Ctx(context), Time(time), Space(space), Slabs(slabs), Store(store),
        Writes(writes), Host(host), Data(data), Announced(sinks) {}

  /// Writes the contents of the range to the file at fileOffset. `written` =
  /// bytes from the start that are in the file, also on failure (a full disk).
  /// A write that sinks have announced may come in several, in order: the sink
  /// ends with the one that gets to its end.
  Status write(uintptr_t address, size_t bytes,
               std::shared_ptr<BackingFile> file, int64_t fileOffset,
               size_t &written);
  /// The write that a sink of exactly this range has announced has happened:
  /// its last bytes came from elsewhere.
  void finished(uintptr_t begin, uintptr_t end);
  /// D_WRITE maps: contents to the file, then fdatasync.
  Status sync(Buffer &buffer);

private:
  struct Transfer;
  /// The write that sinks have announced has happened, or has failed. Where it
  /// is to go on, what is behind the range may have gone to its place already.
  void endSinks(Buffer &buffer, AddressRange range, bool ok, uint64_t keepTo);
  bool extend(BackingFile &file, uint64_t bytes);
  Status syncData(BackingFile &file);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  HostSlabs &Slabs;
  StorageIo &Store;
  WriteBehind &Writes;
  HostMemory &Host;
  Contents &Data;
  Sinks &Announced;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_FILES_WRITEOUT_H
