//===- LinkNote.h - what crossed the link in a zone -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch that runs out of core brings in what it needs and makes room for it,
// with the lock that everybody who moves something has. So what the ledger has
// more at the end of its zone was moved for the launch. Without a trace there
// are no sums.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LINKNOTE_H
#define DRAGON_RUNTIME_LAUNCH_LINKNOTE_H

#include "runtime/base/Ledger.h"
#include "runtime/trace/Trace.h"

namespace dragon {

/// Ends before its zone.
class LinkNote {
public:
  LinkNote(TraceZone &zone, const Ledger &ledger) : Zone(zone), Books(ledger) {
    if (!Zone.recorded())
      return;
    Fetched = chunks(Direction::HostToDevice);
    WrittenBack = chunks(Direction::DeviceToHost);
  }
  ~LinkNote() {
    if (!Zone.recorded())
      return;
    Zone.note("fetched", chunks(Direction::HostToDevice) - Fetched);
    Zone.note("written back", chunks(Direction::DeviceToHost) - WrittenBack);
  }
  LinkNote(const LinkNote &) = delete;
  LinkNote &operator=(const LinkNote &) = delete;

private:
  /// Pages are counted when their kernels have ended, at some later time.
  uint64_t chunks(Direction direction) const {
    return Books.bytes(direction) - Books.bytes(direction, Cause::Paging);
  }

  TraceZone &Zone;
  const Ledger &Books;
  uint64_t Fetched = 0, WrittenBack = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LINKNOTE_H
