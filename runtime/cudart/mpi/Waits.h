//===- Waits.h - a program that waits for messages lends its memory -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a call of MPI waits, the program comes behind others for the memory of
// a device that is shared, as after dragon_yield(). Not at once: memory that
// goes and comes back costs more than a short wait, so a thread of ours looks
// for waits that last. It is not there where the device is not shared, and
// sleeps while no call waits.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MPI_WAITS_H
#define DRAGON_RUNTIME_CUDART_MPI_WAITS_H

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace dragon::mpi {

class Waits {
public:
  /// Calls `lend` for a wait that lasts.
  explicit Waits(std::function<void(const char *call)> lend);
  ~Waits();
  Waits(const Waits &) = delete;
  Waits &operator=(const Waits &) = delete;

  void begin(const char *call);
  void end();

private:
  void watch();

  const std::function<void(const char *)> Lend;
  std::mutex Lock;
  std::condition_variable Changed;
  unsigned Waiting = 0;  ///< calls that wait, of all threads
  uint64_t Begun = 0;    ///< waits so far
  const char *Call = ""; ///< the newest
  bool Asleep = false;   ///< the thread, until there is a wait
  bool Ends = false;
  std::thread Watcher;
};

/// While it lives the calling thread waits in this call of MPI.
class Waiting {
public:
  explicit Waiting(const char *call);
  ~Waiting();
  Waiting(const Waiting &) = delete;
  Waiting &operator=(const Waiting &) = delete;

private:
  Waits *const Of;
};

} // namespace dragon::mpi

#endif // DRAGON_RUNTIME_CUDART_MPI_WAITS_H
