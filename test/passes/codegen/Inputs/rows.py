"""rows.py ROWS [again]: a kernel with a loop that reads so many rows of a matrix, at distances that are arguments, and computes with each.
Again: and reads the beginning of each behind the loop."""

import sys

rows = range(int(sys.argv[1]))
print("""target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
attributes #0 = { "nvvm.maxntid"="1024" }
define ptx_kernel void @rows(ptr %a, ptr %out, i32 %stride, i32 %n) #0 {
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()""")
for k in rows:
    print(f"""  %y.{k} = add nsw i32 %y, {k}
  %row.{k} = mul nsw i32 %y.{k}, %stride
  %wide.{k} = sext i32 %row.{k} to i64
  %at.{k} = getelementptr float, ptr %a, i64 %wide.{k}""")
print("""  br label %loop

loop:
  %i = phi i64 [ 0, %0 ], [ %i.next, %loop ]""")
for k in rows:
    print(f"  %s.{k} = phi float [ 0.0, %0 ], [ %t.{k}.128, %loop ]")
for k in rows:
    print(f"""  %p.{k} = getelementptr float, ptr %at.{k}, i64 %i
  %x.{k} = load float, ptr %p.{k}
  %t.{k}.0 = fadd float %s.{k}, %x.{k}""")
    for step in range(128):
        print(f"  %t.{k}.{step + 1} = fmul float %t.{k}.{step}, %x.{k}")
print("""  %i.next = add i64 %i, 1
  %count = trunc i64 %i.next to i32
  %more = icmp slt i32 %count, %n
  br i1 %more, label %loop, label %end

end:""")
for k in rows:
    if sys.argv[2:]:
        print(f"  %again.{k} = load volatile float, ptr %at.{k}")
    print(f"""  %to.{k} = getelementptr float, ptr %out, i64 {k}
  store float %t.{k}.128, ptr %to.{k}""")
print("  ret void\n}")
