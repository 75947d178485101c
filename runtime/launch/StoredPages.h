//===- StoredPages.h - pages of storage for kernels that wait ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a kernel that fetches pages (PageCache.h) runs, its threads may ask for
// pages of chunks that are in storage alone (dragon/Paging.h, PageRequest). A
// few threads of the host, each with requests of its own, read what was asked
// for, all at once, into memory that the device reads. What the kernel has
// written of such pages goes to storage behind each slice, page by page: to the
// chunk's place in swap or in its sink, which it gets as a whole before, if it
// has none.
//
// With the runtime's lock held, but for these threads: they read chunks that
// nobody changes from begin() to end().
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_STOREDPAGES_H
#define DRAGON_RUNTIME_LAUNCH_STOREDPAGES_H

#include "dragon/Paging.h"
#include "runtime/launch/PageCache.h"
#include "runtime/memory/HostMemory.h"

#include <atomic>
#include <list>
#include <thread>
#include <unordered_map>
#include <vector>

namespace dragon {

class StoredPages {
public:
  StoredPages(Context &context, HostSlabs &slabs, HostMemory &host,
              StorageIo &store)
      : Ctx(context), Slabs(slabs), Host(host), Store(store) {}
  ~StoredPages() { stop(); }
  StoredPages(const StoredPages &) = delete;
  StoredPages &operator=(const StoredPages &) = delete;

  /// Takes memory for requests, before others take what there is of the host's.
  Status make();
  /// Threads of the device may ask for pages of these chunks from now on.
  Status begin(std::vector<Chunk *> chunks);
  /// The address for PageControl::Requests; 0: nobody may ask.
  uint64_t address() const;
  /// A page that needs a frame found none since this was asked last: the slice
  /// is not complete.
  bool outOfFrames();
  /// Behind a slice, while none runs: what it wrote of the chunks' pages is
  /// stored. The frames still have it.
  Status store(const PageCache &pages, std::span<const StoredFrame> written);
  /// No thread of the device asks any more. The first failure to read what one
  /// had asked for: it got zeros instead.
  Status end();

private:
  /// Who serves requests first, first + step, ..; what it holds is its thread's
  /// until that has ended.
  struct Server {
    unsigned first, step;
    std::thread thread = {};
    Status failed = {};
    ReadPlan read = {}; ///< what it has read: for the books
    uint64_t readTime = 0;
  };

  PageRequests &requests() const;
  char *pageOf(unsigned slot) const;
  void serve(Server &server);
  /// What the server has been asked for; false: nothing.
  bool answer(Server &server);
  /// The chunk that has the address; null: none of those.
  Chunk *chunkAt(uintptr_t address) const;
  void stop();
  /// All of the chunk goes to a place of its own.
  Status storeWhole(Chunk &chunk);
  /// It has one, in which pages can be written.
  Status makeWritable(Chunk &chunk);

  Context &Ctx;
  HostSlabs &Slabs;
  HostMemory &Host;
  StorageIo &Store;

  Physical Memory;             ///< PageRequests, and their pages
  std::vector<Chunk *> Chunks; ///< by address
  /// Of those of which pages were written: where.
  std::unordered_map<const Chunk *, Piece> Places;
  std::list<Server> Servers;
  std::atomic<bool> Stopping = false;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_STOREDPAGES_H
