//===- DragonOps.td - operations of the dragon dialect ----*- tablegen -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_MLIR_OPS
#define DRAGON_MLIR_OPS

include "dragon/mlir/DragonAttributes.td"
include "mlir/Dialect/GPU/IR/GPUBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Dragon_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Dragon_Dialect, opMnemonic, traits>;

/// Files, and what the runtime knows: orders directives among each other.
def Dragon_Storage : Resource<"::dragon::ir::StorageResource">;

def Dragon_Bytes : AnyTypeOf<[I64, Index]>;

//===----------------------------------------------------------------------===//
// The public interface: dragon/dragon.h.
//===----------------------------------------------------------------------===//

def Dragon_MapOp : Dragon_Op<"map", [AttrSizedOperandSegments,
                                     MemoryEffects<[MemRead<Dragon_Storage>, MemWrite<Dragon_Storage>]>]> {
  let summary = "maps a part of a file";
  let description = [{
    `dragon_map`: the result's bytes are those of the file from `offset` on (0
    if it is left out). `read`: contents come from the file, which must be long
    enough; `write`: they reach it, at `dragon.sync` or `dragon.unmap`;
    `create`: the file is made; `volatile`: they never reach it. The program
    ends with the runtime's message if it cannot be done.

    ```mlir
    %in = dragon.map "a.bin" flags(read) : memref<1024xf32>
    %out = dragon.map "b.bin" offset %o (%n) flags(write|create) : memref<?xf32>
    ```
  }];
  let arguments = (ins StrAttr:$file, Optional<Dragon_Bytes>:$offset,
                       Variadic<Index>:$dynamicSizes, Dragon_MapFlagsAttr:$flags);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$memref);
  let assemblyFormat = [{
    $file (`offset` $offset^ `:` type($offset))? ` ` (`(` $dynamicSizes^ `)`)?
    `flags` `` $flags attr-dict `:` type($memref)
  }];
  let hasVerifier = 1;
}

def Dragon_UnmapOp : Dragon_Op<"unmap", [MemoryEffects<[MemWrite<Dragon_Storage>]>]> {
  let summary = "ends a map";
  let description = [{
    `dragon_unmap`: what was written to a `write` map reaches the file.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemFree]>:$memref);
  let assemblyFormat = "$memref attr-dict `:` type($memref)";
}

def Dragon_AllocOp : Dragon_Op<"alloc"> {
  let summary = "allocates a buffer";
  let description = [{
    A buffer that host and device can touch and that no file lies behind;
    contents start undefined. With flags, what the program does with it:
    `flags(read)`: kernels never write it; `flags(write)`: they overwrite it
    before they read it; `flags(volatile)`: the host never looks at it, so its
    contents need not outlive the last kernel that reads them. `device`: only
    the device touches it, as what `gpu.alloc` makes. Freed by `dragon.free` or
    `gpu.dealloc`.

    ```mlir
    %b = dragon.alloc (%n) flags(volatile) : memref<?xf32>
    ```
  }];
  let arguments = (ins Variadic<Index>:$dynamicSizes, OptionalAttr<Dragon_MapFlagsAttr>:$flags,
                       UnitAttr:$device);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$memref);
  let assemblyFormat = [{
    (`(` $dynamicSizes^ `)`)? (`flags` `` $flags^)? (`device` $device^)? attr-dict `:` type($memref)
  }];
  let hasVerifier = 1;
}

def Dragon_FreeOp : Dragon_Op<"free"> {
  let summary = "frees a buffer of dragon.alloc";
  let arguments = (ins Arg<AnyMemRef, "", [MemFree]>:$memref);
  let assemblyFormat = "$memref attr-dict `:` type($memref)";
}

def Dragon_SyncOp : Dragon_Op<"sync", [MemoryEffects<[MemWrite<Dragon_Storage>]>]> {
  let summary = "makes what was written to a map durable";
  let description = "`dragon_sync`: waits for the work that was issued before.";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$memref);
  let assemblyFormat = "$memref attr-dict `:` type($memref)";
}

def Dragon_PrefetchOp : Dragon_Op<"prefetch", [MemoryEffects<[MemWrite<Dragon_Storage>]>]> {
  let summary = "starts to bring a buffer to the device";
  let description = "`dragon_prefetch`: a hint. Without `bytes`, all of it.";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$memref, Optional<Dragon_Bytes>:$bytes);
  let assemblyFormat = "$memref (`bytes` $bytes^ `:` type($bytes))? attr-dict `:` type($memref)";
}

def Dragon_DiscardOp : Dragon_Op<"discard", [AttrSizedOperandSegments]> {
  let summary = "declares contents dead";
  let description = [{
    `dragon_discard`: the contents are undefined until they are written again,
    and are moved nowhere. `eager`: the memory is not used again soon, and is
    given to others. `bytes`: only so many from the buffer's beginning. `after`:
    in the order of the work of that token, else of the default stream.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemWrite]>:$memref, Optional<Dragon_Bytes>:$bytes,
                       Optional<GPU_AsyncToken>:$after, UnitAttr:$eager);
  let assemblyFormat = [{
    (`eager` $eager^)? $memref (`bytes` $bytes^ `:` type($bytes))? (`after` $after^)?
    attr-dict `:` type($memref)
  }];
}

//===----------------------------------------------------------------------===//
// What the compiler adds: dragon/CompilerABI.h.
//===----------------------------------------------------------------------===//

def Dragon_LastUseOp : Dragon_Op<"last_use", [MemoryEffects<[MemWrite<Dragon_Storage>]>]> {
  let summary = "the next launch is the last to need the contents";
  let description = [{
    A discard behind the launch that comes next, piece by piece as the launch
    is done with them.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead, MemWrite]>:$memref,
                       Optional<Dragon_Bytes>:$bytes, UnitAttr:$eager);
  let assemblyFormat = "(`eager` $eager^)? $memref (`bytes` $bytes^ `:` type($bytes))? attr-dict `:` type($memref)";
}

def Dragon_NextUseOp : Dragon_Op<"next_use", [MemoryEffects<[MemWrite<Dragon_Storage>]>]> {
  let summary = "when the device needs the contents again";
  let description = [{
    After `launches` other launches; `never`: only the host looks at them. A
    hint.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$memref, OptionalAttr<UI32Attr>:$launches);
  let assemblyFormat = "$memref (`in` $launches^):(`never`)? attr-dict `:` type($memref)";
}

def Dragon_LaunchFollowsOp : Dragon_Op<"launch_follows", [MemoryEffects<[MemWrite<Dragon_Storage>]>]> {
  let summary = "another launch follows the next one";
  let description = [{
    In the same stream, with nothing in between that waits for the device: the
    two may run together, slice by slice. A hint.
  }];
  let arguments = (ins);
  let assemblyFormat = "attr-dict";
}

def Dragon_OverwrittenOp : Dragon_Op<"overwritten", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                                     MemoryEffects<[MemRead<Dragon_Storage>]>]> {
  let summary = "how many bytes a launch would overwrite";
  let description = [{
    From the beginning of the buffer that operand number `operand` of such a
    launch of the kernel is: those that it surely writes before any read. 0 if
    that is not known, or if all buffers fit; -1 if it is all of it. `memrefs`
    among the operands but for that one are of no account.
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Index:$gridX, Index:$gridY, Index:$gridZ,
                       Index:$blockX, Index:$blockY, Index:$blockZ,
                       Variadic<AnyType>:$kernelOperands, I32Attr:$operand);
  let results = (outs I64:$bytes);
  let assemblyFormat = [{
    $kernel `operand` $operand `blocks` `in` ` ` `(` $gridX `,` $gridY `,` $gridZ `)`
    `threads` `in` ` ` `(` $blockX `,` $blockY `,` $blockZ `)`
    (`args` `(` $kernelOperands^ `:` type($kernelOperands) `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // DRAGON_MLIR_OPS
