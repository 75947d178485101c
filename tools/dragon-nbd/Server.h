//===- Server.h - a block device and its neighbours -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Wires the store to the programs beside it. Two threads work for it:
//
//   the share's   gives areas back as soon as a program wants memory
//   the keeper    looks four times a second for what programs take that are not
//                 in the books, and, when nobody has wanted anything for a
//                 second, brings areas back to the device
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_NBD_SERVER_H
#define DRAGON_TOOLS_DRAGON_NBD_SERVER_H

#include "tools/dragon-nbd/AreaStore.h"
#include "tools/dragon-nbd/Parameters.h"

#include <chrono>
#include <condition_variable>
#include <thread>

namespace dragon::nbd {

class Server {
public:
  /// Opens what can be opened before the fork. `Tell` may be called from any
  /// thread.
  static StatusOr<std::unique_ptr<Server>> create(const Parameters &All,
                                                  Report Tell);
  /// After the fork.
  Status start();
  /// No thread runs any more. Writes the statistics.
  Status stop();
  ~Server();

  AreaStore &store() { return *Store; }
  bool flushesToFile() const { return All.FlushToFile; }

private:
  Server(const Parameters &All, Settings Own, Report Tell)
      : All(All), Own(std::move(Own)), Tell(std::move(Tell)) {}
  bool follow();
  void keep();
  bool isQuiet();
  std::string statistics() const;

  const Parameters All;
  Settings Own;
  const Report Tell;
  std::unique_ptr<AreaFile> File;
  std::unique_ptr<SpareMemory> Memory;
  std::unique_ptr<AreaStore> Store;
  std::mutex Lock;
  std::condition_variable Wake;
  std::chrono::steady_clock::time_point LastWanted;
  bool Ends = false;
  std::thread Keeper;
};

} // namespace dragon::nbd

#endif // DRAGON_TOOLS_DRAGON_NBD_SERVER_H
