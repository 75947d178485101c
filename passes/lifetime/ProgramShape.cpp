//===- ProgramShape.cpp - buffers, blocks and where they lead -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/ProgramShape.h"

#include "passes/lifetime/ReturnCodes.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace dragon {

/// The variable's old value, for the case that cudaMalloc fails, is no use of
/// the buffer that it may be.
static bool onlyFeedsSlots(const Value *V,
                           SmallPtrSetImpl<const Value *> &Seen) {
  if (!Seen.insert(V).second)
    return true;
  return all_of(V->users(), [&](const User *U) {
    if (auto *Store = dyn_cast<StoreInst>(U))
      return Store->getValueOperand() == V &&
             isOutSlot(Store->getPointerOperand());
    return isa<PHINode>(U) && onlyFeedsSlots(U, Seen);
  });
}

static bool refersTo(const TargetSet &Targets, unsigned Object) {
  return any_of(Targets, [&](const Target &T) { return T.Object == Object; });
}

/// Whether a call may look at what is stored in the object, other than by
/// loads of this function.
bool ProgramShape::isGivenToCalls(unsigned Object) const {
  const MemoryObject &O = Facts.Pointers.objects()[Object];
  if (O.Kind == ObjectKind::Local && isOutSlot(O.Site))
    return false;
  if (O.Kind != ObjectKind::Local && O.Kind != ObjectKind::Global)
    return true;
  return any_of(instructions(Facts.F), [&](const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || isa<IntrinsicInst>(Call))
      return false;
    const CallEffect *Effect = callEffect(*Call);
    return !(Effect && Effect->Kind == CallKind::AllocateInto) &&
           any_of(Call->args(), [&](const Use &Operand) {
             return refersTo(Facts.Pointers.pointsTo(Operand), Object);
           });
  });
}

/// Whether each one that the call in a cycle gives is freed before the next.
bool ProgramShape::isFreedEachTime(const Value &Given) const {
  SmallPtrSet<const BasicBlock *, 4> Frees;
  for (const User *U : Given.users()) {
    auto *Call = dyn_cast<CallBase>(U);
    const CallEffect *Effect = Call ? callEffect(*Call) : nullptr;
    if (Effect && Effect->Kind == CallKind::Free &&
        Call->getArgOperand(Effect->Pointer) == &Given)
      Frees.insert(Call->getParent());
  }
  const BasicBlock *Start = cast<Instruction>(Given).getParent();
  if (Frees.contains(Start))
    return true;
  SmallPtrSet<const BasicBlock *, 16> Seen;
  SmallVector<const BasicBlock *, 16> Pending(successors(Start));
  while (!Pending.empty()) {
    const BasicBlock *B = Pending.pop_back_val();
    if (B == Start)
      return false;
    if (!Frees.contains(B) && Seen.insert(B).second)
      append_range(Pending, successors(B));
  }
  return true;
}

/// Of a buffer that is allocated in a cycle: whether one may be referred to by
/// anything but the value that its call has just given. Then several may exist.
/// What escapes may be referred to by unknown pointers, but does not end.
bool ProgramShape::mayBeSummary(unsigned Object, const Value &Given) const {
  for (const Instruction &I : instructions(Facts.F)) {
    // Numbers that are made of addresses are made of these or come from memory.
    const bool IsPointer = I.getType()->isPointerTy();
    if (&I == &Given || !refersTo(Facts.Pointers.pointsTo(&I), Object) ||
        (!IsPointer && !isa<PHINode, CallBase>(I) && !I.mayReadFromMemory()))
      continue;
    SmallPtrSet<const Value *, 8> Seen;
    if (!IsPointer ||
        (getUnderlyingObject(&I) != &Given && !onlyFeedsSlots(&I, Seen)))
      return true;
  }
  // A kernel finds it in a structure or in device memory.
  if (isFreedEachTime(Given))
    return false;
  for (unsigned O = 0; O < Facts.Pointers.objects().size(); ++O)
    if (refersTo(Facts.Pointers.contents(O), Object) && isGivenToCalls(O))
      return true;
  return false;
}

void ProgramShape::addBuffers() {
  const std::vector<MemoryObject> &Objects = Facts.Pointers.objects();
  for (unsigned O = 0; O < Objects.size(); ++O) {
    if (Objects[O].Kind != ObjectKind::Buffer)
      continue;
    auto *Call = const_cast<CallBase *>(cast<CallBase>(Objects[O].Site));
    const CallEffect &Effect = *callEffect(*Call);
    BuiltProgram::BufferSite Site{Call, Call};
    if (Effect.Kind == CallKind::AllocateInto) {
      // The load that FlatFunction put behind the call.
      Site.Pointer = nullptr;
      Value *Slot = Call->getArgOperand(Effect.Pointer);
      for (User *U : Slot->users())
        if (auto *Load = dyn_cast<LoadInst>(U))
          if (isOutSlot(Slot) && Facts.Dominators.dominates(Call, Load))
            Site.Pointer = Load;
    }
    Buffer B;
    B.Kind = Objects[O].Buffer;
    B.Name = bufferName(*Call);
    B.Bytes = Values.sizeOf(Values.bytesOf(*Call, Effect.Bytes, Effect.Count));
    B.Where = Facts.position(*Call);
    B.Escapes = Objects[O].Escapes || !Site.Pointer;
    B.EscapesTo = Objects[O].Escapes ? Objects[O].EscapesTo : "a variable";
    B.EscapesToKernel = Objects[O].EscapesToKernel;
    B.EscapesUnseen =
        B.EscapesToKernel &&
        !Facts.Kernels
             .kernel(*cast<CallBase>(Objects[O].EscapesAt)->getCalledFunction())
             .Record;
    B.EscapesAt =
        Facts.position(Objects[O].EscapesAt ? *Objects[O].EscapesAt : *Call);
    B.Mappable = Call->getCalledFunction()->getName() == "cudaMalloc";
    B.IsSummary =
        Facts.inCycle(*Call) && Site.Pointer && mayBeSummary(O, *Site.Pointer);
    Facts.BufferOf[O] = Facts.Result.Program.Buffers.size();
    Facts.Result.Program.Buffers.push_back(std::move(B));
    Facts.Result.Sites.push_back(Site);
  }
}

void ProgramShape::addBlocks() {
  for (BasicBlock &B : Facts.F) {
    if (!Facts.Dominators.isReachableFromEntry(&B))
      continue;
    Facts.BlockOf[&B] = Facts.Result.Program.Blocks.size();
    Block New;
    New.Name = B.hasName() ? B.getName().str()
                           : "b" + std::to_string(Facts.Result.Blocks.size());
    Facts.Result.Program.Blocks.push_back(std::move(New));
    Facts.Result.Blocks.push_back(&B);
  }
  for (auto &[B, Index] : Facts.BlockOf) {
    Block &New = Facts.Result.Program.Blocks[Index];
    const BasicBlock *Launch = launchBlock(*B);
    for (const BasicBlock *S : successors(B))
      if (!Launch || S == Launch)
        New.Successors.push_back(Facts.BlockOf[S]);
    const Instruction *End = B->getTerminator();
    New.Returns = isa<ReturnInst>(End) || isa<ResumeInst>(End);
    New.Fails = isa<ResumeInst>(End) ||
                (isa<UnreachableInst>(End) && !ReturnCodes::exitsWell(*B));
  }
}

void ProgramShape::markFailingEdge(BasicBlock *From, BasicBlock *To) {
  if (!Facts.BlockOf.count(From))
    return;
  auto &Blocks = Facts.Result.Program.Blocks;
  unsigned P = Facts.BlockOf[From], S = Facts.BlockOf[To];
  if (!is_contained(Blocks[P].Successors, S))
    return;
  if (Blocks[P].Successors.size() == 1) {
    Blocks[P].Fails = true;
    return;
  }
  Block Edge;
  Edge.Name = Blocks[P].Name + ".fails";
  Edge.Fails = true;
  Edge.Successors.push_back(S);
  for (unsigned &Successor : Blocks[P].Successors)
    if (Successor == S)
      Successor = Blocks.size();
  for (Pointer &Phi : Facts.Result.Program.Pointers)
    if (Phi.isPhi() && Phi.Block == S)
      for (Pointer::Incoming &W : Phi.Incomings)
        if (W.From == P)
          W.From = Blocks.size();
  Blocks.push_back(std::move(Edge));
  Facts.Result.Blocks.push_back(nullptr);
}

/// Marks paths on which main returns a constant that is not 0.
void ProgramShape::markFailures() {
  if (!IsMain || !Facts.F.getReturnType()->isIntegerTy())
    return;
  ReturnCodes Codes(Facts.F);
  for (BasicBlock &B : Facts.F) {
    if (!Facts.BlockOf.count(&B))
      continue;
    if (ReturnCodes::failsIn(B))
      Facts.Result.Program.Blocks[Facts.BlockOf[&B]].Fails = true;
    else
      for (BasicBlock *To : Codes.failingEdges(B))
        markFailingEdge(&B, To);
  }
}

} // namespace dragon
