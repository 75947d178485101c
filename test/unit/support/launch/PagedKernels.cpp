//===- PagedKernels.cpp - kernels that fetch pages ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/launch/PagedKernels.h"
#include "test/unit/support/launch/TestKernels.h"

namespace {

/// The thread that runs.
thread_local const dragon_cpu_context *Running;

} // namespace

// What the code for pages knows of it.
static unsigned __nvvm_read_ptx_sreg_tid_x() { return Running->tid[0]; }
static unsigned __nvvm_read_ptx_sreg_ntid_x() { return Running->ntid[0]; }
static unsigned __nvvm_read_ptx_sreg_ctaid_x() { return Running->ctaid[0]; }
static unsigned __nvvm_read_ptx_sreg_nctaid_x() { return Running->nctaid[0]; }

namespace {
/// A thread ends.
struct Exit {};
} // namespace
[[noreturn]] static void __nvvm_exit() { throw Exit(); }

#include "passes/paging/device/PageAccess.cpu.cpp"

namespace dragon::test {

namespace {

/// Of Paging.h, behind four others.
struct Table {
  unsigned *entries;
  unsigned long base, count;
  unsigned shift;
  unsigned long frames;
  PageControl *control;
  const PageCell *cells;
  unsigned cellShift;
  unsigned long resident; ///< of argument 1

  explicit Table(void *const *args)
      : entries(argument<unsigned *>(args, 4)),
        base(argument<unsigned long>(args, 5)),
        count(argument<unsigned long>(args, 6)),
        shift(argument<unsigned>(args, 7)),
        frames(argument<unsigned long>(args, 8)),
        control(argument<PageControl *>(args, 9)),
        cells(argument<const PageCell *>(args, 10)),
        cellShift(argument<unsigned>(args, 11)),
        resident(argument<unsigned long>(args, 12)) {}

  template <typename Access, typename T>
  T *at(Access access, T *address, unsigned long isResident = 0) {
    return reinterpret_cast<T *>(
        access(reinterpret_cast<unsigned long>(address), entries, base, count,
               shift, frames, control, cells, cellShift, isResident));
  }
};

/// For one thread after the other, as there are no barriers.
template <typename Fn>
void eachOf(dragon_cpu_context *ctx, void *const *args, Fn fn) {
  auto *words = argument<int32_t *>(args, 0);
  auto *data = argument<int32_t *>(args, 1);
  auto *index = argument<int32_t *>(args, 2);
  const int n = argument<int>(args, 3);
  eachThread(ctx, [&](int64_t i) {
    try {
      if (i < n)
        fn(words + i, data, index + i);
    } catch (const Exit &) {
    }
  });
}

template <typename Fn> void eachRunning(dragon_cpu_context *ctx, Fn fn) {
  Running = ctx;
  for (ctx->tid[0] = 0; ctx->tid[0] < ctx->ntid[0]; ++ctx->tid[0])
    fn();
}

} // namespace

void lookUpEntry(dragon_cpu_context *ctx, void *const *args) {
  eachOf(ctx, args, [](int32_t *out, int32_t *data, int32_t *index) {
    *out = data[*index];
  });
}
void putEntry(dragon_cpu_context *ctx, void *const *args) {
  eachOf(ctx, args, [](int32_t *in, int32_t *data, int32_t *index) {
    data[*index] = *in;
  });
}
void lookUpPagedEntry(dragon_cpu_context *ctx, void *const *args) {
  Table table(args);
  eachOf(ctx, args, [&](int32_t *out, int32_t *data, int32_t *index) {
    const int32_t at = *table.at(__dragon_page_read, index);
    *table.at(__dragon_page_write, out) =
        *table.at(__dragon_page_read, data + at, table.resident & 2);
  });
}
void putPagedEntry(dragon_cpu_context *ctx, void *const *args) {
  Table table(args);
  eachOf(ctx, args, [&](int32_t *in, int32_t *data, int32_t *index) {
    const int32_t at = *table.at(__dragon_page_read, index);
    *table.at(__dragon_page_write, data + at, table.resident & 2) =
        *table.at(__dragon_page_read, in);
  });
}

void writeBackEntry(dragon_cpu_context *ctx, void *const *args) {
  eachRunning(ctx, [&] {
    __dragon_page_write_back(
        argument<unsigned *>(args, 0), argument<unsigned>(args, 1),
        argument<unsigned>(args, 2), argument<unsigned long>(args, 3),
        argument<PageControl *>(args, 4), argument<unsigned>(args, 5));
  });
}
void recycleEntry(dragon_cpu_context *ctx, void *const *args) {
  eachRunning(ctx, [&] {
    __dragon_pages_recycle(argument<PageControl *>(args, 0),
                           argument<unsigned>(args, 1));
  });
}
void aheadEntry(dragon_cpu_context *ctx, void *const *args) {
  eachRunning(ctx, [&] {
    __dragon_pages_ahead(
        argument<unsigned *>(args, 0), argument<unsigned>(args, 1),
        argument<unsigned long>(args, 2), argument<PageControl *>(args, 3));
  });
}

} // namespace dragon::test
