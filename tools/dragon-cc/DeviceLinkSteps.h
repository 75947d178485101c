//===- DeviceLinkSteps.h - the link of relocatable device code ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device link takes the device code of all units with -rdc=true, and makes
// objects with the linked code of them. DeviceLinkSteps.cpp lists the steps.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_DEVICELINKSTEPS_H
#define DRAGON_TOOLS_DRAGON_CC_DEVICELINKSTEPS_H

#include "tools/dragon-cc/RelocatableInputs.h"
#include "tools/dragon-cc/StepList.h"

namespace dragon::driver {

/// The device link that belongs to a link, or that -dlink asks for.
class DeviceLink {
public:
  explicit DeviceLink(StepList &To) : To(To) {}

  /// Whether there is device code to link. If the user names no architectures,
  /// those of the objects become the ones that are asked for.
  llvm::Expected<bool> isNeeded();
  /// A file that was compiled with -flto, after isNeeded(); empty: there is
  /// none.
  const std::string &hostBitcode() const { return Relocatable.HostBitcode; }
  /// Adds the steps, and returns the objects with the linked code. `Objects`
  /// has the objects of each input.
  Strings add(const std::vector<Strings> &Objects);

private:
  StepList &To;
  RelocatableInputs Relocatable;
};

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_DEVICELINKSTEPS_H
