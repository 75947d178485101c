//===- GpuPatterns.cpp - host operations of the gpu dialect ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gpu dialect's operations as calls of the CUDA runtime API, which is our
// runtime's front. Kernels are launched as clang's code for CUDA launches them:
// by the address of a stub, with an array of pointers to the arguments. Which
// streams there are, and when the host waits, is in HostPlan.h.
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"
#include "passes/mlir/lowering/Buffers.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dragon::ir {

namespace {

enum : int64_t {
  MemcpyDefault = 4,     // cudaMemcpyDefault
  EventDisableTiming = 2 // cudaEventDisableTiming
};

/// Operations that may have tokens.
template <typename SourceOp>
class StreamPattern : public HostPattern<SourceOp> {
public:
  using HostPattern<SourceOp>::HostPattern;

protected:
  using Rewriter = ConversionPatternRewriter;

  /// The stream of the operation's work; null is the default stream.
  Value begin(Rewriter &Rewriter, SourceOp Op, ValueRange Dependencies) const {
    const Location Loc = Op.getLoc();
    HostCalls &Calls = this->Calls;
    if (Dependencies.empty() && !Op.getAsyncToken())
      return Calls.null(Rewriter, Loc);
    if (Dependencies.empty()) {
      Value Place = Calls.stack(Rewriter, Loc, Calls.PtrType);
      // Not a non-blocking one: work that the host does not wait for is in the
      // default stream.
      Calls.cuda(Rewriter, Loc, "cudaStreamCreate", Place);
      return LLVM::LoadOp::create(Rewriter, Loc, Calls.PtrType, Place);
    }
    Value Stream = Dependencies.front();
    for (Value Other : Dependencies.drop_front()) {
      if (Other == Stream)
        continue;
      Value Place = Calls.stack(Rewriter, Loc, Calls.PtrType);
      Calls.cuda(
          Rewriter, Loc, "cudaEventCreateWithFlags",
          {Place, Calls.i32(Rewriter, Loc, int64_t(EventDisableTiming))});
      Value Event = LLVM::LoadOp::create(Rewriter, Loc, Calls.PtrType, Place);
      Calls.cuda(Rewriter, Loc, "cudaEventRecord", {Event, Other});
      Calls.cuda(Rewriter, Loc, "cudaStreamWaitEvent",
                 {Stream, Event, Calls.i32(Rewriter, Loc, 0)});
      Calls.cuda(Rewriter, Loc, "cudaEventDestroy", Event);
    }
    return Stream;
  }

  void wait(Rewriter &Rewriter, Location Loc, Value Stream) const {
    this->Calls.cuda(Rewriter, Loc, "cudaStreamSynchronize", Stream);
  }

  /// Behind the work: waits, ends streams and replaces the operation.
  LogicalResult end(Rewriter &Rewriter, SourceOp Op, ValueRange Dependencies,
                    Value Stream, Value Result = {}) const {
    const Location Loc = Op.getLoc();
    if (!Op.getAsyncToken()) {
      if (!Dependencies.empty() || this->Plan.waits(Op))
        wait(Rewriter, Loc, Stream);
      else
        waitIfVisible(Rewriter, Op, Stream);
    }
    endStreams(Rewriter, Op, Dependencies, Stream);
    SmallVector<Value, 2> Results;
    if (Result)
      Results.push_back(Result);
    if (Op.getAsyncToken())
      Results.push_back(Stream);
    Rewriter.replaceOp(Op, Results);
    return success();
  }

  void waitIfVisible(Rewriter &Rewriter, SourceOp Op, Value Stream) const {
    const Location Loc = Op.getLoc();
    for (Value Asked : this->Plan.asked(Op)) {
      Value Lowered = Rewriter.getRemappedValue(Asked);
      Value Pointer =
          isa<BaseMemRefType>(Asked.getType())
              ? this->bufferOf(Rewriter, Loc, Asked.getType(), Lowered)
              : Lowered;
      if (Pointer.getType() != this->Calls.PtrType)
        Pointer = LLVM::AddrSpaceCastOp::create(Rewriter, Loc,
                                                this->Calls.PtrType, Pointer);
      this->Calls.cuda(Rewriter, Loc, "__dragon_wait_if_visible",
                       {Pointer, Stream});
    }
  }

  void endStreams(Rewriter &Rewriter, SourceOp Op, ValueRange Dependencies,
                  Value Stream) const {
    for (Value Ending : this->Plan.endingAt(Op)) {
      Value Last = Stream;
      for (auto [Token, Lowered] :
           llvm::zip_equal(Op.getAsyncDependencies(), Dependencies))
        if (Token == Ending)
          Last = Lowered;
      this->Calls.cuda(Rewriter, Op.getLoc(), "cudaStreamDestroy", Last);
    }
  }
};

class WaitPattern : public StreamPattern<gpu::WaitOp> {
public:
  using StreamPattern::StreamPattern;

  LogicalResult matchAndRewrite(gpu::WaitOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    ValueRange Tokens = Adaptor.getAsyncDependencies();
    if (Op.getAsyncToken())
      return end(Rewriter, Op, Tokens, begin(Rewriter, Op, Tokens));
    for (Value Token : Tokens)
      wait(Rewriter, Op.getLoc(), Token);
    endStreams(Rewriter, Op, Tokens, {});
    Rewriter.eraseOp(Op);
    return success();
  }
};

class GpuAllocPattern : public StreamPattern<gpu::AllocOp> {
public:
  using StreamPattern::StreamPattern;

  LogicalResult matchAndRewrite(gpu::AllocOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    if (!isConvertibleAndHasIdentityMaps(Op.getType()) ||
        !Adaptor.getSymbolOperands().empty())
      return Op.emitOpError("makes buffers without a layout, not ")
             << Op.getType();
    ValueRange Tokens = Adaptor.getAsyncDependencies();
    Value Stream = begin(Rewriter, Op, Tokens);
    // The memory is there at once: nobody had it before.
    Value Buffer =
        allocate(Rewriter, Op.getLoc(), Op.getType(), Adaptor.getDynamicSizes(),
                 Plan.hostTouches(Op) ? uint32_t(DRAGON_HOST_ACCESS) : 0);
    return end(Rewriter, Op, Tokens, Stream, Buffer);
  }
};

class DeallocPattern : public StreamPattern<gpu::DeallocOp> {
public:
  using StreamPattern::StreamPattern;

  LogicalResult matchAndRewrite(gpu::DeallocOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    ValueRange Tokens = Adaptor.getAsyncDependencies();
    Value Stream = begin(Rewriter, Op, Tokens);
    // Which waits for the work that has been issued.
    Calls.cuda(Rewriter, Op.getLoc(), "cudaFree",
               bufferOf(Rewriter, Op.getLoc(), Op.getMemref().getType(),
                        Adaptor.getMemref()));
    return end(Rewriter, Op, Tokens, Stream);
  }
};

class MemcpyPattern : public StreamPattern<gpu::MemcpyOp> {
public:
  using StreamPattern::StreamPattern;

  LogicalResult matchAndRewrite(gpu::MemcpyOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    const Location Loc = Op.getLoc();
    Value Bytes =
        bytesOf(Rewriter, Loc, Op.getDst().getType(), Adaptor.getDst());
    if (!Bytes ||
        !elementsOf(Rewriter, Loc, Op.getSrc().getType(), Adaptor.getSrc()))
      return Op.emitOpError("copies ranked memrefs with their elements in one "
                            "piece, not ")
             << (Bytes ? Op.getSrc() : Op.getDst()).getType();
    ValueRange Tokens = Adaptor.getAsyncDependencies();
    Value Stream = begin(Rewriter, Op, Tokens);
    SmallVector<Value> Args = {
        bufferOf(Rewriter, Loc, Op.getDst().getType(), Adaptor.getDst()),
        bufferOf(Rewriter, Loc, Op.getSrc().getType(), Adaptor.getSrc()), Bytes,
        Calls.i32(Rewriter, Loc, int64_t(MemcpyDefault))};
    const bool Alone = Tokens.empty() && !Op.getAsyncToken();
    if (!Alone)
      Args.push_back(Stream);
    Calls.cuda(Rewriter, Loc, Alone ? "cudaMemcpy" : "cudaMemcpyAsync", Args);
    return end(Rewriter, Op, Tokens, Stream);
  }
};

class MemsetPattern : public StreamPattern<gpu::MemsetOp> {
public:
  using StreamPattern::StreamPattern;

  LogicalResult matchAndRewrite(gpu::MemsetOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    const Location Loc = Op.getLoc();
    Value Count =
        elementsOf(Rewriter, Loc, Op.getDst().getType(), Adaptor.getDst());
    if (!Count)
      return Op.emitOpError("sets ranked memrefs with their elements in one "
                            "piece, not ")
             << Op.getDst().getType();
    ValueRange Tokens = Adaptor.getAsyncDependencies();
    Value Stream = begin(Rewriter, Op, Tokens);
    Value To = bufferOf(Rewriter, Loc, Op.getDst().getType(), Adaptor.getDst());
    if (std::optional<uint8_t> byte = repeatedByte(Op.getValue())) {
      Value Bytes =
          bytesOf(Rewriter, Loc, Op.getDst().getType(), Adaptor.getDst());
      Calls.cuda(Rewriter, Loc, "cudaMemsetAsync",
                 {To, Calls.i32(Rewriter, Loc, *byte), Bytes, Stream});
    } else {
      Value V = Adaptor.getValue();
      Value Place = Calls.stack(Rewriter, Loc, V.getType());
      LLVM::StoreOp::create(Rewriter, Loc, V, Place);
      Value Width = getSizeInBytes(Loc, V.getType(), Rewriter);
      Calls.cuda(Rewriter, Loc, "__dragon_fill",
                 {To, Place, Width, Count, Stream});
    }
    return end(Rewriter, Op, Tokens, Stream);
  }

private:
  static std::optional<uint8_t> repeatedByte(Value V) {
    Attribute Known;
    if (!matchPattern(V, m_Constant(&Known)))
      return std::nullopt;
    APInt Bits;
    if (auto Number = dyn_cast<IntegerAttr>(Known))
      Bits = Number.getValue();
    else if (auto Real = dyn_cast<FloatAttr>(Known))
      Bits = Real.getValue().bitcastToAPInt();
    else
      return std::nullopt;
    if (Bits.getBitWidth() % 8 || !Bits.isSplat(8))
      return std::nullopt;
    return uint8_t(Bits.extractBitsAsZExtValue(8, 0));
  }
};

/// gpu.host_register and its opposite, on unranked memrefs.
template <typename SourceOp> class PinPattern : public HostPattern<SourceOp> {
public:
  using HostPattern<SourceOp>::HostPattern;

  LogicalResult
  matchAndRewrite(SourceOp Op, typename SourceOp::Adaptor Adaptor,
                  ConversionPatternRewriter &Rewriter) const override {
    const Location Loc = Op.getLoc();
    UnrankedMemRefDescriptor Memref(Adaptor.getValue());
    Type Element =
        cast<UnrankedMemRefType>(Op.getValue().getType()).getElementType();
    this->Calls.cuda(Rewriter, Loc,
                     std::is_same_v<SourceOp, gpu::HostRegisterOp>
                         ? "__dragon_host_register"
                         : "__dragon_host_unregister",
                     {Memref.rank(Rewriter, Loc),
                      Memref.memRefDescPtr(Rewriter, Loc),
                      this->getSizeInBytes(Loc, Element, Rewriter)});
    Rewriter.eraseOp(Op);
    return success();
  }
};

class SetDevicePattern : public HostPattern<gpu::SetDefaultDeviceOp> {
public:
  using HostPattern::HostPattern;

  LogicalResult
  matchAndRewrite(gpu::SetDefaultDeviceOp Op, OpAdaptor Adaptor,
                  ConversionPatternRewriter &Rewriter) const override {
    Calls.cuda(Rewriter, Op.getLoc(), "cudaSetDevice", Adaptor.getDevIndex());
    Rewriter.eraseOp(Op);
    return success();
  }
};

class LaunchPattern : public StreamPattern<gpu::LaunchFuncOp> {
public:
  using StreamPattern::StreamPattern;

  LogicalResult matchAndRewrite(gpu::LaunchFuncOp Op, OpAdaptor Adaptor,
                                Rewriter &Rewriter) const override {
    const Location Loc = Op.getLoc();
    if (Op.hasClusterSize())
      return Op.emitOpError("with clusters is not supported");
    for (Value Operand : Op.getKernelOperands())
      if (isa<UnrankedMemRefType>(Operand.getType()))
        return Op.emitOpError("cannot pass ")
               << Operand.getType() << " to a kernel: the rank is not known";
    ValueRange Tokens = Adaptor.getAsyncDependencies();
    Value Stream = Adaptor.getAsyncObject() ? Adaptor.getAsyncObject()
                                            : begin(Rewriter, Op, Tokens);
    LaunchShape Shape =
        launchShape(Rewriter, Loc, Calls,
                    {Adaptor.getGridSizeX(), Adaptor.getGridSizeY(),
                     Adaptor.getGridSizeZ()},
                    {Adaptor.getBlockSizeX(), Adaptor.getBlockSizeY(),
                     Adaptor.getBlockSizeZ()});
    SmallVector<Value> Args = getTypeConverter()->promoteOperands(
        Loc, Op.getKernelOperands(), Adaptor.getKernelOperands(), Rewriter);
    Value Shared = Adaptor.getDynamicSharedMemorySize();
    Shared = Shared ? LLVM::ZExtOp::create(Rewriter, Loc, Calls.I64Type, Shared)
                          .getResult()
                    : Calls.i64(Rewriter, Loc, 0);
    Calls.cuda(Rewriter, Loc, "cudaLaunchKernel",
               {Calls.stub(Rewriter, Loc, Op.getKernelName()), Shape.GridXY,
                Shape.GridZ, Shape.BlockXY, Shape.BlockZ,
                Calls.argumentArray(Rewriter, Loc, Args), Shared, Stream});
    if (!Op.getAsyncObject())
      return end(Rewriter, Op, Tokens, Stream);
    // The stream is the program's own, and so is the wait.
    Rewriter.eraseOp(Op);
    return success();
  }
};

} // namespace

LaunchShape launchShape(OpBuilder &Builder, Location Loc, HostCalls &Calls,
                        ValueRange Grid, ValueRange Block) {
  // What does not fit in 32 bits must not become something that does.
  auto clamped = [&](Value Size) -> Value {
    if (Size.getType() == Calls.I32Type)
      return LLVM::ZExtOp::create(Builder, Loc, Calls.I64Type, Size);
    return LLVM::UMinOp::create(Builder, Loc, Size,
                                Calls.i64(Builder, Loc, UINT32_MAX));
  };
  auto both = [&](Value X, Value Y) -> Value {
    Value High = LLVM::ShlOp::create(Builder, Loc, clamped(Y),
                                     Calls.i64(Builder, Loc, 32));
    return LLVM::OrOp::create(Builder, Loc, clamped(X), High);
  };
  auto last = [&](Value Z) -> Value {
    return LLVM::TruncOp::create(Builder, Loc, Calls.I32Type, clamped(Z));
  };
  return {both(Grid[0], Grid[1]), last(Grid[2]), both(Block[0], Block[1]),
          last(Block[2])};
}

void populateGpuPatterns(const LLVMTypeConverter &Converter,
                         RewritePatternSet &Patterns, HostLowering &Lowering) {
  Patterns
      .add<WaitPattern, GpuAllocPattern, DeallocPattern, MemcpyPattern,
           MemsetPattern, LaunchPattern, SetDevicePattern,
           PinPattern<gpu::HostRegisterOp>, PinPattern<gpu::HostUnregisterOp>>(
          Converter, Lowering);
}

} // namespace dragon::ir
