//===- DeviceUnits.h - relocatable device code in objects -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An object compiled with -rdc=true has, in the section .llvm.offloading, the
// device code of its unit: one image of bitcode for each architecture, from
// before any optimisation, in LLVM's container for such images. Each image
// carries the name by which the unit's host code asks for its kernels:
//
//   b.o:  image(arch=sm_90, dragon-unit=1f0c..), host code that calls
//         __cudaRegisterLinkedBinary_1f0c.. when the program starts
//
// That function is made by the device link, and an object which defines it has
// been through one. `ld -r` of two objects gives one with two units.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_DEVICE_LINK_DEVICEUNITS_H
#define DRAGON_TOOLS_DRAGON_DEVICE_LINK_DEVICEUNITS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace dragon::devicelink {

/// Keys of an image in the container.
inline constexpr llvm::StringLiteral UnitKey = "dragon-unit";
inline constexpr llvm::StringLiteral PtxKey = "dragon-ptx";

/// The host code of a unit calls this and its id, see
/// runtime/cudart/modules/ModuleAbi.
inline constexpr llvm::StringLiteral RegisterPrefix =
    "__cudaRegisterLinkedBinary_";

struct DeviceImage {
  std::string Arch; ///< sm_90
  bool Ptx = false; ///< PTX was asked for, too
  std::unique_ptr<llvm::MemoryBuffer> Bitcode;
};

/// Units of objects are always linked. Those of archives when another refers to
/// them, or, where nobody knows what the host's linker will take, if they fit.
enum class Inclusion { Always, IfNeeded, IfItFits };

struct DeviceUnit {
  std::string Name; ///< for messages: "b.o", "libx.a(b.o)"
  std::string Id;
  std::string File;    ///< the object or archive, by realPath()
  uint64_t Offset = 0; ///< of the archive's member
  Inclusion Include = Inclusion::Always;
  std::vector<DeviceImage> Images;

  const DeviceImage *image(llvm::StringRef Arch) const;
};

struct DeviceCode {
  std::vector<DeviceUnit> Units;
  /// Ids of units that have been linked: their functions are defined here.
  std::vector<std::string> Linked;
  /// Ids of units whose functions an object calls. It is one of them.
  std::vector<std::string> Called;
  bool HostBitcode = false; ///< an object has been compiled with -flto
};

/// Reads an object or an archive. Files of other kinds, such as shared objects
/// and linker scripts, have no device code.
llvm::Expected<DeviceCode> readDeviceCode(llvm::StringRef Path);

/// The error names the file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::StringRef Path);

/// A member of an archive, which lies within it.
llvm::Expected<llvm::MemoryBufferRef>
contentOf(const llvm::object::Archive::Child &Member);

/// A file's name, whichever way it is given.
std::string realPath(llvm::StringRef Path);

/// Reads several files: each unit once, without those that have been linked.
llvm::Expected<std::vector<DeviceUnit>>
readUnits(llvm::ArrayRef<std::string> Paths);

} // namespace dragon::devicelink

#endif // DRAGON_TOOLS_DRAGON_DEVICE_LINK_DEVICEUNITS_H
