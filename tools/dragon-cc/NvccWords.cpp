//===- NvccWords.cpp - what build systems read in nvcc's output -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/NvccWords.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon::driver {

void printNvccVersion(raw_ostream &OS, const ToolPaths &Tools) {
  if (Tools.Cuda.empty() || !Tools.CudaVersion)
    return;
  const unsigned Major = Tools.CudaVersion / 1000;
  const unsigned Minor = Tools.CudaVersion % 1000 / 10;
  OS << "In place of nvcc: NVIDIA (R) Cuda compiler driver\n"
     << "Cuda compilation tools, release " << Major << '.' << Minor << ", V"
     << Major << '.' << Minor << ".0\n";
}

void printNvccFolders(raw_ostream &OS, const ToolPaths &Tools,
                      const Invocation &Asked, StringRef Self) {
  if (Tools.Cuda.empty())
    return;
  OS << "#$ TOP=" << Tools.Cuda << '\n'
     << "#$ NVVMIR_LIBRARY_DIR=" << sys::path::parent_path(Tools.Libdevice)
     << '\n'
     << "#$ ARCHITECTURES=";
  for (const GpuArch &Arch : Asked.Archs)
    OS << (&Arch == Asked.Archs.data() ? "" : " ") << "-arch compute_"
       << StringRef(Arch.Name).drop_front(3);
  OS << "\n#$ INCLUDES=\"-I" << Tools.Cuda << "/include\"\n";
  std::string Libraries = "\"-L" + Tools.LibDir + '"';
  if (!Tools.CudaLibDir.empty())
    Libraries += " \"-L" + Tools.CudaLibDir + '"';
  OS << "#$ LIBRARIES=" << Libraries << '\n';
  if (Asked.What == Goal::Link)
    OS << "#$ \"" << Self << "\" \"a.o\" " << Libraries
       << " \"-ldragonrt\" -o \"a.out\"\n";
}

} // namespace dragon::driver
