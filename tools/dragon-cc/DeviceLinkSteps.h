//===- DeviceLinkSteps.h - the link of relocatable device code ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DeviceLinkSteps.cpp says which steps a unit with -rdc=true and the device
// link take.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_DEVICELINKSTEPS_H
#define DRAGON_TOOLS_DRAGON_CC_DEVICELINKSTEPS_H

#include "tools/dragon-cc/RelocatableInputs.h"
#include "tools/dragon-cc/StepList.h"

namespace dragon::driver {

/// The device link of a link.
class DeviceLink {
public:
  explicit DeviceLink(StepList &To) : To(To) {}

  /// Whether there is device code to link. The architectures that are asked for
  /// become those of the objects, if the user has given none.
  llvm::Expected<bool> isNeeded();
  /// Returns the objects with the linked code. `Objects`: of each input.
  Strings add(const std::vector<Strings> &Objects);

private:
  StepList &To;
  RelocatableInputs Relocatable;
};

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_DEVICELINKSTEPS_H
