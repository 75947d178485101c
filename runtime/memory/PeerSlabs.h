//===- PeerSlabs.h - slabs in the memory of other devices -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tier between the device and host memory: spare memory of the machine's
// other devices, which copies reach by the link between the two, several times
// faster than the host's (NVLink: 397 GB/s each way, where PCIe gives 55). What
// leaves the device goes there first, and to the host when no peer has room.
//
// A chunk's slab there takes the place of its slab in host memory
// (Chunk::host), with one difference: the host cannot touch it. Who is about to
// touch it calls HostMemory::bringHome() before; who copies by the device takes
// Physical::copyView(). Buffers that the host reaches by faults have none.
//
// Others come first: programs that share a peer (runtime/share) have its memory
// when they want it, and HostMemory::leavePeer() brings the contents to the
// host.
//
// Source: GAME's spare memory of one GPU as swap, here of one program for
// another GPU's data; "peer" is CUDA's word (cuMemSetAccess for memory of
// another device).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_PEERSLABS_H
#define DRAGON_RUNTIME_MEMORY_PEERSLABS_H

#include "runtime/memory/Context.h"
#include "runtime/tier/SlabPool.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace dragon {

class PeerSlabs {
public:
  explicit PeerSlabs(Context &context) : Ctx(context) {}

  ~PeerSlabs() { stop(); }
  /// Asks the device what its peers have. `follow` is called when a peer's
  /// limit() is another one; its thread holds no lock then, and calls again if
  /// it returns false.
  void start(const std::function<bool(unsigned peer)> &follow = nullptr);
  /// No more calls.
  void stop();
  bool any() const { return !Pools.empty(); }
  /// Kernels reach what is there at the rate of the link between GPUs, and not
  /// at that of the host's.
  bool areNear() const;
  /// Of all peers.
  uint64_t budget() const;
  uint64_t used() const;
  /// The most that there ever was, of each peer's summed.
  uint64_t most() const;
  bool hasRoom(size_t bytes) const;
  /// What other programs leave of the peer now.
  uint64_t limit(unsigned peer);
  /// From the peer that has the most room. None: no peer has.
  std::optional<Physical> take(size_t bytes);
  void give(const Physical &slab);
  /// A peer's slabs are no more than that from now on; what nobody uses goes
  /// back. False: chunks use more, and have to leave.
  bool follow(unsigned peer, uint64_t bytes);

private:
  struct Pool {
    unsigned peer;
    uint64_t most; ///< bytes, if no other program wants any
    std::unique_ptr<DeviceShare> share; ///< null: takes no part
    std::unique_ptr<SlabPool> slabs;
  };
  std::unique_ptr<DeviceShare> join(unsigned peer, uint64_t spare);
  Pool *roomiest(size_t bytes);

  Context &Ctx;
  std::vector<Pool> Pools;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_PEERSLABS_H
