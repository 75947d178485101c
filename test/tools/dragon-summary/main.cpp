//===- main.cpp - writes kernel summaries for tests -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A test tool: makes the summary blob of kernels from their names and what they
// do through each argument, in order:
//
//   dragon-summary out.sm_90 'scale: read-write value' 'gather: read any write'
//
// Modes: none, read, write, read-write, accumulate (reads nothing but what it
// has written), any (may keep the pointer), value (no pointer), unknown (of the
// whole kernel).
//
//===----------------------------------------------------------------------===//

#include "dragon/SummaryBuilder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static cl::opt<std::string> Output(cl::Positional, cl::Required,
                                   cl::desc("<output>"));
static cl::list<std::string> Kernels(cl::Positional,
                                     cl::desc("'<kernel>: <mode> ...'"));

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "kernel summaries for tests\n");
  dragon::ModuleSummary Summary;
  for (StringRef Line : Kernels) {
    auto [Name, Modes] = Line.split(':');
    dragon::KernelSummary Kernel;
    Kernel.Name = Name.str();
    Kernel.Flags = dragon::KernelSliceable;
    SmallVector<StringRef, 8> Words;
    SplitString(Modes, Words);
    for (StringRef Word : Words) {
      if (Word == "unknown") {
        Kernel.Flags = dragon::KernelUnknown | dragon::KernelTouchesAnything;
        continue;
      }
      uint32_t Index = Kernel.ArgSizes.size();
      Kernel.ArgSizes.push_back(8);
      if (Word == "value")
        continue;
      int Mode = StringSwitch<int>(Word)
                     .Case("none", int(dragon::AccessMode::None))
                     .Case("read", int(dragon::AccessMode::Read))
                     .Case("write", int(dragon::AccessMode::Write))
                     .Cases({"read-write", "accumulate"},
                            int(dragon::AccessMode::ReadWrite))
                     .Case("any", int(dragon::AccessMode::Any))
                     .Default(-1);
      if (Mode < 0) {
        WithColor::error() << "unknown mode '" << Word << "'\n";
        return 1;
      }
      dragon::PointerSummary Pointer;
      Pointer.ArgIndex = Index;
      Pointer.Mode = static_cast<dragon::AccessMode>(Mode);
      Pointer.Flags = Word == "any"          ? dragon::PointerEscapes
                      : Word == "read-write" ? dragon::PointerReadBeforeWrite
                                             : 0;
      Kernel.Pointers.push_back(Pointer);
    }
    Summary.Kernels.push_back(std::move(Kernel));
  }
  std::vector<char> Blob = Summary.write();
  std::error_code Error;
  raw_fd_ostream File(Output, Error);
  if (Error) {
    WithColor::error() << "cannot write '" << Output << "': " << Error.message()
                       << '\n';
    return 1;
  }
  File.write(Blob.data(), Blob.size());
  return 0;
}
