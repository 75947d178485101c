//===- ManagedFixture.h - a Runtime over managed memory ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a driver that destroys what is discarded: what is lost too early shows in
// the results.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_CORE_MANAGEDFIXTURE_H
#define DRAGON_TEST_UNIT_SUPPORT_CORE_MANAGEDFIXTURE_H

#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/FakeCuda.h"

namespace dragon::test {

class ManagedFixture : public RuntimeFixture {
protected:
  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.strict = settings.poison = false;
    settings.hostMemory = 64 * MiB;
    for (const char *name : {"add", "scale", "iota", "stencil", "copyRest"})
      lower(name);
    lower("gather");
    kernels.find("gather")->handle.image.sliceCode = {};
  }
  void TearDown() override {
    RuntimeFixture::TearDown();
    EXPECT_EQ(fake.managedBytes, 0u);
  }

  /// Runs the kernel's blocks on the host, all or those of a slice.
  void lower(const char *name) {
    KernelInfo *info = kernels.find(name);
    const dragon_cpu_entry entry = info->handle.image.cpu->entry;
    const unsigned numArgs = info->record->NumArgs;
    auto run = [entry](unsigned first, unsigned end, unsigned whole,
                       void **args) {
      dragon_cpu_context context{};
      for (unsigned axis = 0; axis < 3; ++axis)
        context.ntid[axis] = context.nctaid[axis] = 1;
      context.ntid[0] = 1024;
      context.nctaid[0] = whole;
      for (context.ctaid[0] = first; context.ctaid[0] < end; ++context.ctaid[0])
        entry(&context, args);
    };
    functions.push_back(std::make_unique<FakeKernel>(
        FakeKernel{[run](const unsigned grid[3], void **args) {
          run(0, grid[0], grid[0], args);
        }}));
    info->handle.image.code = {functions.back().get()};
    functions.push_back(std::make_unique<FakeKernel>(
        FakeKernel{[run, numArgs](const unsigned grid[3], void **args) {
          const auto first = argument<uint32_t>(args, numArgs);
          run(first, first + grid[0], argument<uint32_t>(args, numArgs + 3),
              args);
        }}));
    info->handle.image.sliceCode = {functions.back().get()};
  }
  int32_t *words(uintptr_t address) {
    return reinterpret_cast<int32_t *>(address);
  }

  FakeCuda fake;
  std::vector<std::unique_ptr<FakeKernel>> functions;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_CORE_MANAGEDFIXTURE_H
