//===- Execute.h - runs the steps -------------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place that starts programs. Steps run in order until one fails; its
// exit status is that of dragon-cc and its outputs are removed. SIGINT, SIGTERM
// and SIGHUP end the running step, the temporary folder and the unfinished
// outputs are removed, and dragon-cc ends by the same signal.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_EXECUTE_H
#define DRAGON_TOOLS_DRAGON_CC_EXECUTE_H

#include "tools/dragon-cc/Steps.h"

namespace dragon::driver {

/// A folder that goes with the object that owns it.
class TempFolder {
public:
  /// Only a name, for -###.
  static TempFolder imagined();
  static llvm::Expected<TempFolder> create();
  /// The user's own; stays.
  static llvm::Expected<TempFolder> kept(llvm::StringRef Path);

  TempFolder(TempFolder &&Other) noexcept;
  TempFolder &operator=(TempFolder &&) = delete;
  ~TempFolder();
  const std::string &path() const { return Path; }

private:
  TempFolder(std::string Path, bool Owned)
      : Path(std::move(Path)), Owned(Owned) {}
  std::string Path;
  bool Owned;
};

/// Returns the exit status for main.
int execute(const Plan &Plan, bool Verbose, TempFolder Temp);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_EXECUTE_H
