//===- DragonAttributes.td - kernel summaries -------------*- tablegen -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel summary of dragon/KernelSummary.h as attributes. Numbers of enums
// and flags are those of that header.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_MLIR_ATTRIBUTES
#define DRAGON_MLIR_ATTRIBUTES

include "dragon/mlir/DragonBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Dragon_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::dragon::ir";
  let genSpecializedAttr = 0;
}
class Dragon_Flags<string name, string summary, list<BitEnumCaseBase> cases>
    : I32BitEnumAttr<name, summary, cases> {
  let cppNamespace = "::dragon::ir";
  let genSpecializedAttr = 0;
  let separator = "|";
}

def Dragon_MapFlags : Dragon_Flags<"MapFlags", "what a map is for", [
    I32BitEnumAttrCaseNone<"none">,
    I32BitEnumAttrCase<"read", 0x01>,
    I32BitEnumAttrCase<"write", 0x02>,
    I32BitEnumAttrCase<"create", 0x04>,
    I32BitEnumAttrCase<"volatile_", 0x10, "volatile">
  ]>;
def Dragon_MapFlagsAttr : EnumAttr<Dragon_Dialect, Dragon_MapFlags, "flags"> {
  let assemblyFormat = "`(` $value `)`";
  let description = [{
    Flags of a map: contents come from the file (`read`), reach it (`write`),
    the file is made (`create`), or contents never leave the machine's memory
    (`volatile`).
  }];
}

def Dragon_Mode : Dragon_Enum<"Mode", "what a kernel does through a pointer", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"read", 1>,
    I32EnumAttrCase<"write", 2>, I32EnumAttrCase<"readWrite", 3, "read_write">,
    I32EnumAttrCase<"any", 4>
  ]>;
def Dragon_Pattern : Dragon_Enum<"Pattern", "how accesses are laid out", [
    I32EnumAttrCase<"unknown", 0>, I32EnumAttrCase<"streaming", 1>,
    I32EnumAttrCase<"reused", 2>, I32EnumAttrCase<"strided", 3>,
    I32EnumAttrCase<"indirect", 4>
  ]>;
def Dragon_Predicate : Dragon_Enum<"Predicate", "how a guard compares", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>,
    I32EnumAttrCase<"slt", 2>, I32EnumAttrCase<"sle", 3>,
    I32EnumAttrCase<"ult", 4>, I32EnumAttrCase<"ule", 5>
  ]>;
def Dragon_AccessKind : Dragon_Flags<"AccessKind", "what an access does", [
    I32BitEnumAttrCaseNone<"none">,
    I32BitEnumAttrCase<"read", 1>, I32BitEnumAttrCase<"write", 2>,
    I32BitEnumAttrCase<"atomic", 4>, I32BitEnumAttrCase<"exact", 8>,
    I32BitEnumAttrCase<"anywhere", 16>, I32BitEnumAttrCase<"indirect", 32>,
    I32BitEnumAttrCase<"conditional", 64>
  ]>;
def Dragon_PointerKind : Dragon_Flags<"PointerKind", "facts on a pointer", [
    I32BitEnumAttrCaseNone<"none">,
    I32BitEnumAttrCase<"escapes", 1>,
    I32BitEnumAttrCase<"readFirst", 2, "read_first">
  ]>;
def Dragon_KernelKind : Dragon_Flags<"KernelKind", "facts on a kernel", [
    I32BitEnumAttrCaseNone<"none">,
    I32BitEnumAttrCase<"touchesAnything", 1, "touches_anything">,
    I32BitEnumAttrCase<"unknown", 2>,
    I32BitEnumAttrCase<"sliceable", 4>,
    I32BitEnumAttrCase<"sliceClone", 8, "slice_clone">,
    I32BitEnumAttrCase<"barrier", 16>,
    I32BitEnumAttrCase<"prints", 32>,
    I32BitEnumAttrCase<"buffersOnly", 64, "buffers_only">
  ]>;

class Dragon_Attr<string name, string attrMnemonic> : AttrDef<Dragon_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Dragon_ExprAttr : Dragon_Attr<"Expr", "expr"> {
  let summary = "an integer of a launch";
  let description = [{
    A leaf is a number (`7`, or `7 : 32` where it has not 64 bits), a scalar
    argument of the lowered kernel (`arg(2, 64)`: number and bits), a dimension
    or index of the launch (`bdim.x`, `gdim.x`, `bid.x`, `tid.x`, 32 bits),
    a loop counter (`loop(0, n)`: 0 to n, or `_` where that is not known), a
    number between others (`any(0, 64, lo, hi)`), or nothing that is known
    (`unknown(0, 64)`; the first number makes each of them its own).

    `add`, `sub`, `mul`, `sdiv`, `udiv`, `srem`, `urem`, `smin`, `smax`, `umin`,
    `umax`, `shl`, `lshr`, `ashr`, `and`, `or`, `xor` take two expressions of
    the same width; `.nsw` and `.nuw` behind a name say that it does not
    overflow. `sext(e, 64)`, `zext`, `trunc` change the width.
  }];
  let parameters = (ins "::dragon::ExprOp":$op, "unsigned":$bits,
                        "unsigned":$flags, "int64_t":$imm,
                        ArrayRefParameter<"::dragon::ir::ExprAttr">:$operands);
  let hasCustomAssemblyFormat = 1;
}

def Dragon_GuardAttr : Dragon_Attr<"Guard", "guard"> {
  let summary = "a condition of an access";
  let description = [{
    `slt(a, b)`: the access happens only where a < b. `slt(a, b) for loop(0, n)`:
    the loop's counter advances only while that holds.
  }];
  let parameters = (ins "::dragon::ir::Predicate":$predicate,
                        "::dragon::ir::ExprAttr":$lhs,
                        "::dragon::ir::ExprAttr":$rhs,
                        OptionalParameter<"::dragon::ir::ExprAttr">:$loop);
  let hasCustomAssemblyFormat = 1;
}

def Dragon_AccessAttr : Dragon_Attr<"Access", "access"> {
  let summary = "bytes that each thread may touch";
  let description = [{
    `read|exact, 4 at e if [slt(a, b)]`: 4 bytes from e bytes above the pointer.
  }];
  let parameters = (ins EnumParameter<Dragon_AccessKind>:$kind,
                        "uint32_t":$width,
                        OptionalParameter<"::dragon::ir::ExprAttr">:$offset,
                        OptionalArrayRefParameter<"::dragon::ir::GuardAttr">:$guards);
  let assemblyFormat = "`<` $kind `,` $width (`at` $offset^)? (`if` `[` $guards^ `]`)? `>`";
}

def Dragon_PointerAttr : Dragon_Attr<"Pointer", "pointer"> {
  let summary = "what a kernel does through one of its pointers";
  let parameters = (ins "uint32_t":$argument, "::mlir::StringAttr":$name,
                        EnumParameter<Dragon_Mode>:$mode,
                        EnumParameter<Dragon_Pattern>:$pattern,
                        EnumParameter<Dragon_PointerKind>:$kind,
                        OptionalArrayRefParameter<"::dragon::ir::AccessAttr">:$accesses);
  let assemblyFormat = "`<` $argument $name `,` $mode `,` $pattern `,` $kind (`:` $accesses^)? `>`";
}

def Dragon_SummaryAttr : Dragon_Attr<"Summary", "summary"> {
  let summary = "what a kernel may touch, and what it surely writes";
  let description = [{
    The kernel summary of `dragon/KernelSummary.h`. `arguments` are the bytes of
    each argument that the lowered kernel has: a memref is taken apart into two
    pointers, an offset, sizes and strides, and `pointers` are numbered by that.
    It is an over-approximation of what may be touched, and an
    under-approximation of what is surely written.
  }];
  let parameters = (ins EnumParameter<Dragon_KernelKind>:$kind,
                        OptionalArrayRefParameter<"uint32_t">:$argSizes,
                        OptionalArrayRefParameter<"::dragon::ir::PointerAttr">:$pointers,
                        OptionalParameter<"::mlir::StringAttr">:$sliceName,
                        OptionalParameter<"::mlir::StringAttr">:$whyNotSliceable);
  let assemblyFormat = [{
    `<` $kind (`arguments` `[` $argSizes^ `]`)? (`pointers` `[` $pointers^ `]`)?
    (`slices` $sliceName^)? (`unsliceable` $whyNotSliceable^)? `>`
  }];
}

#endif // DRAGON_MLIR_ATTRIBUTES
