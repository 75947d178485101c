//===- Stages.h - memory in which areas pass from place to place -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between device and file, an area is in pinned host memory. It is made at the
// start: while a host that is short of memory swaps to us, none may be had.
//
// Threads: all calls from any thread; take waits until somebody gives.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_NBD_STAGES_H
#define DRAGON_TOOLS_DRAGON_NBD_STAGES_H

#include "tools/dragon-nbd/AreaFile.h"
#include "tools/dragon-nbd/SpareMemory.h"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace dragon::nbd {

class Stages {
public:
  static StatusOr<std::unique_ptr<Stages>>
  create(SpareMemory &Memory, AreaFile &File, unsigned Count);
  ~Stages();

  /// One of them, while it lives.
  class Use {
  public:
    explicit Use(Stages &Of);
    ~Use();
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;
    void *data() const { return Stage.hostView; }

  private:
    Stages &Of;
    Physical Stage;
  };

private:
  Stages(SpareMemory &Memory, AreaFile &File) : Memory(Memory), File(File) {}

  SpareMemory &Memory;
  AreaFile &File;
  std::mutex Lock;
  std::condition_variable Given;
  std::vector<Physical> Free;
};

} // namespace dragon::nbd

#endif // DRAGON_TOOLS_DRAGON_NBD_STAGES_H
