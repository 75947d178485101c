//===- DragonPatterns.cpp - operations of the dragon dialect --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dragon dialect's operations as calls of dragon/dragon.h and
// dragon/CompilerABI.h. Hints cannot fail.
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"
#include "passes/mlir/lowering/Buffers.h"

using namespace mlir;

namespace dragon::ir {

namespace {

using Rewriter = ConversionPatternRewriter;

class MapPattern : public HostPattern<MapOp> {
public:
  using HostPattern::HostPattern;

  LogicalResult matchAndRewrite(MapOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    const Location Loc = Op.getLoc();
    auto Ty = cast<MemRefType>(Op.getMemref().getType());
    SmallVector<Value> Sizes, Strides;
    Value Bytes;
    getMemRefDescriptorSizes(Loc, Ty, Adaptor.getDynamicSizes(), Rewriter,
                             Sizes, Strides, Bytes);
    Value Offset =
        Adaptor.getOffset() ? Adaptor.getOffset() : Calls.i64(Rewriter, Loc, 0);
    Value Place = Calls.stack(Rewriter, Loc, Calls.PtrType);
    Calls.dragon(Rewriter, Loc, "dragon_map",
                 {Calls.text(Rewriter, Loc, Op.getFile()), Bytes, Offset,
                  Calls.i32(Rewriter, Loc, int64_t(Op.getFlags())), Place});
    Rewriter.replaceOp(Op, describe(Rewriter, Loc, Ty, Sizes, Strides, Place));
    return success();
  }
};

class AllocPattern : public HostPattern<AllocOp> {
public:
  using HostPattern::HostPattern;

  LogicalResult matchAndRewrite(AllocOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    auto Flags = uint32_t(Op.getFlags().value_or(MapFlags::none));
    if (Plan.hostTouches(Op))
      Flags |= DRAGON_HOST_ACCESS;
    Rewriter.replaceOp(Op, allocate(Rewriter, Op.getLoc(),
                                    cast<MemRefType>(Op.getMemref().getType()),
                                    Adaptor.getDynamicSizes(), Flags));
    return success();
  }
};

/// Calls with the buffer's address alone.
template <typename SourceOp>
class AddressPattern : public HostPattern<SourceOp> {
public:
  using HostPattern<SourceOp>::HostPattern;

  LogicalResult matchAndRewrite(SourceOp Op, typename SourceOp::Adaptor Adaptor,
                                Rewriter &Rewriter) const override {
    const Location Loc = Op.getLoc();
    Value Pointer = this->bufferOf(Rewriter, Loc, Op.getMemref().getType(),
                                   Adaptor.getMemref());
    if constexpr (std::is_same_v<SourceOp, FreeOp>)
      this->Calls.cuda(Rewriter, Loc, "cudaFree", Pointer);
    else
      this->Calls.dragon(Rewriter, Loc,
                         std::is_same_v<SourceOp, SyncOp> ? "dragon_sync"
                                                          : "dragon_unmap",
                         Pointer);
    Rewriter.eraseOp(Op);
    return success();
  }
};

/// Of all bytes up to the buffer's end.
template <typename SourceOp>
Value bytesOrAll(Rewriter &Rewriter, SourceOp Op, HostCalls &Calls,
                 Value Bytes) {
  return Bytes ? Bytes : Calls.i64(Rewriter, Op.getLoc(), -1);
}

class PrefetchPattern : public HostPattern<PrefetchOp> {
public:
  using HostPattern::HostPattern;

  LogicalResult matchAndRewrite(PrefetchOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    const Location Loc = Op.getLoc();
    Type Ty = Op.getMemref().getType();
    Value Bytes = Adaptor.getBytes()
                      ? Adaptor.getBytes()
                      : bytesOf(Rewriter, Loc, Ty, Adaptor.getMemref());
    // Of a part that is not known nothing is asked for.
    if (Bytes)
      Calls.call(Rewriter, Loc, "dragon_prefetch", Calls.I32Type,
                 {bufferOf(Rewriter, Loc, Ty, Adaptor.getMemref()), Bytes});
    Rewriter.eraseOp(Op);
    return success();
  }
};

class DiscardPattern : public HostPattern<DiscardOp> {
public:
  using HostPattern::HostPattern;

  LogicalResult matchAndRewrite(DiscardOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    const Location Loc = Op.getLoc();
    Value Stream =
        Adaptor.getAfter() ? Adaptor.getAfter() : Calls.null(Rewriter, Loc);
    Calls.call(
        Rewriter, Loc,
        Op.getEager() ? "__dragon_discard_eagerly" : "__dragon_discard",
        Calls.VoidType,
        {bufferOf(Rewriter, Loc, Op.getMemref().getType(), Adaptor.getMemref()),
         bytesOrAll(Rewriter, Op, Calls, Adaptor.getBytes()), Stream});
    if (!Plan.endingAt(Op).empty())
      Calls.cuda(Rewriter, Loc, "cudaStreamDestroy", Stream);
    Rewriter.eraseOp(Op);
    return success();
  }
};

class LastUsePattern : public HostPattern<LastUseOp> {
public:
  using HostPattern::HostPattern;

  LogicalResult matchAndRewrite(LastUseOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    const Location Loc = Op.getLoc();
    Calls.call(
        Rewriter, Loc,
        Op.getEager() ? "__dragon_last_use_eagerly" : "__dragon_last_use",
        Calls.VoidType,
        {Calls.i32(Rewriter, Loc, 1),
         bufferOf(Rewriter, Loc, Op.getMemref().getType(), Adaptor.getMemref()),
         bytesOrAll(Rewriter, Op, Calls, Adaptor.getBytes())});
    Rewriter.eraseOp(Op);
    return success();
  }
};

class NextUsePattern : public HostPattern<NextUseOp> {
public:
  using HostPattern::HostPattern;

  LogicalResult matchAndRewrite(NextUseOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    const Location Loc = Op.getLoc();
    Calls.call(
        Rewriter, Loc, "__dragon_next_use", Calls.VoidType,
        {bufferOf(Rewriter, Loc, Op.getMemref().getType(), Adaptor.getMemref()),
         Calls.i32(Rewriter, Loc,
                   int32_t(Op.getLaunches().value_or(UINT32_MAX)))});
    Rewriter.eraseOp(Op);
    return success();
  }
};

class LaunchFollowsPattern : public HostPattern<LaunchFollowsOp> {
public:
  using HostPattern::HostPattern;

  LogicalResult matchAndRewrite(LaunchFollowsOp Op, OpAdaptor,
                                Rewriter &Rewriter) const override {
    Calls.call(Rewriter, Op.getLoc(), "__dragon_launch_follows", Calls.VoidType,
               {});
    Rewriter.eraseOp(Op);
    return success();
  }
};

class OverwrittenPattern : public HostPattern<OverwrittenOp> {
public:
  using HostPattern::HostPattern;

  LogicalResult matchAndRewrite(OverwrittenOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    const Location Loc = Op.getLoc();
    LaunchShape Shape = launchShape(
        Rewriter, Loc, Calls,
        {Adaptor.getGridX(), Adaptor.getGridY(), Adaptor.getGridZ()},
        {Adaptor.getBlockX(), Adaptor.getBlockY(), Adaptor.getBlockZ()});
    SmallVector<Value> Args;
    for (auto [i, Operand, Lowered] :
         llvm::enumerate(Op.getKernelOperands(), Adaptor.getKernelOperands())) {
      auto Ty = dyn_cast<MemRefType>(Operand.getType());
      if (isa<UnrankedMemRefType>(Operand.getType()))
        return Op.emitOpError("cannot pass ") << Operand.getType();
      if (!Ty) {
        Args.push_back(Lowered);
        continue;
      }
      const size_t First = Args.size();
      MemRefDescriptor::unpack(Rewriter, Loc, Lowered, Ty, Args);
      // Pointers into other buffers say nothing.
      if (int64_t(i) != int64_t(Op.getOperand()))
        for (Value &Pointer : MutableArrayRef(Args).slice(First, 2))
          Pointer = LLVM::ZeroOp::create(Rewriter, Loc, Pointer.getType());
    }
    const size_t Asked = size_t(Op.getOperand());
    Value Pointer =
        bufferOf(Rewriter, Loc, Op.getKernelOperands()[Asked].getType(),
                 Adaptor.getKernelOperands()[Asked]);
    Rewriter.replaceOp(
        Op, Calls.call(
                Rewriter, Loc, "__dragon_overwritten", Calls.I64Type,
                {Calls.stub(Rewriter, Loc, Op.getKernel().getLeafReference()),
                 Shape.GridXY, Shape.GridZ, Shape.BlockXY, Shape.BlockZ,
                 Calls.argumentArray(Rewriter, Loc, Args), Pointer}));
    return success();
  }
};

} // namespace

void populateDragonPatterns(const LLVMTypeConverter &Converter,
                            RewritePatternSet &Patterns,
                            HostLowering &Lowering) {
  Patterns.add<MapPattern, AllocPattern, AddressPattern<FreeOp>,
               AddressPattern<SyncOp>, AddressPattern<UnmapOp>, PrefetchPattern,
               DiscardPattern, LastUsePattern, NextUsePattern,
               LaunchFollowsPattern, OverwrittenPattern>(Converter, Lowering);
}

} // namespace dragon::ir
