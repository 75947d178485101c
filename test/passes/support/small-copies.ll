; Copies of small structures become a load and a store of a vector: a variable
; that is only copied does not stay in memory, and 16 aligned bytes are one access.
; RUN: %dragon-opt-passes -passes=dragon-pipeline -S %s | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.float4 = type { float, float, float, float }
%struct.float3 = type { float, float, float }
%struct.mixed = type { i32, float, float, float }
%struct.links = type { ptr, ptr }
%struct.large = type { [4 x i64], i64 }
%struct.small = type { float, float }

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; CHECK-LABEL: @swap(
; CHECK-NEXT: %[[T:.*]] = load <4 x float>, ptr %b, align 16
; CHECK-NEXT: %[[A:.*]] = load <2 x i64>, ptr %a, align 16
; CHECK-NEXT: store <2 x i64> %[[A]], ptr %b, align 16
; CHECK-NEXT: store <4 x float> %[[T]], ptr %a, align 16
; CHECK-NEXT: ret void
define void @swap(ptr %a, ptr %b) {
  %t = alloca %struct.float4, align 16
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %t, ptr align 16 %b, i64 16, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %b, ptr align 16 %a, i64 16, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %a, ptr align 16 %t, i64 16, i1 false)
  ret void
}

; As aligned as the copy.
; CHECK-LABEL: @of_three(
; CHECK-NEXT: %[[T:.*]] = load <3 x float>, ptr %a, align 4
; CHECK-NEXT: store <3 x float> %[[T]], ptr %b, align 4
; CHECK-NEXT: ret void
define void @of_three(ptr %a, ptr %b) {
  %t = alloca %struct.float3, align 4
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %t, ptr align 4 %a, i64 12, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %b, ptr align 4 %t, i64 12, i1 false)
  ret void
}

; Numbers of several types, pointers, too many, a part, and what is an integer
; to SROA stay copies, as do volatile ones and those of unknown length.
; CHECK-LABEL: @others(
; CHECK-COUNT-7: call void @llvm.memcpy
; CHECK-NEXT: ret void
define void @others(ptr %b, i64 %n) {
  %mixed = alloca %struct.mixed, align 16
  %links = alloca %struct.links, align 16
  %large = alloca %struct.large, align 16
  %small = alloca %struct.small, align 8
  %four = alloca %struct.float4, align 16
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %mixed, ptr align 16 %b, i64 16, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %links, ptr align 16 %b, i64 16, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %large, ptr align 16 %b, i64 40, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %four, ptr align 16 %b, i64 12, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %small, ptr align 8 %b, i64 8, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %four, ptr align 16 %b, i64 16, i1 true)
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %four, ptr align 16 %b, i64 %n, i1 false)
  ret void
}

; Between other memory: 16 bytes, aligned.
; CHECK-LABEL: @between(
; CHECK: load <2 x i64>, ptr %a, align 16
; CHECK-NEXT: store <2 x i64> %{{.*}}, ptr %b, align 16
; CHECK-COUNT-2: call void @llvm.memcpy
; CHECK-NEXT: ret void
define void @between(ptr %a, ptr %b) {
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %b, ptr align 16 %a, i64 16, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %b, ptr align 16 %a, i64 16, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %b, ptr align 16 %a, i64 32, i1 false)
  ret void
}

; A structure by value may hold pointers, of which is known where they lead.
; CHECK-LABEL: @by_value(
; CHECK: call void @llvm.memcpy
define void @by_value(ptr byval(%struct.links) align 16 %p, ptr %a) {
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %a, ptr align 16 %p, i64 16, i1 false)
  ret void
}
