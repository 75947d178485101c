//===- LaunchTest.cpp - blocks of kernels on the host processor -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/device/CpuKernels.h"

#include <atomic>
#include <set>
#include <vector>

using namespace dragon;

namespace {

TEST(Launch, RunsEveryThreadOfEveryBlockOnce) {
  auto device = makeCpu(smallSettings());
  for (bool fibers : {false, true}) {
    Shape shape{{3, 4, 2}, {5, 3, 2}};
    std::vector<std::atomic<int>> seen(3 * 4 * 2 * 5 * 3 * 2);
    Status status = launchBody(
        *device, "count", fibers, shape, [&](dragon_cpu_context *ctx) {
          unsigned block =
              ctx->ctaid[0] +
              ctx->nctaid[0] * (ctx->ctaid[1] + ctx->nctaid[1] * ctx->ctaid[2]);
          unsigned thread =
              ctx->tid[0] +
              ctx->ntid[0] * (ctx->tid[1] + ctx->ntid[1] * ctx->tid[2]);
          ++seen[block * 30 + thread];
        });
    ASSERT_TRUE(status.ok()) << status.message();
    for (const auto &count : seen)
      EXPECT_EQ(count, 1);
  }
}

TEST(Launch, RunsOnlyTheBoxAndSaysTheWholeGrid) {
  auto device = makeCpu(smallSettings());
  std::mutex lock;
  std::set<std::pair<uint32_t, uint32_t>> blocks;
  ThreadBody body = [&](dragon_cpu_context *ctx) {
    std::lock_guard<std::mutex> guard(lock);
    EXPECT_EQ(ctx->nctaid[0], 10u);
    EXPECT_EQ(ctx->nctaid[1], 7u);
    blocks.insert({ctx->ctaid[0], ctx->ctaid[1]});
  };
  dragon_cpu_kernel kernel{"box", runInLoop, 0, 0};
  KernelHandle handle{{"box", &kernel, {}, {}}};
  void *args[1] = {&body};
  LaunchRequest request{};
  request.kernel = &handle;
  request.kernelName = "box";
  request.args = args;
  request.numArgs = 1;
  uint32_t grid[3] = {10, 7, 1}, lo[3] = {4, 2, 0}, hi[3] = {6, 5, 1};
  for (unsigned axis = 0; axis < 3; ++axis) {
    request.grid[axis] = grid[axis];
    request.block[axis] = 1;
    request.box.Lo[axis] = lo[axis];
    request.box.Hi[axis] = hi[axis];
  }
  ASSERT_TRUE(device->launch(request).ok());
  EXPECT_EQ(blocks.size(), 6u);
  EXPECT_EQ(blocks.begin()->first, 4u);
  EXPECT_EQ(blocks.rbegin()->first, 5u);
  // An empty box is no launch.
  request.box.Lo[0] = 6;
  EXPECT_TRUE(device->launch(request).ok());
  EXPECT_EQ(blocks.size(), 6u);
}

TEST(Launch, SharedMemoryIsStaticThenDynamic) {
  auto device = makeCpu(smallSettings());
  Shape shape{{2, 1, 1}, {1, 1, 1}, 300};
  Status status = launchBody(
      *device, "shared", false, shape,
      [&](dragon_cpu_context *ctx) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(ctx->shared) % 128, 0u);
        EXPECT_EQ(ctx->static_bytes, 256u);
        EXPECT_EQ(ctx->dynamic_bytes, 300u);
        std::memset(ctx->shared, 1, 556);
      },
      {}, false, 130);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Launch, PoisonModeFillsSharedAndNewMemory) {
  Settings settings = smallSettings();
  settings.poison = true;
  auto device = makeCpu(settings);
  MappedChunk chunk(*device, Place::Device, 2 * MiB);
  EXPECT_EQ(chunk.as<unsigned char>()[12345], CpuDevice::PoisonByte);
  chunk.as<unsigned char>()[7] = 1;
  ASSERT_TRUE(device->poison(chunk.base, 4096, nullptr).ok());
  EXPECT_EQ(chunk.as<unsigned char>()[7], CpuDevice::PoisonByte);
  for (int i = 0; i < 2; ++i) {
    Status status =
        launchBody(*device, "poisoned", false, Shape{{1, 1, 1}, {1, 1, 1}, 64},
                   [](dragon_cpu_context *ctx) {
                     auto *bytes = static_cast<unsigned char *>(ctx->shared);
                     EXPECT_EQ(bytes[63], 0xA5);
                     bytes[63] = 0;
                   });
    EXPECT_TRUE(status.ok());
  }
}

TEST(Launch, BadShapesAreNamed) {
  auto device = makeCpu(smallSettings());
  auto nothing = [](dragon_cpu_context *) {};
  Status status = launchBody(*device, "wide", false,
                             Shape{{1, 1, 1}, {2048, 1, 1}}, nothing);
  EXPECT_EQ(status.nativeCode(), 9);
  EXPECT_EQ(status.message(),
            "launch of 'wide': block size 2048 in x is not in [1, 1024]");
  status = launchBody(*device, "big", false, Shape{{1, 1, 1}, {1024, 2, 1}},
                      nothing);
  EXPECT_EQ(status.message(), "launch of 'big': 2048 threads in a block, at "
                              "most 1024 are possible");
  status =
      launchBody(*device, "none", false, Shape{{0, 1, 1}, {1, 1, 1}}, nothing);
  EXPECT_EQ(status.message(),
            "launch of 'none': grid size 0 in x is not in [1, 2147483647]");
}

TEST(Launch, KernelWithoutHostCodeNamesTheCure) {
  auto device = makeCpu(smallSettings());
  KernelHandle handle{{"gpuOnly", nullptr, {}, {}}};
  LaunchRequest request{};
  request.kernel = &handle;
  for (unsigned axis = 0; axis < 3; ++axis)
    request.grid[axis] = request.block[axis] = request.box.Hi[axis] = 1;
  Status status = device->launch(request);
  EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
  EXPECT_EQ(status.message(),
            "kernel 'gpuOnly' has no code for the host processor; compile with "
            "--dragon-targets=cuda,cpu, or run on a machine with a GPU");
}

TEST(Launch, TrapStopsTheDeviceAsInCuda) {
  auto device = makeCpu(smallSettings());
  for (bool fibers : {false, true}) {
    auto own = makeCpu(smallSettings());
    Status status =
        launchBody(*own, "bad", fibers, Shape{{64, 1, 1}, {8, 1, 1}},
                   [](dragon_cpu_context *ctx) {
                     if (ctx->ctaid[0] == 5 && ctx->tid[0] == 3)
                       dragon_cpu_trap(ctx);
                   });
    EXPECT_EQ(status.nativeCode(), 719);
    EXPECT_EQ(status.message(), "launch of 'bad': kernel 'bad', block (5,0,0), "
                                "thread (3,0,0): trap");
    EXPECT_EQ(own->synchronize(nullptr).nativeCode(), 719);
    char byte = 0;
    EXPECT_EQ(
        own->copy(&byte, &byte, 1, CopyKind::HostToHost, nullptr).nativeCode(),
        719);
  }
  // Another device of the process is not concerned.
  EXPECT_TRUE(device->synchronizeAll().ok());
}

TEST(Launch, AssertPrintsCudasMessage) {
  auto device = makeCpu(smallSettings());
  testing::internal::CaptureStderr();
  Status status = launchBody(
      *device, "asserts", false, Shape{{2, 1, 1}, {4, 1, 1}},
      [](dragon_cpu_context *ctx) {
        if (ctx->ctaid[0] == 1 && ctx->tid[0] == 2)
          dragon_cpu_assert_fail(ctx, "x < 7", "a.cu", 12, "void asserts(int)");
      });
  EXPECT_EQ(status.nativeCode(), 710);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a.cu:12: void asserts(int): block: [1,0,0], thread: [2,0,0] "
            "Assertion `x < 7` failed.\n");
}

TEST(Launch, AccessToNothingIsAnErrorNotACrash) {
  for (bool fibers : {false, true}) {
    auto device = makeCpu(smallSettings());
    Status status =
        launchBody(*device, "wild", fibers, Shape{{4, 1, 1}, {4, 1, 1}},
                   [](dragon_cpu_context *ctx) {
                     if (ctx->ctaid[0] == 3)
                       *reinterpret_cast<volatile int *>(16) = 1;
                   });
    EXPECT_EQ(status.nativeCode(), 700);
    EXPECT_NE(status.message().find("writes address 0x10, where no memory is"),
              std::string::npos)
        << status.message();
  }
}

TEST(Launch, LaunchesOfSeveralHostThreadsRun) {
  auto device = makeCpu(smallSettings());
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      auto queue = device->createQueue(1, 0);
      ASSERT_TRUE(queue.ok());
      for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(launchBody(*device, "add", i % 2,
                               Shape{{8, 1, 1}, {4, 1, 1}},
                               [&](dragon_cpu_context *) { ++sum; })
                        .ok());
      EXPECT_TRUE(device->destroyQueue(*queue).ok());
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(sum, 4 * 20 * 32);
}

} // namespace
