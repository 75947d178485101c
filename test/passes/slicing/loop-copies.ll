; Kernels with a loop that a launch can be cut along get a copy that runs some of its iterations: restored in front of the loop,
; saved in its place, and with what comes behind the loop in the last launch alone.
; RUN: rm -rf %t.dir && mkdir -p %t.dir
; RUN: %dragon-opt-passes -passes='dragon-pipeline,verify' -dragon-access-counts=0 -dragon-restrict=0 -dragon-summary=%t.dir/s -S %s \
; RUN:   | FileCheck %s
; RUN: grep -a -o '__dragon_loop_[a-z_]*' %t.dir/s.sm_90 | sort | FileCheck %s --check-prefix=NAMES --match-full-lines
; RUN: %dragon-opt-passes -passes='dragon-pipeline,verify' -dragon-slicing=0 -dragon-access-counts=0 -dragon-restrict=0 \
; RUN:   -dragon-summary=%t.dir/s -S %s | FileCheck %s --check-prefix=NONE
; RUN: not grep -a -q __dragon_loop_ %t.dir/s.sm_90
; NONE-NOT: dragon_loop

; Code for a GPU has one copy of each: the slice clone, which runs the whole grid as well. The copy of a kernel that reads no
; position has one, too: what it keeps is by position.
; RUN: %dragon-opt-passes -passes='default<O2>' -dragon-access-counts=0 -dragon-restrict=0 -dragon-summary=%t.dir/s -S %s \
; RUN:   | FileCheck %s --check-prefix=GPU
; GPU-NOT: @__dragon_loop_
; GPU-DAG: define ptx_kernel void @__dragon_slice___dragon_loop_sums({{.*}}, i32 noundef %dragon.offset.x,
; GPU-DAG: define ptx_kernel void @__dragon_slice___dragon_loop_bins(
; GPU-DAG: define ptx_kernel void @__dragon_slice___dragon_loop_most(
; GPU-DAG: define ptx_kernel void @__dragon_slice___dragon_loop_table(
; GPU-DAG: define ptx_kernel void @__dragon_slice_sums(
; GPU-DAG: define ptx_kernel void @__dragon_slice___dragon_loop_alike(
; GPU-NOT: @__dragon_loop_
; GPU-NOT: @__dragon_slice_alike
; GPU-NOT: dragon-slices

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@own = internal addrspace(3) global [64 x i32] poison, align 4
@odd = internal addrspace(3) global [5 x i8] poison, align 1
@behind = internal addrspace(3) global [64 x i32] poison, align 4
@dynamic = external addrspace(3) global [0 x i8], align 16

; NAMES:      __dragon_loop_alike
; NAMES-NEXT: __dragon_loop_bins
; NAMES-NEXT: __dragon_loop_most
; NAMES-NEXT: __dragon_loop_sums
; NAMES-NEXT: __dragon_loop_table
; NAMES-NOT:  {{.}}

; The kernel stays as it is.
; CHECK-LABEL: define ptx_kernel void @sums(ptr %x, i64 %n, ptr %out) #
; CHECK-NOT:     dragon
; CHECK:       head:
; CHECK-NEXT:    %any = phi i1 [ false, %entry ], [ true, %body ]
; CHECK-NEXT:    %i = phi i64 [ %from, %entry ], [ %next, %body ]
; CHECK-NEXT:    %sum = phi i32 [ 0, %entry ], [ %more, %body ]
; CHECK-NEXT:    %goes = icmp slt i64 %i, %n
; CHECK-NEXT:    br i1 %goes, label %body, label %behind
define ptx_kernel void @sums(ptr %x, i64 %n, ptr %out) #0 {
entry:
  %from = call i64 @index()
  %step = call i64 @threads()
  br label %head
head:
  %any = phi i1 [ false, %entry ], [ true, %body ]
  %i = phi i64 [ %from, %entry ], [ %next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %goes = icmp slt i64 %i, %n
  br i1 %goes, label %body, label %behind
body:
  %p = getelementptr i32, ptr %x, i64 %i
  %v = load i32, ptr %p
  %more = add i32 %sum, %v
  %next = add i64 %i, %step
  br label %head
behind:
  %bit = zext i1 %any to i32
  %all = add i32 %sum, %bit
  %old = atomicrmw add ptr %out, i32 %all seq_cst
  ret void
}

; A block's shared memory, of which 5 bytes take 16, as all dynamic variables together take what the launch says. What is used
; behind the loop alone is not kept.
define ptx_kernel void @bins(ptr %x, i64 %n, ptr %out) #0 {
entry:
  %from = call i64 @index()
  %step = call i64 @threads()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr i32, ptr addrspace(3) @own, i32 %t
  store i32 0, ptr addrspace(3) %mine
  store i8 0, ptr addrspace(3) @odd
  store i8 0, ptr addrspace(3) @dynamic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %head
head:
  %i = phi i64 [ %from, %entry ], [ %next, %body ]
  %goes = icmp slt i64 %i, %n
  br i1 %goes, label %body, label %behind
body:
  %p = getelementptr i32, ptr %x, i64 %i
  %v = load i32, ptr %p
  %bin = and i32 %v, 63
  %q = getelementptr i32, ptr addrspace(3) @own, i32 %bin
  %was = atomicrmw add ptr addrspace(3) %q, i32 1 seq_cst
  %next = add i64 %i, %step
  br label %head
behind:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %sum = load i32, ptr addrspace(3) %mine
  %to = getelementptr i32, ptr addrspace(3) @behind, i32 %t
  store i32 %sum, ptr addrspace(3) %to
  %first = load i32, ptr addrspace(3) @behind
  %old = atomicrmw add ptr %out, i32 %first seq_cst
  ret void
}

; A pointer into a buffer, numbers of all sizes, and none that no type of memory has.
define ptx_kernel void @most(ptr %x, i64 %n, ptr %out) #0 {
entry:
  %from = call i64 @index()
  %step = call i64 @threads()
  %start = getelementptr i32, ptr %x, i64 %from
  br label %head
head:
  %i = phi i64 [ %from, %entry ], [ %next, %body ]
  %odd = phi i24 [ 0, %entry ], [ %other, %body ]
  %p = phi ptr [ %start, %entry ], [ %q, %body ]
  %four = phi <4 x float> [ zeroinitializer, %entry ], [ %fours, %body ]
  %half = phi half [ 0.0, %entry ], [ 1.0, %body ]
  %goes = icmp slt i64 %i, %n
  br i1 %goes, label %body, label %behind
body:
  %v = load i32, ptr %p
  %other = trunc i32 %v to i24
  %float = bitcast i32 %v to float
  %fours = insertelement <4 x float> %four, float %float, i32 %v
  %next = add i64 %i, %step
  %q = getelementptr i32, ptr %p, i64 %step
  br label %head
behind:
  %wide = zext i24 %odd to i32
  %float2 = extractelement <4 x float> %four, i32 %wide
  %more = fpext half %half to float
  %sum = fadd float %float2, %more
  store float %sum, ptr %out
  ret void
}

; Seven bytes of the thread's own, which live from its beginning to its end.
define ptx_kernel void @table(ptr %x, i64 %n, ptr %out) #0 {
entry:
  %seen = alloca [7 x i8], align 1
  call void @llvm.lifetime.start.p0(ptr %seen)
  call void @llvm.memset.p0.i64(ptr %seen, i8 0, i64 7, i1 false)
  %from = call i64 @index()
  %step = call i64 @threads()
  br label %head
head:
  %i = phi i64 [ %from, %entry ], [ %next, %body ]
  %goes = icmp slt i64 %i, %n
  br i1 %goes, label %body, label %behind
body:
  %p = getelementptr i32, ptr %x, i64 %i
  %v = load i32, ptr %p
  %which = urem i32 %v, 7
  %at = getelementptr i8, ptr %seen, i32 %which
  store i8 1, ptr %at
  %next = add i64 %i, %step
  br label %head
behind:
  %last = getelementptr i8, ptr %seen, i32 6
  %l = load i8, ptr %last
  store i8 %l, ptr %out
  call void @llvm.lifetime.end.p0(ptr %seen)
  ret void
}

; All blocks do the same.
define ptx_kernel void @alike(ptr %x, i64 %n, ptr %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %goes = icmp slt i64 %i, %n
  br i1 %goes, label %body, label %behind
body:
  %p = getelementptr i32, ptr %x, i64 %i
  %v = load i32, ptr %p
  %more = add i32 %sum, %v
  %next = add i64 %i, 1
  br label %head
behind:
  %q = getelementptr i32, ptr %out, i32 %t
  store i32 %sum, ptr %q
  ret void
}

; A loop that is worth nothing: each block has the numbers that lie together.
define ptx_kernel void @near(ptr %x, i64 %n, ptr %out) #0 {
entry:
  %row = call i64 @index()
  %from = mul i64 %row, 1024
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %goes = icmp slt i64 %k, %n
  br i1 %goes, label %body, label %behind
body:
  %i = add i64 %from, %k
  %p = getelementptr i32, ptr %x, i64 %i
  %v = load i32, ptr %p
  %more = add i32 %sum, %v
  %next = add i64 %k, 1
  br label %head
behind:
  %q = getelementptr i32, ptr %out, i64 %row
  store i32 %sum, ptr %q
  ret void
}

; All blocks must be there at once.
define ptx_kernel void @together(ptr %x, i64 %n, ptr %out) #0 {
entry:
  %from = call i64 @index()
  %step = call i64 @threads()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.envreg1()
  br label %head
head:
  %i = phi i64 [ %from, %entry ], [ %next, %body ]
  %goes = icmp slt i64 %i, %n
  br i1 %goes, label %body, label %behind
body:
  %p = getelementptr i32, ptr %x, i64 %i
  store i32 %w, ptr %p
  %next = add i64 %i, %step
  br label %head
behind:
  ret void
}

define internal i64 @index() alwaysinline {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %before = mul i32 %b, %d
  %i = add i32 %before, %t
  %wide = zext i32 %i to i64
  ret i64 %wide
}
define internal i64 @threads() alwaysinline {
  %g = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %n = mul i32 %g, %d
  %wide = zext i32 %n to i64
  ret i64 %wide
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.envreg1()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
attributes #0 = { "target-cpu"="sm_90" "nvvm.maxntid"="256" }

; Behind the kernels. What stands in front of the loop runs each time. Of 13 bytes, up to whole words, the largest ones of all
; threads come first, so that each is aligned.
; CHECK-LABEL: define ptx_kernel void @__dragon_loop_sums(
; CHECK-SAME:    ptr %x, i64 %n, ptr %out, ptr %dragon.state, i64 %dragon.begin, i64 %dragon.end, i64 %dragon.first, i64 %dragon.blocks, i32 %dragon.dynamic) #[[ALONE:[0-9]+]] {
; CHECK-NEXT:  entry:
; CHECK-NEXT:    %from = call i64 @index()
; CHECK-NEXT:    %step = call i64 @threads()
; The thread's number in its block, the block's in the grid, and of both in what the launch keeps.
; CHECK:         [[TX:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK:         [[BX:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK:         [[T:%.*]] = add i32 %{{.*}}, [[TX]]
; CHECK:         [[XL:%.*]] = zext i32 [[BX]] to i64
; CHECK-NEXT:    [[B:%.*]] = add i64 %{{.*}}, [[XL]]
; CHECK-NEXT:    [[OWN:%.*]] = sub i64 [[B]], %dragon.first
; CHECK-NEXT:    [[EACH:%.*]] = zext i32 %{{.*}} to i64
; CHECK-NEXT:    [[ALL:%.*]] = mul i64 %dragon.blocks, [[EACH]]
; CHECK-NEXT:    [[BEFORE:%.*]] = mul i64 [[OWN]], [[EACH]]
; CHECK-NEXT:    [[TL:%.*]] = zext i32 [[T]] to i64
; CHECK-NEXT:    [[ME:%.*]] = add i64 [[BEFORE]], [[TL]]
; CHECK-NEXT:    [[NEW:%.*]] = icmp eq i64 %dragon.begin, 0
; CHECK-NEXT:    br i1 [[NEW]], label %head, label %dragon.restore
; CHECK:       dragon.restore:
; CHECK-NOT:     barrier
; CHECK:         mul i64 [[ME]], 8
; CHECK:         [[I:%.*]] = load i64, ptr %{{.*}}, align 8
; CHECK-NEXT:    [[BEFORE4:%.*]] = mul i64 [[ALL]], 8
; CHECK-NEXT:    [[ME4:%.*]] = mul i64 [[ME]], 4
; CHECK-NEXT:    [[AT4:%.*]] = add i64 [[BEFORE4]], [[ME4]]
; CHECK-NEXT:    [[P4:%.*]] = getelementptr i8, ptr %dragon.state, i64 [[AT4]]
; CHECK-NEXT:    [[SUM:%.*]] = load i32, ptr [[P4]], align 4
; CHECK-NEXT:    mul i64 [[ALL]], 12
; CHECK-NEXT:    mul i64 [[ME]], 1
; CHECK:         [[BYTE:%.*]] = load i8, ptr %{{.*}}, align 1
; CHECK-NEXT:    [[ANY:%.*]] = trunc i8 [[BYTE]] to i1
; CHECK-NEXT:    br label %head
; CHECK:       head:
; CHECK-NEXT:    %dragon.iteration = phi i64 [ 0, %{{.*}} ], [ %dragon.begin, %dragon.restore ], [ [[NEXT:%.*]], %body ]
; CHECK-NEXT:    %any = phi i1 {{.*}}[ [[ANY]], %dragon.restore ]
; CHECK-NEXT:    %i = phi i64 {{.*}}[ [[I]], %dragon.restore ]
; CHECK-NEXT:    %sum = phi i32 {{.*}}[ [[SUM]], %dragon.restore ]
; CHECK-NEXT:    [[STOPS:%.*]] = icmp eq i64 %dragon.iteration, %dragon.end
; CHECK-NEXT:    br i1 [[STOPS]], label %dragon.save, label %dragon.test
; CHECK:       dragon.test:
; CHECK-NEXT:    %goes = icmp slt i64 %i, %n
; CHECK-NEXT:    br i1 %goes, label %body, label %dragon.done
; CHECK:       body:
; CHECK:         [[NEXT]] = add nuw i64 %dragon.iteration, 1
; CHECK-NEXT:    br label %head
; CHECK:       dragon.done:
; CHECK-NEXT:    [[LAST:%.*]] = icmp eq i64 %dragon.end, -1
; CHECK-NEXT:    br i1 [[LAST]], label %behind, label %dragon.save
; CHECK:       behind:
; CHECK:         atomicrmw add ptr %out
; CHECK-NEXT:    ret void
; CHECK:       dragon.save:
; CHECK-NOT:     barrier
; CHECK:         store i64 %i, ptr %{{.*}}, align 8
; CHECK:         store i32 %sum, ptr %{{.*}}, align 4
; CHECK:         [[KEPT:%.*]] = zext i1 %any to i8
; CHECK:         store i8 [[KEPT]], ptr %{{.*}}, align 1
; CHECK-NEXT:    ret void
; CHECK-NEXT:  }

; Behind what the threads keep, up to 16 bytes, each block has 16 + 256 bytes and what is dynamic.
; CHECK-LABEL: define ptx_kernel void @__dragon_loop_bins(
; CHECK:         store i32 0, ptr addrspace(3) %mine
; CHECK:         [[OWN:%.*]] = sub i64 %{{.*}}, %dragon.first
; CHECK:         [[ALL:%.*]] = mul i64 %dragon.blocks,
; CHECK:         [[DYN:%.*]] = zext i32 %dragon.dynamic to i64
; CHECK-NEXT:    [[DYN15:%.*]] = add i64 [[DYN]], 15
; CHECK-NEXT:    [[DYN16:%.*]] = and i64 [[DYN15]], -16
; CHECK-NEXT:    [[EACH:%.*]] = add i64 272, [[DYN16]]
; CHECK-NEXT:    [[THREADS:%.*]] = mul i64 [[ALL]], 8
; CHECK-NEXT:    [[THREADS15:%.*]] = add i64 [[THREADS]], 15
; CHECK-NEXT:    [[THREADS16:%.*]] = and i64 [[THREADS15]], -16
; CHECK-NEXT:    [[BEFORE:%.*]] = mul i64 [[OWN]], [[EACH]]
; CHECK-NEXT:    [[AT:%.*]] = add i64 [[THREADS16]], [[BEFORE]]
; CHECK-NEXT:    [[AREA:%.*]] = getelementptr i8, ptr %dragon.state, i64 [[AT]]
; All threads have done what is in front, and none goes on before all is there.
; CHECK:       dragon.restore:
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:       head:
; CHECK:       behind:
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         icmp ult i32 %{{.*}}, 64
; CHECK:         [[V:%.*]] = load i32, ptr
; CHECK-NEXT:    [[TO:%.*]] = getelementptr i32, ptr addrspace(3) @own,
; CHECK-NEXT:    store i32 [[V]], ptr addrspace(3) [[TO]]
; CHECK:         getelementptr i8, ptr [[AREA]], i64 256
; CHECK:         icmp ult i32 %{{.*}}, 5
; CHECK:         [[V:%.*]] = load i8, ptr
; CHECK:         store i8 [[V]], ptr addrspace(3) %
; CHECK:         getelementptr i8, ptr [[AREA]], i64 272
; CHECK:         [[V:%.*]] = load i8, ptr
; CHECK-NEXT:    [[TO:%.*]] = getelementptr i8, ptr addrspace(3) @dynamic,
; CHECK-NEXT:    store i8 [[V]], ptr addrspace(3) [[TO]]
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         load i64, ptr
; CHECK-NEXT:    br label %head
; No thread writes what another one has not read, or the other way round.
; CHECK:       dragon.save:
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NOT:     @behind
; CHECK:         [[FROM:%.*]] = getelementptr i32, ptr addrspace(3) @own,
; CHECK-NEXT:    [[V:%.*]] = load i32, ptr addrspace(3) [[FROM]]
; CHECK:         store i32 [[V]], ptr %
; CHECK-NOT:     @behind
; CHECK:         store i64 %i,
; CHECK-NEXT:    ret void
; CHECK-NEXT:  }

; CHECK-LABEL: define ptx_kernel void @__dragon_loop_most(
; CHECK:       dragon.restore:
; CHECK:         mul i64 %{{.*}}, 16
; CHECK:         load <4 x float>, ptr %{{.*}}, align 16
; CHECK-NEXT:    mul i64 %{{.*}}, 16
; CHECK-NEXT:    mul i64 %{{.*}}, 8
; CHECK:         load i64, ptr
; CHECK-NEXT:    mul i64 %{{.*}}, 24
; CHECK-NEXT:    mul i64 %{{.*}}, 8
; CHECK:         load ptr, ptr
; CHECK-NEXT:    mul i64 %{{.*}}, 32
; CHECK-NEXT:    mul i64 %{{.*}}, 4
; CHECK:         [[WORD:%.*]] = load i32, ptr
; CHECK-NEXT:    trunc i32 [[WORD]] to i24
; CHECK-NEXT:    mul i64 %{{.*}}, 36
; CHECK-NEXT:    mul i64 %{{.*}}, 2
; CHECK:         load half, ptr
; CHECK-NEXT:    br label %head
; CHECK:       dragon.save:
; CHECK:         store <4 x float> %four, ptr %{{.*}}, align 16
; CHECK:         [[WORD:%.*]] = zext i24 %odd to i32
; CHECK:         store i32 [[WORD]], ptr

; Two words, behind the index.
; CHECK-LABEL: define ptx_kernel void @__dragon_loop_table(
; CHECK-NEXT:  entry:
; CHECK-NEXT:    %seen = alloca [2 x i32], align 4
; CHECK-NEXT:    call void @llvm.memset
; CHECK-NOT:     lifetime
; CHECK:       dragon.restore:
; CHECK-NEXT:    [[HERE:%.*]] = getelementptr inbounds i8, ptr %seen, i64 0
; CHECK-NEXT:    mul i64 %{{.*}}, 8
; CHECK-NEXT:    mul i64 %{{.*}}, 4
; CHECK:         [[WORD:%.*]] = load i32, ptr %{{.*}}, align 4
; CHECK-NEXT:    store i32 [[WORD]], ptr [[HERE]]
; CHECK:         [[HERE:%.*]] = getelementptr inbounds i8, ptr %seen, i64 4
; CHECK-NEXT:    mul i64 %{{.*}}, 12
; CHECK:         store i32 %{{.*}}, ptr [[HERE]]
; CHECK:         load i64, ptr
; CHECK-NOT:     lifetime
; CHECK:       dragon.save:
; CHECK:         [[WORD:%.*]] = load i32, ptr %{{.*}}, align 4
; CHECK-NEXT:    store i32 [[WORD]], ptr %
; CHECK:         store i64 %i,
; CHECK-NEXT:    ret void
; CHECK-NEXT:  }

; It reads the position now.
; CHECK-LABEL: define ptx_kernel void @__dragon_loop_alike(
; CHECK-SAME:    ) #[[ALONE]] {
; CHECK-NOT: @__dragon_loop_{{near|together}}

; CHECK-DAG: attributes #[[ALONE]] = { "dragon-slices-alone" "nvvm.maxntid"="256" "target-cpu"="sm_90" }
