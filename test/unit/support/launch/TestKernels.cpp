//===- TestKernels.cpp - kernels and their summaries, by hand -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Optimised, unlike the tests: the kernels' loops are most of what these take.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/launch/TestKernels.h"

#include "test/unit/support/launch/PagedKernels.h"

#include <algorithm>
#include <utility>

namespace dragon::test {

namespace {

void addEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  auto *b = argument<const int32_t *>(args, 2);
  int n = argument<int>(args, 3);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = sum(a[i], b[i]);
  });
}
void scaleEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *a = argument<int32_t *>(args, 0);
  int n = argument<int>(args, 1), k = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      a[i] = scaled(a[i], k);
  });
}
void iotaEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  int n = argument<int>(args, 1), k = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = scaled(int32_t(i), k);
  });
}
void rowsEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<uint64_t *>(args, 0);
  uint64_t base = argument<uint64_t>(args, 1),
           step = argument<uint64_t>(args, 2);
  int n = argument<int>(args, 3);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = base + uint64_t(i) * step;
  });
}
void stencilEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = sum(sum(a[std::max<int64_t>(i - 1, 0)], a[i]),
                 a[std::min<int64_t>(i + 1, n - 1)]);
  });
}
void copyRestEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2), k = argument<int>(args, 3);
  eachThread(ctx, [&](int64_t i) {
    if (i < n && i >= k)
      c[i] = a[i];
  });
}
void mixEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *p = argument<int32_t *>(args, 0);
  int n = argument<int>(args, 1), k = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      __atomic_fetch_add(&p[(i * 7919) % n], k, __ATOMIC_RELAXED);
  });
}
void gatherEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2), k = argument<int>(args, 3);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = a[(i * k) % n];
  });
}
void blendEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  auto *b = argument<const int32_t *>(args, 2);
  int n = argument<int>(args, 3), k = argument<int>(args, 4);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = sum(a[i], b[(i * k) % BlendCount]);
  });
}
void spreadEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  auto *b = argument<const int32_t *>(args, 2);
  int n = argument<int>(args, 3), k = argument<int>(args, 4);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[(i * k) % BlendCount] = sum(a[i], b[i]);
  });
}
void hopsEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *out = argument<int32_t *>(args, 0);
  auto *data = argument<const int32_t *>(args, 1);
  auto *index = argument<const int32_t *>(args, 2);
  int n = argument<int>(args, 3);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      out[i] = data[index[i]];
  });
}
/// What the compiler makes of it, for all blocks and threads of the sample.
void hopsCountingEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *out = argument<int32_t *>(args, 0);
  auto *data = argument<const int32_t *>(args, 1);
  auto *index = argument<const int32_t *>(args, 2);
  int n = argument<int>(args, 3);
  auto *counters = argument<uint32_t *>(args, 4);
  auto base = argument<uint64_t>(args, 5), most = argument<uint64_t>(args, 6);
  auto shift = argument<uint32_t>(args, 7),
       blocks = argument<uint32_t>(args, 8),
       lanes = argument<uint32_t>(args, 9);
  eachThread(ctx, [&](int64_t i) {
    if (i >= n)
      return;
    const bool counts = !(ctx->ctaid[0] & blocks) && !(i & lanes);
    for (const void *at : {static_cast<const void *>(&index[i]),
                           static_cast<const void *>(&data[index[i]]),
                           static_cast<const void *>(&out[i])})
      if (const uint64_t k = (reinterpret_cast<uint64_t>(at) - base) >> shift;
          counts && k < most)
        __atomic_fetch_add(&counters[k], 1, __ATOMIC_RELAXED);
    out[i] = data[index[i]];
  });
}
void countEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *bins = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      __atomic_fetch_add(&bins[a[i] & 255], 1, __ATOMIC_RELAXED);
  });
}

void pickEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = a[16 * i];
  });
}
void spillEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[16 * i] = a[i];
  });
}

void walkEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    for (; i < n; i += int64_t(ctx->nctaid[0]) * ctx->ntid[0])
      c[i] = a[i];
  });
}

} // namespace

TestKernels::TestKernels() {
  ExprPool &e = Module.Exprs;
  uint32_t block = e.launchValue(ExprOp::BlockIdx, 0);
  uint32_t size = e.launchValue(ExprOp::BlockDim, 0);
  uint32_t thread = e.launchValue(ExprOp::ThreadIdx, 0);
  I = e.binary(
      ExprOp::Add,
      e.binary(ExprOp::Mul, block, size, NoSignedWrap | NoUnsignedWrap), thread,
      NoSignedWrap | NoUnsignedWrap);

  make("add", addEntry, KernelSliceable, {8, 8, 8, 4},
       {pointer(0, {write(I, 3)}), pointer(1, {read(I, 3)}),
        pointer(2, {read(I, 3)})});
  make("scale", scaleEntry, KernelSliceable, {8, 4, 4},
       {pointer(0, {read(I, 1), write(I, 1)}, PointerReadBeforeWrite)});
  make("iota", iotaEntry, KernelSliceable, {8, 4, 4},
       {pointer(0, {write(I, 1)})});
  AccessSummary row = write(I, 3);
  row.Offset = e.binary(ExprOp::Mul, e.cast(ExprOp::SExt, I, 64), e.constant(8),
                        NoSignedWrap);
  row.Width = 8;
  make("rows", rowsEntry, KernelSliceable | KernelFollowsArguments,
       {8, 8, 8, 4}, {pointer(0, {row})});
  uint32_t n = e.argument(2, 32);
  uint32_t one = e.constant(1, 32), zero = e.constant(0, 32);
  uint32_t before =
      e.binary(ExprOp::SMax, e.binary(ExprOp::Sub, I, one, NoSignedWrap), zero);
  uint32_t after =
      e.binary(ExprOp::SMin, e.binary(ExprOp::Add, I, one, NoSignedWrap),
               e.binary(ExprOp::Sub, n, one, NoSignedWrap));
  make("stencil", stencilEntry, KernelSliceable, {8, 8, 4},
       {pointer(0, {write(I, 2)}),
        pointer(1, {read(before, 2, I), read(I, 2), read(after, 2, I)})});
  AccessSummary rest = write(I, 2);
  rest.Guards.push_back(guard(e.argument(3, 32), I, GuardPred::SLE));
  AccessSummary source = rest;
  source.Flags = AccessRead;
  make("copyRest", copyRestEntry, KernelSliceable, {8, 8, 4, 4},
       {pointer(0, {rest}), pointer(1, {source})});
  make("mix", mixEntry, KernelTouchesAnything | KernelUnknown, {8, 4, 4}, {});
  AccessSummary anywhere;
  anywhere.Flags = AccessRead | AccessUnbounded;
  anywhere.Width = 4;
  anywhere.Offset = I;
  make("gather", gatherEntry, 0, {8, 8, 4, 4},
       {pointer(0, {write(I, 2)}), pointer(1, {anywhere})});
  AccessSummary within;
  within.Flags = AccessRead;
  within.Width = 4;
  within.Offset =
      e.opaque(64, e.constant(0), e.constant(int64_t(BlendCount - 1) * 4));
  make("blend", blendEntry, KernelSliceable, {8, 8, 8, 4, 4},
       {pointer(0, {write(I, 3)}), pointer(1, {read(I, 3)}),
        pointer(2, {within})});
  within.Flags = AccessWrite;
  make("spread", spreadEntry, KernelSliceable, {8, 8, 8, 4, 4},
       {pointer(0, {within}), pointer(1, {read(I, 3)}),
        pointer(2, {read(I, 3)})});
  make("hops", hopsEntry, 0, {8, 8, 8, 4},
       {pointer(0, {write(I, 3)}), pointer(1, {anywhere}),
        pointer(2, {read(I, 3)})});
  Entries.emplace("hops counting",
                  dragon_cpu_kernel{"hops counting", hopsCountingEntry, 0, 0});
  AccessSummary bins;
  bins.Width = 4;
  bins.Offset = e.opaque(64, e.constant(0), e.constant(255 * 4));
  bins.Flags = AccessRead | AccessWrite | AccessAtomic;
  make("count", countEntry, 0, {8, 8, 4},
       {pointer(0, {bins}, PointerReadBeforeWrite), pointer(1, {read(I, 2)})});
  uint32_t wide = e.binary(ExprOp::Mul, I, e.constant(16, 32), NoSignedWrap);
  make("pick", pickEntry, KernelSliceable, {8, 8, 4},
       {pointer(0, {write(I, 2)}), pointer(1, {read(wide, 2, I)})});
  make("spill", spillEntry, KernelSliceable, {8, 8, 4},
       {pointer(0, {write(wide, 2, I)}), pointer(1, {read(I, 2)})});
  uint32_t grid = e.launchValue(ExprOp::GridDim, 0);
  uint32_t all = e.cast(ExprOp::ZExt,
                        e.binary(ExprOp::Mul, grid, size, NoUnsignedWrap), 64);
  uint32_t loop = e.loop(0);
  uint32_t at =
      e.binary(ExprOp::Add, e.cast(ExprOp::SExt, I, 64),
               e.binary(ExprOp::Mul, loop, all, NoSignedWrap), NoSignedWrap);
  AccessSummary walked = read(at, 2);
  walked.Guards = {guard(at, e.cast(ExprOp::SExt, n, 64), GuardPred::SLT)};
  walked.Guards[0].Loop = loop;
  AccessSummary put = walked;
  put.Flags = AccessWrite | AccessExact;
  make("walk", walkEntry, KernelSliceable, {8, 8, 4},
       {pointer(0, {put}), pointer(1, {walked})});

  // Block b reads the first words of pages of the first buffer: those that a
  // list names, of lists[b].y numbers from number lists[b].x on.
  auto listed = [&](int64_t offset) {
    uint32_t record = e.binary(ExprOp::Mul, e.cast(ExprOp::ZExt, block, 64),
                               e.constant(8), NoSignedWrap);
    record = e.binary(ExprOp::Add, e.argument(1, 64), record);
    return e.cast(
        ExprOp::SExt,
        e.loaded(32, e.binary(ExprOp::Add, record, e.constant(offset))), 64);
  };
  const uint32_t last = e.binary(ExprOp::Sub, listed(4), e.constant(1));
  const uint32_t item =
      e.binary(ExprOp::Add, listed(0), e.opaque(64, e.constant(0), last));
  const uint32_t number = e.loaded(
      32, e.binary(ExprOp::Add, e.argument(2, 64),
                   e.binary(ExprOp::Mul, item, e.constant(4), NoSignedWrap)));
  AccessSummary page;
  page.Flags = AccessRead;
  page.Width = 4;
  page.Offset = e.binary(ExprOp::Mul, e.cast(ExprOp::SExt, number, 64),
                         e.constant(4096), NoSignedWrap);
  make("pagesOfLists", gatherEntry, KernelSliceable, {8, 8, 8},
       {pointer(0, {page})});
  AccessSummary anyPut = anywhere;
  anyPut.Flags = AccessWrite | AccessUnbounded;
  make("lookUp", lookUpEntry, KernelSliceable, {8, 8, 8, 4},
       {pointer(0, {write(I, 3)}), pointer(1, {anywhere}),
        pointer(2, {read(I, 3)})});
  make("put", putEntry, KernelSliceable, {8, 8, 8, 4},
       {pointer(0, {read(I, 3)}), pointer(1, {anyPut}),
        pointer(2, {read(I, 3)})});
  const std::pair<const char *, dragon_cpu_entry> ofPages[] = {
      {"lookUp paged", lookUpPagedEntry},
      {"put paged", putPagedEntry},
      {"write back", writeBackEntry},
      {"recycle", recycleEntry},
      {"ahead", aheadEntry}};
  for (const auto &[copy, entry] : ofPages)
    Entries.emplace(copy, dragon_cpu_kernel{copy, entry, 0, 0});

  Blob = Module.write();
  Aligned.resize((Blob.size() + 7) / 8);
  std::memcpy(Aligned.data(), Blob.data(), Blob.size());
  std::string error;
  Good = SummaryView::open(Aligned.data(), Blob.size(), View, error);
  if (!Good)
    Error = error;
  for (auto &[name, cpu] : Entries) {
    KernelInfo info{};
    info.handle.image = {cpu.name, &cpu, {}, {}};
    info.summary = &View;
    info.record = View.findKernel(name.c_str());
    if (info.record)
      info.footprints = std::make_shared<FootprintCache>(View, *info.record);
    Infos.emplace(name, info);
  }
  Infos.at("hops").counting = Infos.at("hops counting").handle;
  findPaged("lookUp");
  findPaged("put");
}

void TestKernels::findPaged(const char *name) {
  Infos.at(name).paged =
      PagedKernel{Infos.at(std::string(name) + " paged").handle,
                  Infos.at("write back").handle, Infos.at("recycle").handle,
                  Infos.at("ahead").handle};
}

} // namespace dragon::test
