//===- FakeUvm.h - DRAGON's nvidia-uvm, for machines without it -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands in for the kernel behind SystemCalls, beside a FakeCuda whose managed
// memory it puts files under. It does what the patch of DRAGON's artifact does,
// with all pages faulting at once: a file is read when it is mapped, and written
// when its memory is freed. It writes down each call, with the bytes of its
// argument, and answers as it is told.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_DEVICE_FAKEUVM_H
#define DRAGON_TEST_UNIT_SUPPORT_DEVICE_FAKEUVM_H

#include "runtime/device/dragon/SystemCalls.h"
#include "runtime/device/dragon/UvmAbi.h"
#include "test/unit/support/device/FakeCuda.h"

#include <deque>

namespace dragon::test {

class FakeUvm : public SystemCalls {
public:
  explicit FakeUvm(FakeCuda &cuda);
  ~FakeUvm() override;

  // -- What there is
  struct Descriptor {
    std::string name, target;
    bool hasAddressSpace = true;
  };
  std::vector<Descriptor> descriptors = {{"0", "/dev/null"},
                                         {"7", "/dev/nvidia-uvm", true}};
  bool isPatched = true;
  bool knowsRanges = true; ///< the request ValidateVaRange
  int listError = 0;       ///< errno of list()
  int adviseError = 0, readAheadError = 0;

  /// Instead of what it would do, for the next calls of a request.
  struct Answer {
    int error = 0;                      ///< errno; ioctl() returns -1
    uint32_t status = uvm::NotAnswered; ///< else what it puts there
  };
  std::map<unsigned long, std::deque<Answer>> answers;

  // -- What it was asked
  std::vector<std::string> calls;
  std::vector<std::string> take();
  std::vector<unsigned char> argument; ///< of the last ioctl, as it came

  int list(const char *path, std::vector<std::string> &names) override;
  int readLink(const char *path, std::string &target) override;
  int ioctl(int fd, unsigned long request, void *argument) override;
  int adviseFile(int fd, int advice) override;
  int readAhead(int fd, size_t bytes) override;

private:
  struct File {
    int fd;
    size_t bytes;
    unsigned flags;
  };
  uint32_t validate(const uvm::VaRange &range) const;
  uint32_t initialise();
  uint32_t map(const uvm::Map &map);
  uint32_t remap(const uvm::Map &map);
  void write(CUdeviceptr address);

  FakeCuda &Cuda;
  bool Initialised = false;
  std::map<CUdeviceptr, File> Files;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_DEVICE_FAKEUVM_H
