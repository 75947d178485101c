; May blocks run in separate launches, and why not.
; RUN: %dragon-opt-passes -passes='print<dragon-slice-legality>' -disable-output %s 2>&1 | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

@lock = addrspace(1) global i32 0
@tile = internal addrspace(3) global [32 x i32] poison
@table = addrspace(1) global [2 x ptr] [ptr @plain, ptr @plain2]

; CHECK: kernel 'no_position': sliceable as it is
define ptx_kernel void @no_position(ptr %a) {
  store i32 0, ptr %a
  ret void
}

; CHECK: kernel 'position': sliceable by a clone
define ptx_kernel void @position(ptr %a) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  store i32 %b, ptr %a
  ret void
}

; A launch that begins before the one ahead has ended waits here for it. The launches of parts are not begun so: nothing is to
; be waited for.
; CHECK: kernel 'dependent_launch': sliceable by a clone
define ptx_kernel void @dependent_launch(ptr %a) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  call void @llvm.nvvm.griddepcontrol.wait()
  store i32 %b, ptr %a
  call void asm sideeffect "griddepcontrol.launch_dependents;", ""()
  ret void
}

; A barrier joins the threads of one block only.
; CHECK: kernel 'block_barrier': sliceable by a clone
define ptx_kernel void @block_barrier(ptr %a) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 %b, ptr %a
  ret void
}

; CHECK: kernel 'spin_volatile': not sliceable: waits in a loop for what another block writes
define ptx_kernel void @spin_volatile(ptr %flag) {
entry:
  br label %wait
wait:
  %v = load volatile i32, ptr %flag
  %go = icmp eq i32 %v, 0
  br i1 %go, label %wait, label %out
out:
  ret void
}

; CHECK: kernel 'spin_atomic_add_zero': not sliceable: waits in a loop
define ptx_kernel void @spin_atomic_add_zero(ptr %flag, i32 %n) {
entry:
  br label %wait
wait:
  %v = atomicrmw add ptr %flag, i32 0 seq_cst
  %go = icmp ult i32 %v, %n
  br i1 %go, label %wait, label %out
out:
  ret void
}

; The flag decides by way of a phi of constants.
; CHECK: kernel 'spin_through_phi': not sliceable: waits in a loop
define ptx_kernel void @spin_through_phi(ptr %flag) {
entry:
  br label %wait
wait:
  %v = load atomic i32, ptr %flag acquire, align 4
  %set = icmp eq i32 %v, 1
  br i1 %set, label %yes, label %join
yes:
  br label %join
join:
  %done = phi i1 [ true, %yes ], [ false, %wait ]
  br i1 %done, label %out, label %wait
out:
  ret void
}

; Unoptimised code: the value travels through a local variable and a call.
; CHECK: kernel 'spin_unoptimised': not sliceable: waits in a loop
define ptx_kernel void @spin_unoptimised(ptr %flag) {
entry:
  %local = alloca i32
  br label %wait
wait:
  %v = call i32 @observe(ptr %flag)
  store i32 %v, ptr %local
  %again = load i32, ptr %local
  %go = icmp eq i32 %again, 0
  br i1 %go, label %wait, label %out
out:
  ret void
}
define internal i32 @observe(ptr %p) {
  %v = load volatile i32, ptr %p
  ret i32 %v
}

; CHECK: kernel 'spin_asm': not sliceable: waits in a loop
define ptx_kernel void @spin_asm(ptr %flag) {
entry:
  br label %wait
wait:
  %v = call i32 asm sideeffect "ld.acquire.gpu.b32 $0, [$1];", "=r,l"(ptr %flag)
  %go = icmp eq i32 %v, 0
  br i1 %go, label %wait, label %out
out:
  ret void
}

; A volatile load in a loop that does not decide when the loop ends.
; CHECK: kernel 'volatile_sum': sliceable as it is
define ptx_kernel void @volatile_sum(ptr %a, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr i32, ptr %a, i32 %i
  %v = load volatile i32, ptr %p
  store i32 %v, ptr %a
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %out
out:
  ret void
}

; Waiting on shared memory concerns one block.
; CHECK: kernel 'spin_shared': sliceable as it is
define ptx_kernel void @spin_shared() {
entry:
  br label %wait
wait:
  %v = load volatile i32, ptr addrspacecast (ptr addrspace(3) @tile to ptr)
  %go = icmp eq i32 %v, 0
  br i1 %go, label %wait, label %out
out:
  ret void
}

; An atomic built of compare-and-swap, retried.
; CHECK: kernel 'cas_retry': sliceable as it is
define ptx_kernel void @cas_retry(ptr %p) {
entry:
  %first = load i32, ptr %p
  br label %retry
retry:
  %old = phi i32 [ %first, %entry ], [ %seen, %retry ]
  %new = add i32 %old, 7
  %pair = cmpxchg ptr %p, i32 %old, i32 %new seq_cst seq_cst
  %seen = extractvalue { i32, i1 } %pair, 0
  %same = icmp eq i32 %seen, %old
  br i1 %same, label %out, label %retry
out:
  ret void
}

; CHECK: kernel 'cooperative': not sliceable: uses cooperative grid synchronisation
define ptx_kernel void @cooperative() {
  %w = call i32 asm "mov.u32 $0, %envreg2;", "=r"()
  ret void
}

; CHECK: kernel 'cooperative_call': not sliceable: uses cooperative grid synchronisation
define ptx_kernel void @cooperative_call() {
  %w = call i32 @cudaCGSynchronizeGrid(i64 0, i32 0)
  ret void
}

; CHECK: kernel 'asm_position': not sliceable: reads the block's position in inline assembly
define ptx_kernel void @asm_position() {
  %w = call i32 asm "mov.u32 $0, %ctaid.x;", "=r"()
  ret void
}

; CHECK: kernel 'asm_other': sliceable as it is
define ptx_kernel void @asm_other() {
  %w = call i32 asm "mov.u32 $0, %laneid;", "=r"()
  ret void
}

; CHECK: kernel 'launches': not sliceable: calls 'cudaLaunchDeviceV2' of the device runtime (dynamic parallelism)
define ptx_kernel void @launches() {
  %e = call i32 @cudaLaunchDeviceV2(ptr null, ptr null)
  ret void
}

; CHECK: kernel 'other_unit': not sliceable: calls 'elsewhere', whose code is in another translation unit
define ptx_kernel void @other_unit() {
  call void @elsewhere()
  ret void
}

; CHECK: kernel 'prints': sliceable as it is
define ptx_kernel void @prints() {
  %n = call i32 @vprintf(ptr null, ptr null)
  ret void
}

; CHECK: kernel 'clusters': not sliceable: uses thread block clusters
define ptx_kernel void @clusters() "nvvm.cluster_dim"="2,1,1" {
  ret void
}

; Only functions that ignore the position have their address taken here.
; CHECK: kernel 'indirect': sliceable as it is
define ptx_kernel void @indirect(i32 %i) {
  %slot = getelementptr ptr, ptr addrspacecast (ptr addrspace(1) @table to ptr), i32 %i
  %f = load ptr, ptr %slot
  call void %f()
  ret void
}
define internal void @plain() {
  ret void
}
define internal void @plain2() {
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @cudaCGSynchronizeGrid(i64, i32)
declare i32 @cudaLaunchDeviceV2(ptr, ptr)
declare void @elsewhere()
declare i32 @vprintf(ptr, ptr)

; Unoptimised code: the operand that changes nothing is the callee's argument.
; CHECK: kernel 'spin_add_zero_in_function': not sliceable: waits in a loop
define ptx_kernel void @spin_add_zero_in_function(ptr %flag, i32 %n) {
entry:
  br label %wait
wait:
  %v = call i32 @atomic_add(ptr %flag, i32 0)
  %go = icmp ult i32 %v, %n
  br i1 %go, label %wait, label %out
out:
  ret void
}
; Work that is fetched piece by piece ends by itself.
; CHECK: kernel 'fetches_work': sliceable as it is
define ptx_kernel void @fetches_work(ptr %next, i32 %n) {
entry:
  br label %again
again:
  %v = call i32 @atomic_add(ptr %next, i32 1)
  %more = icmp ult i32 %v, %n
  br i1 %more, label %again, label %out
out:
  ret void
}
define internal i32 @atomic_add(ptr %p, i32 %x) {
  %local = alloca i32
  store i32 %x, ptr %local
  %y = load i32, ptr %local
  %old = atomicrmw add ptr %p, i32 %y seq_cst
  ret i32 %old
}
