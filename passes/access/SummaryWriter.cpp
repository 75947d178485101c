//===- SummaryWriter.cpp - kernel summaries in files ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/SummaryWriter.h"

#include "passes/access/SummaryCopy.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon {

Error writeSummary(const ModuleSummary &Summary, StringRef Path) {
  std::error_code Code;
  raw_fd_ostream File(Path, Code, sys::fs::OF_None);
  if (!Code) {
    std::vector<char> Blob = Summary.write();
    File.write(Blob.data(), Blob.size());
    File.close();
    Code = File.error();
    File.clear_error();
  }
  if (Code)
    return createStringError("cannot write kernel summary '" + Path +
                             "': " + Code.message());
  return Error::success();
}

SmallVector<std::string, 2> summaryPaths(StringRef Base, StringRef Arch,
                                         ArrayRef<std::string> Archs) {
  auto PathFor = [&](StringRef Arch) { return (Base + "." + Arch).str(); };
  if (!Arch.empty())
    return {PathFor(Arch)};
  SmallVector<std::string, 2> Paths;
  for (const std::string &Other : Archs)
    if (std::string Path = PathFor(Other); !sys::fs::exists(Path))
      Paths.push_back(std::move(Path));
  return Paths;
}

Expected<ModuleSummary> readSummary(StringRef Blob) {
  Expected<std::unique_ptr<SummaryCopy>> Copy = SummaryCopy::open(Blob);
  if (!Copy)
    return Copy.takeError();
  return ModuleSummary::read((*Copy)->view());
}

Expected<ModuleSummary> readSummaryFile(StringRef Path) {
  auto Buffer = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!Buffer)
    return createStringError("cannot read kernel summary '" + Path +
                             "': " + Buffer.getError().message());
  Expected<ModuleSummary> Summary = readSummary((*Buffer)->getBuffer());
  if (!Summary)
    return createStringError("'" + Path +
                             "': " + toString(Summary.takeError()));
  return Summary;
}

} // namespace dragon
