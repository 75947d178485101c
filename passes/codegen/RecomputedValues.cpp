//===- RecomputedValues.cpp - which values a loop computes again ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/RecomputedValues.h"
#include "passes/codegen/RegisterPressure.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/MathExtras.h"

#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include <vector>

using namespace llvm;

namespace dragon {

namespace {

/// Costs are in quarters of an instruction of 32 bits.
constexpr unsigned Instruction32 = 4;
/// What the saving of a register is worth, one after the other.
constexpr unsigned Worths[] = {2, 5, 9, 17, 33};
/// The last of them where no register is spilled.
constexpr unsigned EnoughWorth = 9;
/// The loop may get longer by this part, and by this much for each register
/// that would be spilled.
constexpr unsigned MostLonger = 48;
constexpr unsigned Spill = 2 * Instruction32;
/// What a loop needs when it has been short; less brings nothing.
constexpr unsigned wanted(unsigned Limit) { return Limit / 8 * 5; }
/// Of a loop, at least: what is done behind it counts so much less.
constexpr unsigned Iterations = 16;
/// Values further than that from the loop come in as they are.
constexpr unsigned MostDepth = 12;
constexpr unsigned Never = 1u << 28;

bool isWide(const Value &V) {
  return V.getType()->isPointerTy() || V.getType()->isIntegerTy(64);
}

bool isExtended(const Value &V) { return isa<SExtInst, ZExtInst>(V); }

/// A multiply-add takes an extended 32 bit factor as it is.
unsigned costOfAddress(const GetElementPtrInst &Address) {
  unsigned Cost = 0;
  for (const Use &Index : Address.indices())
    if (!isa<Constant>(Index))
      Cost += (isExtended(*Index.get()) ? 1 : 2) * Instruction32;
  return Cost;
}

/// `Never`: it is not computed a second time.
unsigned costOf(const Instruction &I) {
  const Type *T = I.getType();
  if (!T->isIntegerTy(32) && !isWide(I))
    return Never;
  const unsigned Once = isWide(I) ? 2 * Instruction32 : Instruction32;
  switch (I.getOpcode()) {
  case Instruction::SExt:
  case Instruction::ZExt:
    return I.getOperand(0)->getType()->isIntegerTy(32) ? 1 : Never;
  case Instruction::Trunc:
    return isWide(*I.getOperand(0)) ? 1 : Never;
  case Instruction::GetElementPtr:
    return costOfAddress(cast<GetElementPtrInst>(I));
  // Addresses have offsets.
  case Instruction::Add:
  case Instruction::Or:
    return isa<ConstantInt>(I.getOperand(1)) ? 1 : Once;
  case Instruction::AddrSpaceCast:
  case Instruction::Sub:
  case Instruction::And:
  case Instruction::Xor:
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
    return Once;
  case Instruction::Mul:
    if (!isWide(I))
      return Once;
    return isExtended(*I.getOperand(0)) || isExtended(*I.getOperand(1))
               ? Once
               : 2 * Once;
  default:
    return Never;
  }
}

/// Of values that are live at once.
struct RegisterCount {
  DenseSet<const Value *> Seen;
  unsigned All = 0;
  void add(const Value &V) {
    const Value &Held = withoutOffsets(V);
    if (Seen.insert(&Held).second)
      All += registersOf(Held);
  }
};

/// The values and what they are computed from.
class Graph {
public:
  explicit Graph(const Loop &L);

  struct Choice {
    DenseSet<const Instruction *> Values;
    unsigned Cost = 0;  ///< of all that is computed in the loop
    unsigned Saved = 0; ///< registers
  };
  Choice cheapest(unsigned Worth) const;
  /// A quarter of an instruction each.
  unsigned lengthOfLoop() const { return Length; }

private:
  struct Node {
    const Value *V;
    unsigned Registers;
    unsigned Cost;
    unsigned UsedIn = 0; ///< blocks of the loop
    bool UsedBehind = false;
    SmallVector<unsigned, 2> Operands{};
  };
  unsigned add(const Value &V, unsigned Depth);
  void addUses(const Instruction &I, UsesBehind &Behind);
  static unsigned costOfAll(const Node &N);
  bool comesIn(const Value &V) const {
    const auto *I = dyn_cast<Instruction>(&V);
    return registersOf(V) && !(I && L.contains(I));
  }

  const Loop &L;
  unsigned Length = 0;
  std::vector<Node> Nodes;
  DenseMap<const Value *, unsigned> Numbers;
};

unsigned Graph::add(const Value &V, unsigned Depth) {
  const auto [Known, New] = Numbers.try_emplace(&V, unsigned(Nodes.size()));
  const unsigned Number = Known->second;
  if (!New)
    return Number;
  const auto *I = dyn_cast<Instruction>(&V);
  const bool CanCopy = I && Depth < MostDepth && costOf(*I) != Never &&
                       (&withoutOffsets(*I) != I ||
                        any_of(
                            I->operands(),
                            [](const Use &From) {
                              return RecomputedValues::canHide(*From.get());
                            }));
  Nodes.push_back({&V, registersOf(V), CanCopy ? costOf(*I) : Never});
  if (!CanCopy)
    return Number;
  for (const Use &Operand : I->operands())
    if (comesIn(*Operand.get())) {
      const unsigned From = add(*Operand.get(), Depth + 1);
      Nodes[Number].Operands.push_back(From);
    }
  return Number;
}

Graph::Graph(const Loop &L) : L(L) {
  for (const BasicBlock *Block : L.blocks())
    Length += unsigned(Block->size()) * Instruction32;
  UsesBehind Behind(L);
  for (const BasicBlock &Block : *L.getHeader()->getParent()) {
    if (L.contains(&Block))
      continue;
    for (const Instruction &I : Block)
      if (registersOf(I))
        addUses(I, Behind);
  }
}

void Graph::addUses(const Instruction &I, UsesBehind &Behind) {
  DenseSet<const BasicBlock *> UsedIn;
  bool UsedBehind = false;
  for (const Use &Used : I.uses())
    if (const BasicBlock *Block = blockOf(Used); L.contains(Block))
      UsedIn.insert(Block);
    else
      UsedBehind |= Behind.contains(I, Used);
  if (UsedIn.empty() && !UsedBehind)
    return;
  Node &N = Nodes[add(I, 0)];
  N.UsedIn = UsedIn.size();
  N.UsedBehind = UsedBehind;
}

unsigned Graph::costOfAll(const Node &N) {
  return N.Cost * std::max(N.UsedIn, N.UsedBehind ? 0u : 1u) +
         unsigned(divideCeil(N.UsedBehind ? N.Cost : 0, Iterations));
}

/// On the source's side of the cut is what is computed in the loop.
Graph::Choice Graph::cheapest(unsigned Worth) const {
  using Network = lemon::SmartDigraph;
  Network Net;
  const Network::Node Used = Net.addNode(), Outside = Net.addNode();
  std::vector<Network::Node> Computed, Needed;
  for (size_t I = 0; I < Nodes.size(); ++I) {
    Computed.push_back(Net.addNode());
    Needed.push_back(Net.addNode());
  }
  Network::ArcMap<int64_t> Capacity(Net);
  auto Connect = [&](Network::Node From, Network::Node To, int64_t Most) {
    Capacity[Net.addArc(From, To)] = Most;
  };
  for (size_t I = 0; I < Nodes.size(); ++I) {
    const Node &N = Nodes[I];
    if (N.UsedIn || N.UsedBehind)
      Connect(Used, Needed[I], Never);
    Connect(Needed[I], Computed[I], int64_t(N.Registers) * Worth);
    Connect(Computed[I], Outside,
            N.Cost == Never ? Never : int64_t(costOfAll(N)));
    for (unsigned From : N.Operands)
      Connect(Computed[I], Needed[From], Never);
  }
  lemon::Preflow<Network, Network::ArcMap<int64_t>> Flow(Net, Capacity, Used,
                                                         Outside);
  Flow.runMinCut();
  Choice Result;
  RegisterCount Before, After;
  for (size_t I = 0; I < Nodes.size(); ++I) {
    const Node &N = Nodes[I];
    const bool Again = Flow.minCut(Computed[I]);
    if (N.UsedIn || N.UsedBehind)
      Before.add(*N.V);
    if (!Again && Flow.minCut(Needed[I]))
      After.add(*N.V);
    if (Again) {
      Result.Values.insert(cast<Instruction>(N.V));
      Result.Cost += costOfAll(N);
    }
  }
  Result.Saved = Before.All - std::min(Before.All, After.All);
  return Result;
}

} // namespace

BasicBlock *blockOf(const Use &Used) {
  auto *User = cast<Instruction>(Used.getUser());
  auto *Phi = dyn_cast<PHINode>(User);
  return Phi ? Phi->getIncomingBlock(Used) : User->getParent();
}

const UsesBehind::Blocks &
UsesBehind::reachedWithout(const BasicBlock &Definition) {
  const auto [Found, New] = Reached.try_emplace(&Definition);
  if (!New)
    return Found->second;
  SmallVector<BasicBlock *, 16> Next;
  L.getExitBlocks(Next);
  while (!Next.empty())
    if (BasicBlock *Block = Next.pop_back_val();
        Block != &Definition && !L.contains(Block) &&
        Found->second.insert(Block).second)
      append_range(Next, successors(Block));
  return Found->second;
}

bool UsesBehind::contains(const Instruction &V, const Use &Used) {
  return reachedWithout(*V.getParent()).contains(blockOf(Used));
}

bool RecomputedValues::canHide(const Value &V) {
  const Type *T = V.getType();
  return !isa<Constant>(V) &&
         (T->isIntegerTy(32) || T->isIntegerTy(64) ||
          (T->isPointerTy() && T->getPointerAddressSpace() != 0));
}

RecomputedValues::RecomputedValues(const Loop &L, unsigned Peak,
                                   unsigned Limit) {
  const Graph Values(L);
  const unsigned Most = Values.lengthOfLoop() / MostLonger +
                        (Peak > Limit ? Peak - Limit : 0) * Spill;
  for (unsigned Worth : Worths) {
    Graph::Choice Now = Values.cheapest(Worth);
    if (Now.Cost > Most)
      break;
    Chosen = std::move(Now.Values);
    const unsigned Left = Peak - std::min(Peak, Now.Saved);
    if (Left <= wanted(Limit) || (Worth >= EnoughWorth && Left <= Limit))
      break;
  }
}

} // namespace dragon
