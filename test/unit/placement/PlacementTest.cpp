//===- PlacementTest.cpp - the dataflow under placement -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/BufferProgramText.h"
#include "passes/placement/Legality.h"
#include "passes/placement/Liveness.h"
#include "passes/placement/NextUse.h"
#include "passes/placement/PointerFlow.h"

#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <set>

using namespace dragon;

namespace {

BufferProgram parse(const char *Text) {
  llvm::Expected<BufferProgram> Program = parseBufferProgram(Text);
  EXPECT_TRUE(static_cast<bool>(Program))
      << llvm::toString(Program.takeError());
  return std::move(*Program);
}

constexpr const char *Diamond = R"(
buffer a n
alloc a
-> left, right
block left
launch k1 must-write(a)
-> join
block right
-> join
block join
launch k2 read(a)
-> join, end
block end
free a
)";
enum { Entry, Left, Right, Join, End };

TEST(FlowGraph, DominatorsAndCycles) {
  BufferProgram Program = parse(Diamond);
  FlowGraph Graph(Program);
  EXPECT_TRUE(Graph.dominates(Entry, End));
  EXPECT_TRUE(Graph.dominates(Join, End));
  EXPECT_TRUE(Graph.dominates(Left, Left));
  EXPECT_FALSE(Graph.dominates(Left, Join));
  EXPECT_EQ(Graph.commonDominator(Left, Right), unsigned(Entry));
  EXPECT_EQ(Graph.commonDominator(Join, End), unsigned(Join));
  EXPECT_TRUE(Graph.inCycle(Join));
  EXPECT_FALSE(Graph.inCycle(Left));
  EXPECT_TRUE(Graph.mayPrecede({Join, 0}, {Join, 0}));
  EXPECT_FALSE(Graph.mayPrecede({End, 0}, {Join, 0}));
}

TEST(FlowGraph, UnreachableBlocksAreLeftOut) {
  BufferProgram Program = parse("buffer a n\nreturn\nblock lost\nalloc a\n");
  FlowGraph Graph(Program);
  EXPECT_EQ(Graph.order().size(), 1u);
  EXPECT_FALSE(Graph.reachable(1));
}

TEST(FlowGraph, NaturalLoops) {
  BufferProgram Program = parse("-> head\nblock head\n-> inner, after\n"
                                "block inner\n-> inner, latch\n"
                                "block latch\n-> head\nblock after\n");
  enum { Before, Head, Inner, Latch, After };
  FlowGraph Graph(Program);
  auto Blocks = [&](unsigned Header) {
    std::set<unsigned> Result;
    llvm::BitVector Loop = Graph.naturalLoop(Header);
    for (unsigned B : Loop.set_bits())
      Result.insert(B);
    return Result;
  };
  EXPECT_EQ(Blocks(Head), (std::set<unsigned>{Head, Inner, Latch}));
  EXPECT_EQ(Blocks(Inner), std::set<unsigned>{Inner});
  EXPECT_EQ(Blocks(After), std::set<unsigned>{});
  EXPECT_EQ(Graph.immediateDominator(Latch), unsigned(Inner));
  EXPECT_EQ(Graph.immediateDominator(After), unsigned(Head));
  EXPECT_TRUE(Graph.reaches(Latch, Inner));
  EXPECT_FALSE(Graph.reaches(After, Head));
  EXPECT_FALSE(Graph.inCycle(Before));
}

TEST(FlowGraph, CyclesThatNothingReachesAreNone) {
  BufferProgram Program =
      parse("buffer a n\nreturn\nblock lost\nlaunch k write(a)\n-> lost\n");
  FlowGraph Graph(Program);
  EXPECT_FALSE(Graph.inCycle(1));
}

TEST(Liveness, OneReaderIsEnough) {
  BufferProgram Program = parse(Diamond);
  FlowGraph Graph(Program);
  std::vector<bool> None(Program.Buffers.size());
  Liveness Live(Program, Graph, nullptr, None);
  EXPECT_FALSE(Live.liveIn(Entry)[0]);
  EXPECT_FALSE(Live.liveIn(Left)[0]); // overwritten first
  EXPECT_TRUE(Live.liveIn(Right)[0]);
  EXPECT_TRUE(Live.liveOut(Join)[0]); // read by the next iteration
  EXPECT_FALSE(Live.liveIn(End)[0]);
}

TEST(Liveness, ElidedStagingReadsItsSources) {
  BufferProgram Program = parse("staging h n\nbuffer d n\nfile f\n"
                                "alloc d\nlaunch k must-write(d)\n"
                                "copy-out h d\nfile-write f h\nfree d\n");
  FlowGraph Graph(Program);
  std::vector<bool> None(2), Staging{true, false};
  Liveness Plain(Program, Graph, nullptr, None);
  Liveness Elided(Program, Graph, nullptr, Staging);
  // In front of the write to the file.
  EXPECT_FALSE(Plain.liveWithin(0)[3][1]);
  EXPECT_TRUE(Elided.liveWithin(0)[3][1]);
  EXPECT_FALSE(Elided.liveWithin(0)[4][1]);
}

TEST(Liveness, EscapingBuffersLiveOn) {
  BufferProgram Program =
      parse("buffer a n escapes\nbuffer b n\nalloc a\nalloc b\n");
  FlowGraph Graph(Program);
  std::vector<bool> None(2);
  Liveness Live(Program, Graph, nullptr, None);
  EXPECT_TRUE(Live.liveOut(0)[0]);
  EXPECT_FALSE(Live.liveOut(0)[1]);
}

/// Whether the two pointers of the loop may be the same, as it goes on.
bool maySameInLoop(const char *From, const char *To) {
  const std::string Text =
      "buffer a n\nbuffer b n\n-> loop\nblock loop\n"
      "pointer from a from entry, " +
      std::string(From) + " from loop\npointer to b from entry, " + To +
      " from loop\nlaunch k read(from) write(to)\n-> loop\n";
  BufferProgram Program = parse(Text.c_str());
  FlowGraph Graph(Program);
  PointerFlow Flow(Program, Graph);
  EXPECT_EQ(Flow.maySame(2, 3), Flow.maySame(3, 2));
  return Flow.maySame(2, 3);
}

TEST(PointerFlow, ExchangedStayDifferent) {
  EXPECT_FALSE(maySameInLoop("to", "from"));
  EXPECT_FALSE(maySameInLoop("from", "to"));
  EXPECT_FALSE(maySameInLoop("a", "b"));
  EXPECT_TRUE(maySameInLoop("to", "to"));
  EXPECT_TRUE(maySameInLoop("a", "from"));
  EXPECT_TRUE(maySameInLoop("a|b", "from"));
}

TEST(PointerFlow, TheLaterOnesWaysDecide) {
  BufferProgram Program =
      parse("buffer a n\nbuffer b n\nbuffer c n\n-> one, two\nblock one\n"
            "-> two\nblock two\npointer p a from entry, b from one\n"
            "-> three, four\nblock three\n-> four\nblock four\n"
            "pointer q p from two, c from three\n"
            "pointer r c from two, p from three\n"
            "pointer s c from two, a from three\n");
  FlowGraph Graph(Program);
  PointerFlow Flow(Program, Graph);
  const NameId P = 3, Q = 4, R = 5, S = 6;
  EXPECT_TRUE(Flow.maySame(P, Q));
  EXPECT_FALSE(Flow.maySame(Q, R));
  EXPECT_FALSE(Flow.maySame(Q, S));
  EXPECT_TRUE(Flow.maySame(R, S));
  EXPECT_TRUE(Flow.maySame(S, 0));
  EXPECT_FALSE(Flow.maySame(S, 1));
}

TEST(Contents, AllocatedOnEveryPath) {
  BufferProgram Program = parse("buffer a n\nbuffer b n\nalloc a\n"
                                "-> one, two\nblock one\nalloc b\n-> end\n"
                                "block two\nfree a\n-> end\nblock end\n");
  FlowGraph Graph(Program);
  Contents Held(Program, Graph);
  EXPECT_TRUE(Held.mustBeAllocated(0, {1, 0}));
  EXPECT_TRUE(Held.mustBeAllocated(1, {1, 1}));
  EXPECT_FALSE(Held.mustBeAllocated(0, {3, 0}));
  EXPECT_FALSE(Held.mustBeAllocated(1, {3, 0}));
}

TEST(Contents, EndsTakeEffect) {
  BufferProgram Program =
      parse("buffer a n\nalloc a\nlaunch k write(a)\nlaunch k read(a)\n");
  FlowGraph Graph(Program);
  EXPECT_FALSE(Contents(Program, Graph).mayHold(0, {0, 1}));
  EXPECT_TRUE(Contents(Program, Graph).mayHold(0, {0, 2}));
  Contents::End Discard{0, {0, 2}};
  EXPECT_FALSE(Contents(Program, Graph, Discard).mayHold(0, {0, 3}));
}

TEST(NextUse, FirstEventOnEachPath) {
  BufferProgram Program = parse(Diamond);
  NextUses Next = nextUses(Program, {Entry, 1}, 0);
  EXPECT_EQ(Next.Events.size(), 2u);
  EXPECT_FALSE(Next.Never);
  EXPECT_TRUE(nextUses(Program, {End, 1}, 0).Never);
  EXPECT_FALSE(deviceWorkAhead(Program, {End, 0}));
  EXPECT_TRUE(deviceWorkAhead(Program, {Right, 0}));
}

TEST(Legality, FlowsStopWhereTheHostLooks) {
  BufferProgram Program = parse("staging h n\nbuffer d n\nfile f\n"
                                "file-read h f\ncopy-in d h\n"
                                "host-access h\ncopy-in d h\n"
                                "copy-out h d\nfile-write f h\n");
  FlowGraph Graph(Program);
  const StagingFlows All = stagingFlows(Program, Graph);
  const std::vector<StagingFlow> &Flows = All.OfFiles;
  ASSERT_EQ(Flows.size(), 2u);
  EXPECT_EQ(Flows[0].From.Index, 0u);
  EXPECT_EQ(Flows[0].To.Index, 1u);
  EXPECT_EQ(Flows[1].From.Index, 4u);
  EXPECT_EQ(Flows[1].To.Index, 5u);
  EXPECT_TRUE(All.Back.empty());
}

TEST(Legality, FlowsGoOnWhereTheHostReadsAPart) {
  BufferProgram Program = parse("staging h n\nbuffer d n\nbuffer e n\n"
                                "copy-out h d\nhost-access h reads part\n"
                                "copy-in e h\nhost-access h reads\n"
                                "copy-in d h\n");
  const StagingFlows All = stagingFlows(Program, FlowGraph(Program));
  EXPECT_TRUE(All.OfFiles.empty());
  ASSERT_EQ(All.Back.size(), 1u);
  EXPECT_EQ(All.Back[0].From.Index, 0u);
  EXPECT_EQ(All.Back[0].To.Index, 2u);
}

TEST(Legality, FailingPathsNeedNotArrive) {
  BufferProgram Program = parse("buffer a n\n-> good, bad, gone\n"
                                "block good\nalloc a\nreturn\n"
                                "block bad fails\nreturn\n"
                                "block gone\nexit\n");
  EXPECT_TRUE(alwaysReaches(Program, {0, 0}, {1, 0}));
  Program.Blocks[2].Fails = false;
  EXPECT_FALSE(alwaysReaches(Program, {0, 0}, {1, 0}));
}

// Discards against execution: random programs are run along random paths; a
// byte that is read must not have been discarded since it was written.
class Machine {
public:
  Machine(const BufferProgram &Program, const Placement &Result)
      : Program(Program), Result(Result), Dead(Program.Buffers.size()) {}

  /// Returns false if something dead was read.
  bool run(unsigned Seed) {
    unsigned Block = 0;
    for (unsigned Steps = 0; Steps < 40; ++Steps) {
      const auto &B = Program.Blocks[Block];
      apply({Block, 0}, Anchor::BlockEntry);
      for (unsigned I = 0; I < B.Events.size(); ++I) {
        EventRef At{Block, I};
        apply(At, Anchor::Before);
        for (const BufferUse &U : B.Events[I].Uses)
          if (U.Reads && Dead[U.Buffer])
            return false;
        for (const BufferUse &U : B.Events[I].Uses)
          if ((U.Writes && U.Whole) || B.Events[I].is<AllocateEvent>())
            Dead[U.Buffer] = false;
        apply(At, Anchor::After);
      }
      if (B.Successors.empty())
        return true;
      Seed = Seed * 1664525 + 1013904223;
      Block = B.Successors[(Seed >> 16) % B.Successors.size()];
    }
    return true;
  }

private:
  void apply(EventRef At, Anchor Where) {
    for (const Directive &D : Result.Directives)
      if (D.is<DiscardDirective>() && D.At == At && D.Where == Where)
        Dead[D.Buffer] = true;
  }

  const BufferProgram &Program;
  const Placement &Result;
  std::vector<bool> Dead;
};

BufferProgram randomProgram(unsigned Seed) {
  auto Next = [&Seed](unsigned Below) {
    Seed = Seed * 1664525 + 1013904223;
    return (Seed >> 16) % Below;
  };
  BufferProgram Program;
  Program.Buffers.resize(3);
  for (Buffer &B : Program.Buffers)
    B.Bytes = 1;
  Program.Blocks.resize(2 + Next(5));
  unsigned N = Program.Blocks.size();
  for (unsigned I = 0; I < N; ++I) {
    Block &B = Program.Blocks[I];
    if (I == 0)
      for (unsigned Buffer = 0; Buffer < 3; ++Buffer) {
        Event E;
        E.What = AllocateEvent{};
        E.Uses.push_back({Buffer, false, false, true, false});
        B.Events.push_back(E);
      }
    for (unsigned Count = Next(4); Count > 0; --Count) {
      Event E;
      if (Next(2))
        E.What = LaunchEvent{};
      else
        E.What = CopyInEvent{};
      E.Stream = DefaultStream;
      unsigned Buffer = Next(3);
      bool Reads = Next(2), Whole = Next(2);
      E.Uses.push_back({Buffer, Reads, !Reads || Next(2) != 0, Whole, Whole});
      B.Events.push_back(E);
    }
    if (I + 1 < N) {
      B.Successors.push_back(I + 1);
      if (Next(2))
        B.Successors.push_back(Next(N));
    } else {
      B.Returns = true;
    }
  }
  return Program;
}

TEST(Placement, NothingDiscardedIsRead) {
  unsigned Discards = 0;
  for (unsigned Seed = 1; Seed <= 400; ++Seed) {
    BufferProgram Program = randomProgram(Seed);
    Placement Result = place(Program);
    for (const Directive &D : Result.Directives)
      Discards += D.is<DiscardDirective>();
    for (unsigned Path = 1; Path <= 20; ++Path) {
      std::string Text;
      llvm::raw_string_ostream Out(Text);
      printBufferProgram(Program, Out);
      printPlacement(Program, Result, Out);
      ASSERT_TRUE(Machine(Program, Result).run(Seed * 100 + Path)) << Text;
    }
  }
  EXPECT_GT(Discards, 200u);
}

TEST(Remarks, WordingAndArguments) {
  Reason Why = Reason(RemarkId::DiscardedBeforeFree).with("Buffer", "d_A");
  EXPECT_EQ(remarkText(Why), "'d_A' discarded: freed before any read");
  EXPECT_EQ(remarkName(Why.Id), "DiscardedBeforeFree");
  EXPECT_EQ(remarkKind(RemarkId::NotMapped), RemarkKind::Missed);
}

} // namespace
