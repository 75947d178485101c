//===- Parameters.cpp - what the server is told ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-nbd/Parameters.h"

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>
#include <sstream>
#include <string_view>

namespace dragon::nbd {

namespace {

constexpr uint64_t UsualArea = 2 << 20;
constexpr uint64_t LeastArea = 64 << 10;
/// Their books take some 200 bytes of host memory for each.
constexpr uint64_t MostAreas = 1 << 24;

bool setSize(std::optional<uint64_t> &To, const char *Value) {
  const int64_t Bytes = ::nbdkit_parse_size(Value);
  if (Bytes >= 0)
    To = uint64_t(Bytes);
  return Bytes >= 0;
}

bool setSwitch(bool &To, const char *Value) {
  const int Answer = ::nbdkit_parse_bool(Value);
  if (Answer >= 0)
    To = Answer;
  return Answer >= 0;
}

bool setFlush(Parameters &All, std::string_view Value) {
  if (Value != "device" && Value != "file") {
    ::nbdkit_error("flush=%s: must be device or file", Value.data());
    return false;
  }
  All.FlushToFile = Value == "file";
  return true;
}

bool setDevice(Parameters &All, std::string_view Value) {
  if (Value != "auto" && Value != "vmm" && Value != "cpu") {
    ::nbdkit_error("device=%s: must be auto, vmm or cpu", Value.data());
    return false;
  }
  All.Device = Value == "auto" ? "" : Value;
  return true;
}

bool setDirectories(Parameters &All, const char *Value) {
  All.Directories.clear();
  std::istringstream Names(Value);
  for (std::string Name; std::getline(Names, Name, ':');) {
    char *Path = Name.empty() ? nullptr : ::nbdkit_absolute_path(Name.c_str());
    if (Path)
      All.Directories.emplace_back(Path);
    ::free(Path);
  }
  if (All.Directories.empty())
    ::nbdkit_error("dir=%s: must be directories, separated by ':'", Value);
  return !All.Directories.empty();
}

} // namespace

const char *const ParametersHelp =
    "size=SIZE       (required) Size of the block device.\n"
    "hard=SIZE       Device memory it takes at most (default: what is there).\n"
    "soft=SIZE       The same while a program wants any (default: hard).\n"
    "dir=DIR[:DIR]   Where the backing file is made (default: "
    "DRAGON_SWAP_DIR,\n"
    "                $TMPDIR, else /var/tmp).\n"
    "device=DEVICE   auto, vmm (a GPU) or cpu (default: DRAGON_BACKEND).\n"
    "area=SIZE       Unit of memory (default: DRAGON_CHUNK_SIZE, else 2M).\n"
    "keep=SIZE       Device memory left free for programs that do not share.\n"
    "reserve=BOOL    An area has its place in the file from the beginning, so\n"
    "                that it can always leave (default: true).\n"
    "flush=WHERE     device: a flush waits for nothing; file: what is flushed\n"
    "                survives the loss of the GPU (default: device).\n"
    "statsfile=FILE  Statistics at the end, as JSON.";

uint64_t Parameters::areaBytes(const Settings &Settings) const {
  return Area.value_or(Settings.chunkBytes.value_or(UsualArea));
}

bool setParameter(Parameters &All, const char *Key, const char *Value) {
  const std::string_view Name = Key;
  if (Name == "size") {
    std::optional<uint64_t> Size;
    if (!setSize(Size, Value))
      return false;
    All.Size = *Size;
    return true;
  }
  if (Name == "hard")
    return setSize(All.Limits.Hard, Value);
  if (Name == "soft")
    return setSize(All.Limits.Soft, Value);
  if (Name == "keep")
    return setSize(All.Limits.Keep, Value);
  if (Name == "area")
    return setSize(All.Area, Value);
  if (Name == "reserve")
    return setSwitch(All.ReserveFile, Value);
  if (Name == "flush")
    return setFlush(All, Value);
  if (Name == "device")
    return setDevice(All, Value);
  if (Name == "dir")
    return setDirectories(All, Value);
  if (Name == "statsfile") {
    char *Path = ::nbdkit_absolute_path(Value);
    if (Path)
      All.StatisticsFile = Path;
    ::free(Path);
    return !All.StatisticsFile.empty();
  }
  ::nbdkit_error("unknown parameter '%s'; nbdkit dragon --help lists them",
                 Key);
  return false;
}

bool checkParameters(const Parameters &All) {
  if (All.Size == 0) {
    ::nbdkit_error("size=SIZE must be given, and not be 0");
    return false;
  }
  if (All.Area && (*All.Area < LeastArea || *All.Area % LeastArea)) {
    ::nbdkit_error("area=%llu: must be a multiple of 64K",
                   (unsigned long long)*All.Area);
    return false;
  }
  if (All.Limits.Soft && All.Limits.Hard &&
      *All.Limits.Soft > *All.Limits.Hard) {
    ::nbdkit_error("soft=%llu is more than hard=%llu",
                   (unsigned long long)*All.Limits.Soft,
                   (unsigned long long)*All.Limits.Hard);
    return false;
  }
  return true;
}

StatusOr<Settings> settingsFor(const Parameters &All) {
  DRAGON_ASSIGN(Settings Own, Settings::fromEnvironment());
  if (!All.Device.empty())
    Own.backend = All.Device;
  if (!All.Directories.empty())
    Own.swapDirs = All.Directories;
  // The cpu device's granularity follows from it.
  Own.chunkBytes = All.areaBytes(Own);
  if (All.Size > *Own.chunkBytes * MostAreas)
    return Status::error(DRAGON_ERROR_SETTING,
                         "size={}: more than {} areas of {} bytes; raise area",
                         All.Size, MostAreas, *Own.chunkBytes);
  return Own;
}

} // namespace dragon::nbd
