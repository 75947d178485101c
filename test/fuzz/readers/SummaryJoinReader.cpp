//===- SummaryJoinReader.cpp - summaries that the compiler joins ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two blobs, of which the first has as many bytes as the first two say: those
// of two architectures, or of two units of a link.
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "passes/lifetime/SummaryJoin.h"

#include <algorithm>

using namespace llvm;

DRAGON_READER("summary-join") {
  if (bytes < 2)
    return;
  StringRef Rest(reinterpret_cast<const char *>(data) + 2, bytes - 2);
  const size_t First =
      std::min<size_t>(data[0] | unsigned(data[1]) << 8, Rest.size());
  const StringRef Blobs[] = {Rest.take_front(First), Rest.drop_front(First)};
  const StringRef Twice[] = {Blobs[0], Blobs[0]};
  for (ArrayRef<StringRef> Some :
       {ArrayRef(Blobs), ArrayRef(Blobs, 1), ArrayRef(Twice)}) {
    Expected<std::string> Joined = dragon::joinSummaries(Some);
    if (!Joined)
      consumeError(Joined.takeError());
  }
}
