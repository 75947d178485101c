//===- DirectiveLowering.cpp - directives -> calls of the runtime ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/DirectiveLowering.h"

#include "passes/lifetime/CallEffects.h"
#include "passes/placement/DirectiveInserter.h"
#include "passes/rewrite/BufferHandles.h"
#include "passes/rewrite/CursorDiscard.h"
#include "passes/rewrite/DirectiveReasons.h"
#include "passes/rewrite/EntryPoints.h"
#include "passes/rewrite/LaterValues.h"
#include "passes/rewrite/OverwriteTest.h"
#include "passes/rewrite/StagingElision.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

class Lowering final : public DirectiveInserter {
public:
  Lowering(Function &F, BuiltProgram &Built, Placement &Decisions,
           const KernelSummaries &Kernels, FunctionAnalysisManager &Analyses,
           bool Reasons)
      : F(F), Built(Built), Kernels(Kernels), Analyses(Analyses),
        Reasons(F, Built, Decisions, Reasons), Dominators(F),
        Handles(F, Built, Dominators),
        Pointer(PointerType::getUnqual(F.getContext())),
        I32(Type::getInt32Ty(F.getContext())),
        I64(Type::getInt64Ty(F.getContext())) {}

private:
  bool insert(const Directive &D) override;
  void elide(const Placement &Decisions) override;
  void map(const Directive &D, const MapDirective &Map) override;

  ScalarEvolution &evolution() {
    return Analyses.getResult<ScalarEvolutionAnalysis>(F);
  }
  Instruction *instruction(EventRef At) const {
    return Built.Instructions[At.Block][At.Index];
  }
  Instruction *insertionPoint(const Directive &D);
  /// Whether the value is there in front of Point.
  bool available(const Value *V, const Instruction &Point) const {
    return V && Dominators.dominates(V, &Point);
  }
  bool lowerDiscard(const Directive &D, const DiscardDirective &Discard,
                    Instruction &Point);
  bool lowerForget(const Directive &D, Instruction &Point);
  bool callWith(const Directive &D, StringRef Entry, ArrayRef<Value *> More,
                Instruction &Point);
  bool lowerSink(const Directive &D, const SinkDirective &Sink,
                 Instruction &Point);
  bool lowerResult(const Directive &D, const ResultDirective &Placed,
                   Instruction &Point);
  Value *streamAt(EventRef At, StreamId Stream) const;
  Value *test(const Directive &D, const DiscardDirective &Discard,
              Value &Address, Instruction &Point);
  bool hasIndex(const ElementIndex &Of, const Instruction &Point) const;
  Value *indexAt(const ElementIndex &Of, Instruction &Point) const;
  Value *elementAt(unsigned Buffer, const ElementIndex &Of,
                   Instruction &Point) const;
  Value *named(NameId Name) const {
    const size_t Buffers = Built.Sites.size();
    return Name < Buffers ? Built.Sites[Name].Pointer
                          : Built.Pointers[Name - Buffers];
  }
  Value *byEdge(EventRef At, const DeadOnEdges &Dead, Instruction &Point) const;
  Value *namedAt(NameId Name, Instruction &Point) const;
  Value *addressAt(const Directive &D, const DiscardedPart &Of,
                   Instruction &Point) const;
  /// A discard that the launch in front of it can make piece by piece.
  bool withLaunch(const Directive &D) const {
    return D.is<DiscardDirective>() && D.Where == Anchor::After &&
           isLaunch(*cast<CallBase>(instruction(D.At)));
  }
  Constant *toTheEnd() const { return ConstantInt::get(I64, -1ull, true); }

  Function &F;
  BuiltProgram &Built;
  const KernelSummaries &Kernels;
  FunctionAnalysisManager &Analyses;
  DirectiveReasons Reasons;
  DominatorTree Dominators;
  BufferHandles Handles;
  Type *Pointer, *I32, *I64;
  /// Where what comes after an instruction goes: keeps the order of directives.
  DenseMap<Instruction *, Instruction *> Behind;
};

Instruction *Lowering::insertionPoint(const Directive &D) {
  BasicBlock *B = Built.Blocks[D.At.Block];
  if (!B)
    return nullptr;
  if (D.Where == Anchor::BlockEntry)
    return &*B->getFirstInsertionPt();
  if (D.At.Index >= Built.Instructions[D.At.Block].size())
    return B->getTerminator();
  Instruction *At = instruction(D.At);
  if (D.Where == Anchor::Before || withLaunch(D))
    return At;
  Instruction *&Next = Behind[At];
  if (!Next)
    Next = pointBehind(*At, Dominators);
  return Next;
}

/// The stream of the event.
Value *Lowering::streamAt(EventRef At, StreamId Stream) const {
  if (Stream == DefaultStream)
    return ConstantPointerNull::get(cast<PointerType>(Pointer));
  auto *Call = cast<CallBase>(instruction(At));
  if (Value *Given = Built.LibraryStreams.lookup(Call))
    return Given;
  if (const CallEffect *Effect = callEffect(*Call);
      Effect && Effect->Stream >= 0)
    return Call->getArgOperand(Effect->Stream);
  CallBase *Push = launchConfiguration(*Call);
  return Push ? Push->getArgOperand(Push->arg_size() - 1) : nullptr;
}

bool Lowering::hasIndex(const ElementIndex &Of,
                        const Instruction &Point) const {
  if (Of.Loop >= 0)
    return available(Built.Counters[static_cast<size_t>(Of.Loop)], Point);
  return !Of.At.Base || available(Built.Numbers[Of.At.Base - 1], Point);
}

/// As an i64.
Value *Lowering::indexAt(const ElementIndex &Of, Instruction &Point) const {
  IRBuilder<> Builder(&Point);
  const Value *From = Of.Loop >= 0
                          ? Built.Counters[static_cast<size_t>(Of.Loop)]
                      : Of.At.Base ? Built.Numbers[Of.At.Base - 1]
                                   : nullptr;
  Value *Plus = Builder.getInt64(static_cast<uint64_t>(Of.At.Plus));
  if (!From)
    return Plus;
  return Builder.CreateAdd(Builder.CreateSExtOrTrunc(const_cast<Value *>(From),
                                                     Builder.getInt64Ty()),
                           Plus);
}

/// The element's address, or null if there is no such element.
Value *Lowering::elementAt(unsigned Buffer, const ElementIndex &Of,
                           Instruction &Point) const {
  AllocaInst *Array = Built.Arrays.lookup(Buffer);
  IRBuilder<> Builder(&Point);
  Value *Index = indexAt(Of, Point);
  Value *Inside = Builder.CreateICmpULT(
      Index, Builder.getInt64(
                 cast<ArrayType>(Array->getAllocatedType())->getNumElements()));
  Value *Null = ConstantPointerNull::get(cast<PointerType>(Pointer));
  Value *From = Builder.CreateInBoundsGEP(
      Pointer, Array, Builder.CreateSelect(Inside, Index, Builder.getInt64(0)));
  return Builder.CreateSelect(
      Inside, Builder.CreateFreeze(Builder.CreateLoad(Pointer, From)), Null);
}

/// What is dead on the edge to the point, null on others; or null if that is
/// not at hand.
Value *Lowering::byEdge(EventRef At, const DeadOnEdges &Dead,
                        Instruction &Point) const {
  Constant *Nothing = ConstantPointerNull::get(cast<PointerType>(Pointer));
  if (Dead.Select >= 0) {
    auto *Like = cast<SelectInst>(Built.Pointers[Dead.Select]);
    Value *If[2] = {Nothing, Nothing};
    for (const DeadOnEdge &Edge : Dead.Edges)
      If[Edge.From] = named(Edge.Name);
    if (!available(If[0], Point) || !available(If[1], Point) ||
        !available(Like, Point))
      return nullptr;
    return IRBuilder<>(&Point).CreateSelect(Like->getCondition(), If[1], If[0]);
  }
  BasicBlock *Block = Built.Blocks[At.Block];
  DenseMap<const BasicBlock *, Value *> ValueFrom;
  for (const DeadOnEdge &Edge : Dead.Edges)
    if (BasicBlock *From = Built.Blocks[Edge.From]) {
      Value *V = named(Edge.Name);
      if (!available(V, *From->getTerminator()))
        return nullptr;
      ValueFrom[From] = V;
    }
  SmallVector<std::pair<BasicBlock *, Value *>, 4> Incoming;
  for (BasicBlock *From : predecessors(Block)) {
    Value *V = ValueFrom.lookup(From);
    // An edge may have got a block.
    if (!V && !is_contained(Built.Blocks, From))
      if (const BasicBlock *Before = From->getSinglePredecessor())
        V = ValueFrom.lookup(Before);
    Incoming.emplace_back(From, V ? V : Nothing);
  }
  PHINode *Phi =
      PHINode::Create(Pointer, Incoming.size(), "dragon.dead", Block->begin());
  for (auto [From, V] : Incoming)
    Phi->addIncoming(V, From);
  return Phi;
}

Value *Lowering::namedAt(NameId Name, Instruction &Point) const {
  Value *Address = named(Name);
  return available(Address, Point) ? Address : nullptr;
}

/// The address of what is discarded, or null if it is not at hand.
Value *Lowering::addressAt(const Directive &D, const DiscardedPart &Of,
                           Instruction &Point) const {
  return std::visit(
      makeVisitor(
          [&](const WholeBuffer &) { return namedAt(D.Buffer, Point); },
          [&](const BelowCursor &) { return namedAt(D.Buffer, Point); },
          [&](const ElementIndex &Element) -> Value * {
            return hasIndex(Element, Point)
                       ? elementAt(D.Buffer, Element, Point)
                       : nullptr;
          },
          [&](const PointedTo &By) { return namedAt(By.Name, Point); },
          [&](const DeadOnEdges &Dead) { return byEdge(D.At, Dead, Point); }),
      Of);
}

/// The least of the tests, or null if one cannot be made.
Value *Lowering::test(const Directive &D, const DiscardDirective &Discard,
                      Value &Address, Instruction &Point) {
  const auto *Element = Discard.of<ElementIndex>();
  SmallVector<OverwriteTest, 2> Tests;
  SmallVector<const Instruction *, 8> Others;
  for (EventRef At : Built.Program.uses(D.Buffer))
    Others.push_back(instruction(At));
  for (EventRef At : Discard.Tests) {
    const BufferUse *U = Built.Program.event(At).find(D.Buffer);
    auto &Call = *cast<CallBase>(instruction(At));
    std::shared_ptr<LaterValues> Values;
    if (Element && U->Element) {
      const ElementIndex &Tested = *U->Element;
      const PHINode *Counter = nullptr;
      Value *Given = nullptr;
      if (Tested.Loop >= 0) {
        // The iteration in which the launch comes to this element.
        Counter = Built.Counters[static_cast<size_t>(Tested.Loop)];
        IRBuilder<> Builder(&Point);
        Given = Builder.CreateSExtOrTrunc(
            Builder.CreateSub(
                indexAt(*Element, Point),
                Builder.getInt64(static_cast<uint64_t>(Tested.At.Plus))),
            Counter->getType());
      }
      Values = std::make_shared<LaterValues>(Point, Call, Dominators, Counter,
                                             Given);
    } else {
      Values = std::make_shared<LaterValues>(Point, Call, Dominators, Others);
    }
    std::optional<OverwriteTest> Test =
        OverwriteTest::plan(Call, static_cast<unsigned>(U->Operand), Point,
                            std::move(Values), Kernels);
    if (!Test)
      return nullptr;
    Tests.push_back(std::move(*Test));
  }
  Value *Result = nullptr;
  for (const OverwriteTest &Test : Tests) {
    Value *One = Test.emit(Address);
    Result = Result ? IRBuilder<>(&Point).CreateBinaryIntrinsic(Intrinsic::umin,
                                                                Result, One)
                    : One;
  }
  return Result;
}

bool Lowering::lowerSink(const Directive &D, const SinkDirective &Sink,
                         Instruction &Point) {
  if (!namedAt(D.Buffer, Point))
    return false;
  auto *Write = cast<CallBase>(instruction(Sink.Write));
  const CallEffect *Effect = callEffect(*Write);
  Value *File = Write->getArgOperand(Effect->File)->stripPointerCasts();
  StringRef Entry = File->getType()->isPointerTy() ? "__dragon_will_fwrite"
                                                   : "__dragon_will_write";
  SmallVector<Value *, 2> Place = {File};
  if (Sink.Open) {
    Entry = "__dragon_will_create";
    Place = {cast<CallBase>(instruction(*Sink.Open))->getArgOperand(0)};
  } else if (Effect->Offset >= 0) {
    Entry = "__dragon_will_pwrite";
    Place.push_back(Write->getArgOperand(Effect->Offset));
  }
  if (!all_of(Place, [&](const Value *V) { return available(V, Point); }))
    return false;
  Reasons.tell(D, Point);
  callWith(D, Entry, Place, Point);
  if (Sink.Open)
    cast<CallBase>(instruction(*Sink.Open))
        ->setCalledFunction(entryPoint(*F.getParent(), "__dragon_fopen"));
  return true;
}

bool Lowering::lowerResult(const Directive &D, const ResultDirective &Placed,
                           Instruction &Point) {
  if (!namedAt(D.Buffer, Point))
    return false;
  Reasons.tell(D, Point);
  return callWith(D, "__dragon_will_copy_out",
                  {Handles.get(Placed.Host, Point).Address}, Point);
}

void Lowering::map(const Directive &D, const MapDirective &Map) {
  CallBase *Call = Built.Sites[D.Buffer].Call;
  const Buffer &B = Built.Program.Buffers[D.Buffer];
  Reasons.tell(D, *Call);
  replaceCall(*Call, entryPoint(*F.getParent(), "__dragon_malloc"),
              {Call->getArgOperand(0), Call->getArgOperand(1),
               ConstantInt::get(I32, Map.Flags), Reasons.sourceOf(B)});
}

bool Lowering::lowerForget(const Directive &D, Instruction &Point) {
  if (!namedAt(D.Buffer, Point))
    return false;
  Reasons.tellEnd(D, Point);
  return callWith(D, "__dragon_stage_forget", {}, Point);
}

bool Lowering::lowerDiscard(const Directive &D, const DiscardDirective &Discard,
                            Instruction &Point) {
  Value *Address = addressAt(D, Discard.Of, Point);
  Value *Stream = Address ? streamAt(D.At, Discard.Stream) : nullptr;
  if (!Stream || !available(Stream, Point))
    return false;
  Value *Condition = ConstantInt::get(I32, 1), *Bytes = toTheEnd();
  if (Discard.of<BelowCursor>()) {
    std::optional<CursorDiscard> Below =
        emitCursorDiscard(D, Discard.Tests, Built, Kernels, evolution(), Point);
    if (!Below)
      return false;
    Condition = Below->Condition;
    Bytes = Below->Bytes;
  } else if (!Discard.Tests.empty()) {
    Bytes = test(D, Discard, *Address, Point);
    if (!Bytes)
      return false;
  }
  Reasons.tell(D, Point);
  const bool Eager = Discard.Eager;
  if (withLaunch(D))
    callEntry(Eager ? "__dragon_last_use_eagerly" : "__dragon_last_use",
              {Condition, Address, Bytes}, Point);
  else if (isa<Constant>(Condition))
    callEntry(Eager ? "__dragon_discard_eagerly" : "__dragon_discard",
              {Address, Bytes, Stream}, Point);
  else
    callEntry("__dragon_discard_if", {Condition, Address, Bytes, Stream},
              Point);
  return true;
}

/// Of all of the buffer.
bool Lowering::callWith(const Directive &D, StringRef Entry,
                        ArrayRef<Value *> More, Instruction &Point) {
  auto [Address, Bytes] = Handles.get(D.Buffer, Point);
  SmallVector<Value *, 4> Args{Address, Bytes};
  append_range(Args, More);
  callEntry(Entry, Args, Point);
  return true;
}

bool Lowering::insert(const Directive &D) {
  Instruction *Point = insertionPoint(D);
  if (!Point)
    return false;
  return std::visit(
      makeVisitor(
          [](const MapDirective &) { return false; },
          [](const ElideDirective &) { return false; },
          [](const DeferDirective &) { return false; },
          [](const ZeroDirective &) { return false; },
          [&](const SettleDirective &) {
            return callWith(D, "__dragon_settle", {}, *Point);
          },
          [&](const MaterialiseDirective &) {
            materialise(D, Built, Handles, evolution(), *Point);
            return true;
          },
          [&](const ForgetDirective &) { return lowerForget(D, *Point); },
          [&](const DiscardDirective &Discard) {
            return lowerDiscard(D, Discard, *Point);
          },
          [&](const SinkDirective &Sink) { return lowerSink(D, Sink, *Point); },
          [&](const SinkEndsDirective &Ends) {
            return callWith(D, "__dragon_sink_ends",
                            {ConstantInt::get(I32, Ends.Dead)}, *Point);
          },
          [&](const ResultDirective &Placed) {
            return lowerResult(D, Placed, *Point);
          },
          [&](const NextUseDirective &Next) {
            Value *Address = namedAt(D.Buffer, *Point);
            if (Address)
              callEntry("__dragon_next_use",
                        {Address, ConstantInt::get(I32, Next.Launches)},
                        *Point);
            return Address != nullptr;
          },
          [&](const FollowsDirective &) {
            callEntry("__dragon_launch_follows", {}, *Point);
            return true;
          }),
      D.What);
}

void Lowering::elide(const Placement &Decisions) {
  for (const Directive &D : Decisions.Directives)
    if (D.is<DeferDirective, ZeroDirective>())
      Reasons.tell(D, *instruction(D.At));
  elideStaging(Built, Decisions, Handles,
               [&](unsigned Staging, const Event &E, CallBase &Call) {
                 Reasons.tellElision(Staging, E, Call);
               });
}

} // namespace

bool lowerDirectives(Function &F, BuiltProgram &Built, Placement &Decisions,
                     const KernelSummaries &Kernels,
                     FunctionAnalysisManager &Analyses, bool Reasons) {
  return Lowering(F, Built, Decisions, Kernels, Analyses, Reasons)
      .run(Decisions);
}

} // namespace dragon
