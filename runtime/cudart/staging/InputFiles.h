//===- InputFiles.h - files whose contents are read late --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A read that is deferred must give, later, what it would have given at once.
// So it is deferred only for a regular file that the descriptor cannot write,
// and that nothing else in this process can write either: no other descriptor,
// no shared writable mapping. That is looked up when the file is first seen;
// from then on the process's own open, fopen, truncate and their kin are
// watched (InterposeFiles.cpp), and who opens a file for writing first lets its
// contents be saved; so does who makes a child (InterposeProcess.cpp). What
// other processes do to the file is found out by its size and time of
// modification when it is read, and is an error then.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_STAGING_INPUTFILES_H
#define DRAGON_RUNTIME_CUDART_STAGING_INPUTFILES_H

#include "runtime/tier/FileTier.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace dragon {

/// Not thread-safe; StagingBuffers' lock protects it. Only mayHold() may be
/// called without it.
class InputFiles {
public:
  /// The file behind `fd`, for deferred reads; null if there must be none.
  std::shared_ptr<BackingFile> input(int fd);
  /// The file behind `fd`, to be written; null if it cannot be written at
  /// offsets of our choice with the effect of write().
  std::shared_ptr<BackingFile> output(int fd);

  /// False: nothing that was read from the file is deferred or mapped.
  static bool mayHold(dev_t device, ino_t inode);
  static bool mayHoldAny();
  void forget(dev_t device, ino_t inode);
  /// The inputs that somebody still refers to.
  std::vector<std::shared_ptr<BackingFile>> inputs() const;
  /// Over a fork.
  static void lockForFork();
  static void unlockAfterFork();

private:
  using Key = std::pair<dev_t, ino_t>;
  void dropDead();
  std::map<Key, std::weak_ptr<BackingFile>> Inputs;
  std::map<Key, std::weak_ptr<BackingFile>> Outputs;
};

/// A duplicate of `fd` with a high number: programs count on low ones.
int duplicateDescriptor(int fd);
std::string pathOfDescriptor(int fd);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_STAGING_INPUTFILES_H
