//===- LaunchEvents.cpp - launches of kernels -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/LaunchEvents.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace llvm;

namespace dragon {

void LaunchEvents::visit(CallBase &Call) {
  const Function &Stub = *Call.getCalledFunction();
  Event E = Writer.event(LaunchEvent{Facts.Kernels.sliceable(Stub)}, Call);
  E.Stream = Values.launchStream(Call);
  if (!Facts.Kernels.kernel(Stub).Record)
    Facts.Result.UnknownKernels.try_emplace(E.Name, E.Where);
  if (Facts.Kernels.touchesAnything(Stub)) {
    const std::vector<MemoryObject> &Objects = Facts.Pointers.objects();
    // Host memory, if its address is in device memory or in such memory.
    SetVector<unsigned> Reachable;
    for (unsigned O = 0; O < Objects.size(); ++O)
      if (Objects[O].Kind == ObjectKind::Buffer &&
          (Objects[O].Buffer != BufferKind::Host || Objects[O].Escapes))
        Reachable.insert(O);
    for (unsigned I = 0; I < Reachable.size(); ++I)
      for (const Target &T : Facts.Pointers.contents(Reachable[I]))
        Reachable.insert(T.Object);
    for (unsigned O = 0; O < Objects.size(); ++O) {
      if (Objects[O].Kind != ObjectKind::Buffer || !Reachable.contains(O))
        continue;
      BufferUse U;
      U.Buffer = Facts.BufferOf[O];
      U.Reads = U.Writes = true;
      E.add(U);
    }
  }
  for (const llvm::Use &Operand : Call.args()) {
    unsigned Parameter = Call.getArgOperandNo(&Operand);
    TargetSet Targets = Facts.Pointers.pointsTo(Operand);
    if (!Call.isByValArgument(Parameter)) {
      PointerUse U = Facts.Kernels.use(Stub, Parameter, 0);
      const size_t First = E.Uses.size();
      if (U.Reads || U.Writes)
        Uses.addUses(E, Targets, Operand, Side::Any, U.Reads, U.Writes,
                     nullptr);
      for (BufferUse &Use : drop_begin(E.Uses, First)) {
        for (const Target &T : Targets)
          if (auto It = Facts.BufferOf.find(T.Object);
              It != Facts.BufferOf.end() && It->second == Use.Buffer)
            Elements.noteElement(Use, Call, Operand, T, Targets.size() == 1);
        Use.Testable = U.MayOverwrite && (Use.Must || Use.MustElement);
        Use.Operand = Use.Testable ? static_cast<int>(Parameter) : -1;
      }
      Cursors.noteCursor(E, First, Call, Parameter);
      continue;
    }
    // A structure: the pointers that are stored in it.
    for (const Target &T : Targets) {
      for (const Target &Inner : Facts.Pointers.contents(T.Object)) {
        PointerUse U;
        if (T.At.exact()) {
          U.Reads = U.Writes = false;
          // The fields in which it may be.
          for (int64_t Field = 0; Field < 4096; Field += 4) {
            if (!Facts.Pointers.contents(T.Object, T.At.plus(Field))
                     .count(Inner))
              continue;
            PointerUse Used = Facts.Kernels.use(Stub, Parameter, Field);
            U.Reads |= Used.Reads;
            U.Writes |= Used.Writes;
          }
          bool Anywhere =
              Facts.Pointers.contents(T.Object, T.At.plus(4096)).count(Inner);
          U.Reads |= Anywhere;
          U.Writes |= Anywhere;
        }
        if (U.Reads || U.Writes)
          Uses.addUses(E, TargetSet{Inner}, nullptr, Side::Any, U.Reads,
                       U.Writes, nullptr);
      }
    }
  }
  Writer.push(std::move(E), Call);
}

} // namespace dragon
