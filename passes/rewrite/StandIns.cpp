//===- StandIns.cpp - objects that any linker may link --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/StandIns.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace dragon {

static bool callsRuntime(const Module &M) {
  return any_of(M, [](const Function &F) {
    return F.isDeclaration() && !F.use_empty() &&
           (F.getName().starts_with("__dragon_") ||
            F.getName().starts_with("__cuda") ||
            F.getName().starts_with("cuda"));
  });
}

Error addStandIns(Module &M, StringRef File, StringRef Library) {
  if (!callsRuntime(M))
    return Error::success();
  ErrorOr<std::unique_ptr<MemoryBuffer>> Text = MemoryBuffer::getFile(File);
  if (!Text)
    return createStringError("cannot read '" + File +
                             "': " + Text.getError().message());
  constexpr StringLiteral Place = "@LIBRARY@";
  auto [Before, After] = (*Text)->getBuffer().split(Place);
  std::string Path;
  for (char C : Library) {
    if (C == '"' || C == '\\')
      Path += '\\';
    Path += C;
  }
  M.appendModuleInlineAsm((Before + Path + After).str());
  return Error::success();
}

} // namespace dragon
