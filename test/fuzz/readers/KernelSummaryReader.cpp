//===- KernelSummaryReader.cpp - summaries of kernels ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime does with the blob that an executable carries: a view, each
// kernel by its name, the footprint of each pointer for a whole grid and for a
// part of it, all expressions.
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "dragon/FootprintEval.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

using namespace dragon;

/// Zones of what a summary wants to know.
static void tell(KnownMemory &memory, const std::vector<NumberPlaces> &wanted) {
  const size_t most = 4, bytes = size_t(1) << 20;
  for (const NumberPlaces &places : wanted) {
    if (memory.Arrays.size() == most)
      return;
    if (places.bytes() > bytes)
      continue;
    const std::vector<char> contents(places.bytes(), char(places.Bits));
    auto zones = std::make_shared<NumberZones>(places);
    for (size_t zone = 0; zone < zones->zones(); ++zone)
      zones->set(zone,
                 contents.data() + (zones->zone(zone).First - places.First));
    zones->finish();
    memory.Arrays.push_back({memory.Arrays.size(), std::move(zones)});
  }
}

DRAGON_READER("kernel-summary") {
  // Aligned, and not a byte more than there is.
  struct Free {
    void operator()(uint8_t *memory) const {
      ::operator delete[](memory, std::align_val_t(8));
    }
  };
  std::unique_ptr<uint8_t[], Free> blob(
      static_cast<uint8_t *>(::operator new[](bytes, std::align_val_t(8))));
  if (bytes)
    std::memcpy(blob.get(), data, bytes);
  SummaryView view;
  std::string error;
  if (!SummaryView::open(blob.get(), bytes, view, error))
    return;
  const uint32_t most = 16; // what follows is the same for each
  for (uint32_t k = 0; k < view.numKernels() && k < most; ++k) {
    const KernelRecord &kernel = view.kernel(k);
    view.findKernel(view.string(kernel.Name));
    std::vector<std::vector<char>> arguments;
    std::vector<const void *> addresses;
    size_t total = 0;
    for (uint32_t a = 0; a < kernel.NumArgs; ++a)
      total += view.argSizes(kernel)[a];
    if (kernel.NumArgs > 4096 || total > 65536)
      continue; // no compiler makes it, and the program has these arguments
    for (uint32_t a = 0; a < kernel.NumArgs; ++a) {
      arguments.emplace_back(view.argSizes(kernel)[a], char(a + 3));
      addresses.push_back(arguments.back().data());
    }
    // At the addresses that are among the arguments something is known.
    KnownMemory memory;
    for (uint32_t a = 0; a < kernel.NumArgs && a < most; ++a)
      if (uint64_t address = 0; arguments[a].size() == sizeof(address)) {
        std::memcpy(&address, arguments[a].data(), sizeof(address));
        memory.Parts.push_back({address, std::vector<char>(256, char(a)), 0});
      }
    std::vector<NumberPlaces> wanted;
    const LaunchDims launch{
        {5, 2, 1}, {32, 2, 1}, addresses.data(), &memory, &wanted};
    const BlockBox boxes[] = {{{0, 0, 0}, {5, 2, 1}}, {{1, 0, 0}, {3, 1, 1}}};
    EvalLimits limits;
    limits.MaxRanges = 64;
    limits.WithAffine = true;
    for (uint32_t p = 0; p < kernel.NumPointers && p < most; ++p) {
      const uint32_t index = kernel.FirstPointer + p;
      for (const BlockBox &box : boxes)
        evaluateFootprint(view, kernel, index, launch, box, limits);
      tell(memory, wanted);
      for (const BlockBox &box : boxes)
        evaluateFootprint(view, kernel, index, launch, box, limits);
      view.visitExprs(view.pointer(index), [](const ExprNode &) {});
    }
  }
}
