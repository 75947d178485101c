//===- DriverMoved.h - buffers that the driver moves by itself --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a device that migrates (managed memory) the host can touch a buffer
// without anybody's hearing of it. So what a program allocates to touch it from
// both sides is left to the driver, as CUDA does: in the runtime's books all of
// it is on the device, changed, and stays there (Buffer::kept), it takes
// nothing of the budget and no launch has to bring it in. What the compiler and
// the program say of it becomes hints to the driver:
//
//   in front of a launch   a prefetch of what it touches, where the contents
//   are
//                          likely to be elsewhere: the first time, after a
//                          discard, after a prefetch to the host. What the
//                          launch overwrites is discarded before
//                          (launch/DriverHints.h).
//   discard                a discard; those that the compiler found only where
//   the
//                          driver may run out of memory
//   dragon_prefetch, dragon_advise and CUDA's own: the same
//
// Maps of files are read when they are made, and written as a whole; where the
// driver itself maps files (DRAGON's) they are its own, as far as it can: from
// the file's first byte on, and written when they are unmapped. What it cannot
// do is refused, so that nothing is lost: dragon_sync, and launches that may
// write a map without D_WRITE, of which it drops what it evicts.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_DRIVERMOVED_H
#define DRAGON_RUNTIME_MEMORY_DRIVERMOVED_H

#include "dragon/dragon.h"
#include "runtime/memory/AddressSpace.h"
#include "runtime/memory/Context.h"

#include <memory>
#include <string_view>

namespace dragon {

class DriverMoved {
public:
  DriverMoved(Context &context, AddressSpace &space)
      : Ctx(context), Space(space) {}

  /// The driver is to move the new buffer.
  void takeOver(Buffer &buffer);
  /// The chunk's contents are likely to be elsewhere.
  static void setAway(Chunk &chunk, bool away);
  Status discard(Buffer &buffer, const AddressRange &range, Queue queue);
  Status prefetch(Buffer &buffer, const AddressRange &range, Place place,
                  Queue queue);
  Status advise(const AddressRange &range, dragon_advice advice);
  /// The driver is to read and write the file under the buffer, from its first
  /// byte on. False: it cannot, which is the runtime's to do then.
  StatusOr<bool> mapFile(Buffer &buffer,
                         const std::shared_ptr<BackingFile> &file,
                         int64_t offset, unsigned flags);
  Status remapFile(Buffer &buffer, unsigned flags);
  /// To the driver, the buffer is a file that is only read.
  static bool isReadOnly(const Buffer &buffer);
  /// What the driver would lose, unseen, is refused.
  static Status checkWritable(const Buffer &buffer, std::string_view what);

private:
  Context &Ctx;
  AddressSpace &Space;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_DRIVERMOVED_H
