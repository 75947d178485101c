//===- FakeUvm.cpp - DRAGON's nvidia-uvm, for machines without it ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/device/FakeUvm.h"

#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

namespace dragon::test {

FakeUvm::FakeUvm(FakeCuda &cuda) : Cuda(cuda) {
  cuda.beforeFree = [this](CUdeviceptr address) { write(address); };
}

FakeUvm::~FakeUvm() {
  Cuda.beforeFree = nullptr;
  EXPECT_TRUE(Files.empty()) << "the driver still has files open";
}

std::vector<std::string> FakeUvm::take() {
  std::vector<std::string> result;
  result.swap(calls);
  return result;
}

int FakeUvm::list(const char *path, std::vector<std::string> &names) {
  EXPECT_STREQ(path, "/proc/self/fd");
  if (listError) {
    errno = listError;
    return -1;
  }
  for (const Descriptor &descriptor : descriptors)
    names.push_back(descriptor.name);
  return 0;
}

int FakeUvm::readLink(const char *path, std::string &target) {
  for (const Descriptor &descriptor : descriptors)
    if (path == "/proc/self/fd/" + descriptor.name &&
        !descriptor.target.empty()) {
      target = descriptor.target;
      return 0;
    }
  errno = ENOENT;
  return -1;
}

int FakeUvm::adviseFile(int, int advice) {
  calls.push_back(fmt::format("fadvise({})", advice));
  return adviseError;
}

int FakeUvm::readAhead(int, size_t bytes) {
  calls.push_back(fmt::format("readahead({})", bytes));
  errno = readAheadError;
  return readAheadError ? -1 : 0;
}

int FakeUvm::ioctl(int fd, unsigned long request, void *data) {
  std::string text;
  size_t bytes = 0;
  uint32_t *status = nullptr;
  const auto *range = static_cast<uvm::VaRange *>(data);
  const auto *init = static_cast<uvm::Init *>(data);
  const auto *file = static_cast<uvm::Map *>(data);
  switch (request) {
  case 72:
    text = fmt::format("validate {}+{:#x}", Cuda.nameOf(range->base),
                       range->length);
    bytes = sizeof *range;
    status = &static_cast<uvm::VaRange *>(data)->status;
    break;
  case 1000:
    text = fmt::format("init {} {} {:#x}", init->blocksPerReclaim,
                       init->reservedPages, init->flags);
    bytes = sizeof *init;
    status = &static_cast<uvm::Init *>(data)->status;
    break;
  case 1001:
  case 1004:
    text = fmt::format("{} {} {} {:#x}", request == 1001 ? "map" : "remap",
                       Cuda.nameOf(file->address), file->bytes, file->flags);
    bytes = sizeof *file;
    status = &static_cast<uvm::Map *>(data)->status;
    break;
  default:
    ADD_FAILURE() << "ioctl " << request;
    errno = EINVAL;
    return -1;
  }
  calls.push_back(fmt::format("{}: {}", fd, text));
  argument.assign(static_cast<unsigned char *>(data),
                  static_cast<unsigned char *>(data) + bytes);
  if (auto &next = answers[request]; !next.empty()) {
    const Answer answer = next.front();
    next.pop_front();
    if (answer.error) {
      errno = answer.error;
      return -1;
    }
    *status = answer.status;
    return 0;
  }
  if (request >= 1000 ? !isPatched : !knowsRanges) {
    errno = EINVAL;
    return -1;
  }
  bool hasAddressSpace = false;
  for (const Descriptor &descriptor : descriptors)
    if (descriptor.name == std::to_string(fd))
      hasAddressSpace = descriptor.hasAddressSpace;
  if (!hasAddressSpace)
    *status = uvm::IllegalAction;
  else if (request == 72)
    *status = validate(*range);
  else if (request == 1000)
    *status = initialise();
  else
    *status = request == 1001 ? map(*file) : remap(*file);
  return 0;
}

uint32_t FakeUvm::validate(const uvm::VaRange &range) const {
  auto it = Cuda.managed.find(range.base);
  return it != Cuda.managed.end() && it->second.bytes == range.length
             ? uvm::Ok
             : uvm::InvalidAddress;
}

uint32_t FakeUvm::initialise() {
  if (Initialised)
    return uvm::InvalidOperation;
  Initialised = true;
  return uvm::Ok;
}

uint32_t FakeUvm::map(const uvm::Map &map) {
  if (!Initialised)
    return uvm::InvalidOperation;
  if (!Cuda.managed.count(map.address))
    return uvm::OperatingSystem;
  const int fd = ::dup(map.file);
  if (fd < 0)
    return uvm::OperatingSystem;
  auto *memory = reinterpret_cast<char *>(map.address);
  if ((map.flags & uvm::Read) && !(map.flags & uvm::Volatile))
    EXPECT_EQ(::pread(fd, memory, map.bytes, 0), ssize_t(map.bytes));
  Files[map.address] = {fd, map.bytes, map.flags};
  return uvm::Ok;
}

uint32_t FakeUvm::remap(const uvm::Map &map) {
  if (!Initialised)
    return uvm::InvalidOperation;
  auto it = Files.find(map.address);
  if (it == Files.end())
    return uvm::OperatingSystem;
  it->second.flags = map.flags;
  return uvm::Ok;
}

void FakeUvm::write(CUdeviceptr address) {
  auto it = Files.find(address);
  if (it == Files.end())
    return;
  const File file = it->second;
  Files.erase(it);
  calls.push_back("flush " + Cuda.nameOf(address));
  if ((file.flags & uvm::Write) && !(file.flags & uvm::Volatile))
    EXPECT_EQ(
        ::pwrite(file.fd, reinterpret_cast<void *>(address), file.bytes, 0),
        ssize_t(file.bytes));
  ::close(file.fd);
}

} // namespace dragon::test
