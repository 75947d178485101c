//===- LaunchValues.cpp - position and size of a thread
//--------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/LaunchValues.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace dragon {

std::optional<LaunchValue> launchValueOf(Intrinsic::ID Id) {
  switch (Id) {
#define REGISTER(NAME, OP)                                                     \
  case Intrinsic::nvvm_read_ptx_sreg_##NAME##_x:                               \
    return LaunchValue{ExprOp::OP, 0};                                         \
  case Intrinsic::nvvm_read_ptx_sreg_##NAME##_y:                               \
    return LaunchValue{ExprOp::OP, 1};                                         \
  case Intrinsic::nvvm_read_ptx_sreg_##NAME##_z:                               \
    return LaunchValue{ExprOp::OP, 2};
    REGISTER(tid, ThreadIdx)
    REGISTER(ntid, BlockDim)
    REGISTER(ctaid, BlockIdx)
    REGISTER(nctaid, GridDim)
#undef REGISTER
  default:
    return std::nullopt;
  }
}

} // namespace dragon
