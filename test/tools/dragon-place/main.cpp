//===- main.cpp - placement on buffer programs in text form
//------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A test tool: reads a buffer program (passes/placement/BufferProgramText.h)
// and prints the directives and remarks that placement decides on.
//
//===----------------------------------------------------------------------===//

#include "passes/placement/BufferProgramText.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static cl::opt<std::string> Input(cl::Positional, cl::init("-"),
                                  cl::desc("<buffer program>"));
static cl::opt<bool> Print("print", cl::desc("Print the program as well"));
static cl::opt<bool> NoStaging("no-staging",
                               cl::desc("Elide no staging buffers"));
static cl::opt<bool> Wavefront("wavefront", cl::desc("Run launches together"));
static cl::opt<bool> NextUses("next-uses",
                              cl::desc("Say when contents are needed again"));

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "placement on buffer programs\n");
  auto Buffer = MemoryBuffer::getFileOrSTDIN(Input);
  if (!Buffer) {
    WithColor::error() << "cannot read '" << Input
                       << "': " << Buffer.getError().message() << '\n';
    return 1;
  }
  Expected<dragon::BufferProgram> Program =
      dragon::parseBufferProgram((*Buffer)->getBuffer());
  if (!Program) {
    WithColor::error() << Input << ": " << toString(Program.takeError())
                       << '\n';
    return 1;
  }
  if (Print)
    dragon::printBufferProgram(*Program, outs());
  dragon::PlacementOptions Options;
  Options.Staging = !NoStaging;
  Options.NextUses = NextUses;
  Options.Wavefront = Wavefront;
  dragon::printPlacement(*Program, dragon::place(*Program, Options), outs());
  return 0;
}
