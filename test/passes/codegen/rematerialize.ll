; Where a loop is short of registers it computes what it can again, from what is there in any case.
; RUN: python3 %S/Inputs/rows.py 20 > %t.ll
; RUN: %dragon-opt-passes -passes='function(dragon-rematerialize),verify' -S %t.ll | FileCheck %s
; RUN: python3 %S/Inputs/rows.py 20 again | %dragon-opt-passes -passes='function(dragon-rematerialize),verify' -S | FileCheck %s --check-prefixes=CHECK,AGAIN
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %t.ll | %dragon-opt-passes -passes='function(dragon-rematerialize),verify' -S | FileCheck %s --check-prefix=SAME
; RUN: sed s/maxntid/unknown/ %t.ll | %dragon-opt-passes -passes='function(dragon-rematerialize),verify' -S | FileCheck %s --check-prefix=SAME
; RUN: python3 %S/Inputs/rows.py 10 | %dragon-opt-passes -passes='function(dragon-rematerialize),verify' -S | FileCheck %s --check-prefix=SAME

; 20 rows of a matrix, two registers for the address of each. A thread of 1024 has 64, and the loop needs 20 more. One address comes
; into the loop, and each other one is computed from the one before it.
; CHECK-LABEL: define ptx_kernel void @rows(
; CHECK:       loop:
; CHECK:         getelementptr float, ptr %at.0, i64 %i
; CHECK:         [[STRIDE:%.*]] = call i32 asm sideeffect "", "=r,0"(i32 %stride)
; CHECK-NEXT:    [[WIDE:%.*]] = sext i32 [[STRIDE]] to i64
; CHECK-NEXT:    [[BYTES:%.*]] = shl i64 [[WIDE]], 2
; CHECK-NEXT:    [[SECOND:%.*]] = getelementptr i8, ptr %at.0, i64 [[BYTES]]
; CHECK-NEXT:    getelementptr float, ptr [[SECOND]], i64 %i
; CHECK:         [[THIRD:%.*]] = getelementptr i8, ptr [[SECOND]], i64 [[BYTES]]
; CHECK-NEXT:    getelementptr float, ptr [[THIRD]], i64 %i
; CHECK-NOT:     ptr %at.{{[1-9][0-9]?}},
; CHECK-NOT:     asm
; CHECK:         br i1 %more, label %loop, label %end

; What is used behind the loop, too, is computed there: it would keep its registers while the loop runs.
; AGAIN:       end:
; AGAIN:         load volatile float, ptr %at.0
; AGAIN:         [[STRIDE_AGAIN:%.*]] = call i32 asm sideeffect "", "=r,0"(i32 %stride)
; AGAIN:         [[SECOND_AGAIN:%.*]] = getelementptr i8, ptr %at.0, i64
; AGAIN-NEXT:    load volatile float, ptr [[SECOND_AGAIN]]
; AGAIN-NOT:     ptr %at.{{[1-9][0-9]?}},

; Nothing is done for other modules, nor where threads have 255 registers, nor for 10 rows.
; SAME-LABEL: define ptx_kernel void @rows(
; SAME:       loop:
; SAME-NOT:     asm
; SAME:         getelementptr float, ptr %at.9, i64 %i
; SAME-NOT:     asm
; SAME:         br i1 %more, label %loop, label %end
