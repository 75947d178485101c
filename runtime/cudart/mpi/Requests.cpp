//===- Requests.cpp - messages that are under way -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/mpi/Requests.h"

namespace dragon::mpi {

void Requests::add(Word request, Pending pending) {
  std::lock_guard<std::mutex> guard(Lock);
  Pendings.emplace(request, std::move(pending));
  Known = Pendings.size();
}

bool Requests::has(Word request) {
  if (Known.load(std::memory_order_acquire) == 0)
    return false;
  std::lock_guard<std::mutex> guard(Lock);
  return Pendings.count(request) != 0;
}

Status Requests::start(Word request) {
  std::lock_guard<std::mutex> guard(Lock);
  const auto found = Pendings.find(request);
  if (found == Pendings.end())
    return {};
  for (const Staged &staged : found->second.staged)
    DRAGON_TRY(staged.copyIn());
  return {};
}

Status Requests::complete(const Library &library, Word request,
                          const void *status) {
  std::unique_lock<std::mutex> guard(Lock);
  const auto found = Pendings.find(request);
  if (found == Pendings.end())
    return {};
  // Copies are made without the lock: other threads wait for other messages.
  decltype(Pendings)::node_type done;
  if (!found->second.persistent) {
    done = Pendings.extract(found);
    Known = Pendings.size();
    guard.unlock();
  }
  const Pending &pending = done ? done.mapped() : found->second;
  for (const Staged &staged : pending.staged)
    DRAGON_TRY(staged.copyOut(
        staged.wantsReceived() ? receivedBytes(library, status) : UINT64_MAX));
  return {};
}

void Requests::free(Word request) {
  std::lock_guard<std::mutex> guard(Lock);
  const auto found = Pendings.find(request);
  if (found == Pendings.end())
    return;
  Freed.push_back(std::move(found->second));
  Pendings.erase(found);
  Known = Pendings.size();
}

Requests &requests() {
  static auto *all = new Requests;
  return *all;
}

uint64_t receivedBytes(const Library &library, const void *status) {
  int cancelled = 0;
  if (library.calls().Test_cancelled(status, &cancelled) || cancelled)
    return 0;
  Count bytes = 0;
  if (library.calls().Get_elements_x(status, library.byteType(), &bytes) ||
      bytes < 0)
    return 0;
  return uint64_t(bytes);
}

} // namespace dragon::mpi
