//===- AccessRecorder.cpp - accesses of kernels, by steps -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/AccessRecorder.h"
#include "dragon/CompilerABI.h"

#include <utility>

namespace dragon::oracle {

void AccessRecorder::addBuffer(AddressRange range) {
  Buffers += HalfOpen<uintptr_t>(range.begin, range.end);
  Recent.fill({});
}

void AccessRecorder::removeBuffer(AddressRange range) {
  Buffers -= HalfOpen<uintptr_t>(range.begin, range.end);
  Recent.fill({});
}

bool AccessRecorder::isInBuffer(uint64_t page) const {
  const uintptr_t begin = page * PageBytes;
  return overlaps(Buffers, begin, begin + PageBytes);
}

size_t AccessRecorder::findIndex(uint64_t page) {
  size_t index = NoIndex;
  if (auto found = Index.find(page); found != Index.end()) {
    index = found->second;
  } else if (isInBuffer(page)) {
    index = Accesses.size();
    Index.emplace(page, index);
    Accesses.push_back({page, {}, {}});
    if (InWave.insert(page).second)
      Wave.push_back(page);
  }
  Recent[slotOfPage<Slots>(page)] = {page, index};
  return index;
}

void AccessRecorder::blockBegins(uint64_t threads) {
  if (Threads && Threads + threads > ThreadsPerWave)
    endWave();
  Threads += threads;
}

void AccessRecorder::access(uintptr_t address, uint64_t bytes, uint32_t kind) {
  forEachPage(address, address + bytes,
              [&](uint64_t page, size_t begin, size_t end) {
                const size_t index = indexOf(page);
                if (index == NoIndex)
                  return;
                PageAccess &access = Accesses[index];
                const bool reads = kind & DRAGON_CPU_READ;
                Bytes += access.add(begin, end, reads, kind & DRAGON_CPU_WRITE);
                if (reads && !access.firstReadTold) {
                  access.firstReadTold = true;
                  Consume.firstRead(page * PageBytes + begin);
                }
              });
  if (Bytes >= BytesPerStep)
    endStep();
}

void AccessRecorder::endStep() {
  if (!Accesses.empty())
    Consume.step(Accesses);
  Accesses.clear();
  Index.clear();
  Recent.fill({});
  Bytes = 0;
}

void AccessRecorder::endWave() {
  endStep(); // so that it sees each page again
  if (!Wave.empty())
    Consume.wave(Wave);
  Wave.clear();
  InWave.clear();
  Threads = 0;
}

void AccessRecorder::finish() { endWave(); }

} // namespace dragon::oracle
