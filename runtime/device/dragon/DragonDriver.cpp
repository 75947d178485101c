//===- DragonDriver.cpp - DRAGON's nvidia-uvm, by its ioctls --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/dragon/DragonDriver.h"

#include "dragon/dragon.h"
#include "runtime/trace/Log.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <optional>

namespace dragon {

namespace {

constexpr char Descriptors[] = "/proc/self/fd";
/// As in the artifact's library.
constexpr uint64_t BlocksPerReclaim = 16;

uint16_t flagsOf(unsigned flags) {
  uint16_t result = 0;
  for (auto [ours, theirs] : {std::pair{unsigned(D_READ), uvm::Read},
                              {D_WRITE, uvm::Write},
                              {D_VOLATILE, uvm::Volatile},
                              {MapHostBuffer, uvm::UseHostBuffer}})
    result |= flags & ours ? theirs : 0;
  return result;
}

std::optional<int> numberOf(const std::string &name) {
  int number = 0;
  const char *end = name.data() + name.size();
  auto [rest, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || rest != end)
    return std::nullopt;
  return number;
}

/// What an unpatched driver says to numbers that it does not know.
bool isUnknownRequest(int error) { return error == EINVAL || error == ENOTTY; }

const char *cureOf(uint32_t status) {
  switch (status) {
  case uvm::InvalidOperation:
    return " (the driver was not set up)";
  case uvm::OperatingSystem:
    return " (no managed memory begins there, or the file is not open)";
  case uvm::IllegalAction:
    return " (a descriptor without an address space)";
  default:
    return "";
  }
}

} // namespace

std::string nameOfNvStatus(uint32_t status) {
  switch (status) {
  case uvm::Ok:
    return "NV_OK";
  case uvm::IllegalAction:
    return "NV_ERR_ILLEGAL_ACTION";
  case uvm::InsufficientResources:
    return "NV_ERR_INSUFFICIENT_RESOURCES";
  case uvm::InvalidAddress:
    return "NV_ERR_INVALID_ADDRESS";
  case uvm::InvalidArgument:
    return "NV_ERR_INVALID_ARGUMENT";
  case uvm::InvalidDevice:
    return "NV_ERR_INVALID_DEVICE";
  case uvm::InvalidOperation:
    return "NV_ERR_INVALID_OPERATION";
  case uvm::NoMemory:
    return "NV_ERR_NO_MEMORY";
  case uvm::NotSupported:
    return "NV_ERR_NOT_SUPPORTED";
  case uvm::OperatingSystem:
    return "NV_ERR_OPERATING_SYSTEM";
  case uvm::NothingToDo:
    return "NV_WARN_NOTHING_TO_DO";
  default:
    return fmt::format("NV_STATUS {:#x}", status);
  }
}

template <typename Argument>
Status DragonDriver::call(uvm::Request request, Argument &argument,
                          const char *name, const std::string &doing,
                          int *error) {
  argument.status = uvm::NotAnswered;
  if (Calls.ioctl(Fd, request, &argument) != 0) {
    const int why = errno;
    if (error)
      *error = why;
    return Status::error(DRAGON_ERROR_DEVICE, "{}: {} ({}): {}", doing, name,
                         unsigned(request), std::strerror(why));
  }
  if (argument.status == uvm::NotAnswered)
    return Status::error(DRAGON_ERROR_DEVICE,
                         "{}: {} ({}): the driver has not answered", doing,
                         name, unsigned(request));
  if (argument.status == uvm::Ok)
    return {};
  const bool noMemory = argument.status == uvm::NoMemory ||
                        argument.status == uvm::InsufficientResources;
  return Status::error(
      noMemory ? DRAGON_ERROR_OUT_OF_MEMORY : DRAGON_ERROR_DEVICE,
      "{}: {} ({}): {}{}", doing, name, unsigned(request),
      nameOfNvStatus(argument.status), cureOf(argument.status));
}

Status DragonDriver::open(const AddressRange &range, const Settings &settings) {
  Ahead = settings.readahead;
  DRAGON_TRY(find(range));
  return initialise(settings);
}

Status DragonDriver::find(const AddressRange &range) {
  std::vector<std::string> names;
  if (Calls.list(Descriptors, names) != 0)
    return Status::error(DRAGON_ERROR_UNSUPPORTED, "cannot read {}: {}",
                         Descriptors, std::strerror(errno));
  struct Candidate {
    int fd;
    std::string answer;
    bool refuses; ///< it has no address space
  };
  std::vector<Candidate> candidates;
  for (const std::string &name : names) {
    const std::optional<int> fd = numberOf(name);
    std::string target;
    const std::string path = fmt::format("{}/{}", Descriptors, name);
    // One that was closed meanwhile is not the one.
    if (!fd || Calls.readLink(path.c_str(), target) != 0 || target != uvm::Path)
      continue;
    uvm::VaRange question{range.begin, range.end - range.begin,
                          uvm::NotAnswered};
    if (Calls.ioctl(*fd, uvm::ValidateVaRange, &question) != 0) {
      candidates.push_back({*fd, std::strerror(errno), false});
      continue;
    }
    if (question.status == uvm::Ok) {
      Fd = *fd;
      return {};
    }
    candidates.push_back({*fd, nameOfNvStatus(question.status),
                          question.status == uvm::IllegalAction});
  }
  if (candidates.empty())
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "no descriptor of this process is {}", uvm::Path);
  // Old drivers have one, and may not know the question.
  if (candidates.size() == 1 && !candidates.front().refuses) {
    Fd = candidates.front().fd;
    log(LogLevel::Info, "descriptor {} is the only one of {} ({})", Fd,
        uvm::Path, candidates.front().answer);
    return {};
  }
  std::string answers;
  for (const Candidate &candidate : candidates)
    answers += fmt::format("{}descriptor {}: {}", answers.empty() ? "" : ", ",
                           candidate.fd, candidate.answer);
  return Status::error(DRAGON_ERROR_UNSUPPORTED,
                       "no descriptor of {} knows this process's managed "
                       "memory: {}",
                       uvm::Path, answers);
}

Status DragonDriver::initialise(const Settings &settings) {
  uvm::Init request{};
  request.blocksPerReclaim = BlocksPerReclaim;
  request.reservedPages = settings.reservedPages;
  request.flags = uint16_t((settings.enableReadCache ? uvm::ReadCache : 0) |
                           (settings.enableLazyWrite ? uvm::LazyWrite : 0) |
                           (settings.enableAioRead ? uvm::AioRead : 0) |
                           (settings.enableAioWrite ? uvm::AioWrite : 0));
  int error = 0;
  Status status = call(uvm::DragonInit, request, "DRAGON_IOCTL_INIT",
                       "setting up DRAGON's driver", &error);
  if (request.status == uvm::InvalidOperation) {
    log(LogLevel::Info, "DRAGON's driver was set up in this process before; "
                        "its settings stay");
    return {};
  }
  if (isUnknownRequest(error))
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "the nvidia-uvm that is loaded is not DRAGON's: it "
                         "does not know the ioctl {}",
                         unsigned(uvm::DragonInit));
  return status;
}

Status DragonDriver::map(const DriverFile &file) {
  if ((file.flags & D_READ) && !(file.flags & D_VOLATILE)) {
    const int advice = Ahead == Readahead::Aggressive ? POSIX_FADV_SEQUENTIAL
                       : Ahead == Readahead::Disabled ? POSIX_FADV_RANDOM
                                                      : POSIX_FADV_NORMAL;
    // Hints: the file is read without them, too.
    if (const int error = Calls.adviseFile(file.descriptor, advice))
      log(LogLevel::Info, "posix_fadvise: {}", std::strerror(error));
    if (Ahead == Readahead::Aggressive &&
        Calls.readAhead(file.descriptor, file.bytes) != 0)
      log(LogLevel::Info, "readahead: {}", std::strerror(errno));
  }
  uvm::Map request{};
  request.file = file.descriptor;
  request.address = file.base;
  request.bytes = file.bytes;
  request.flags = flagsOf(file.flags);
  return call(uvm::DragonMap, request, "DRAGON_IOCTL_MAP",
              fmt::format("mapping {} bytes at {:#x}", file.bytes, file.base));
}

Status DragonDriver::remap(uintptr_t base, unsigned flags) {
  uvm::Map request{};
  request.file = -1;
  request.address = base;
  request.flags = flagsOf(flags);
  return call(uvm::DragonRemap, request, "DRAGON_IOCTL_REMAP",
              fmt::format("remapping {:#x}", base));
}

} // namespace dragon
