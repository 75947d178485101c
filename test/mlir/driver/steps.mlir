// RUN: dragon-cc --cuda-path=%cuda -### -arch=sm_90 %s -o prog 2>&1 | FileCheck %s
// CHECK: dragon-opt{{"?}} "--dragon-pipeline=directives=true slicing=true" {{.*}}steps.mlir" "--emit-bytecode" "-o" "[[T:.*]]/steps.lowered.mlirbc"
// CHECK-NEXT: dragon-translate{{"?}} "--dragon-to-summary" "[[T]]/steps.lowered.mlirbc" "-o" "[[T]]/steps.summary.sm_90"
// CHECK-NEXT: dragon-translate{{"?}} "--dragon-to-device-llvmir" "--arch=sm_90" {{.*}} "-o" "[[T]]/steps.sm_90.ll"
// CHECK-NEXT: dragon-translate{{"?}} "--dragon-to-host-llvmir" {{.*}} "-o" "[[T]]/steps.host.ll"
// CHECK-NEXT: clang{{.*}} "--target=nvptx64-nvidia-cuda" "-march=sm_90" {{.*}}"-dragon-cpu-out=[[T]]/steps.cpu.bc"{{.*}}"-dragon-slicing=0"{{.*}}"-mlink-builtin-bitcode"{{.*}} "-x" "ir" "[[T]]/steps.sm_90.ll" {{.*}}"-S" "-o" "[[T]]/steps.sm_90.s"
// CHECK-NEXT: ptxas{{.*}} "--gpu-name" "sm_90" "-o" "[[T]]/steps.sm_90.cubin" "[[T]]/steps.sm_90.s"
// CHECK-NEXT: fatbinary{{.*}} "--create" "[[T]]/steps.fatbin"
// CHECK-NEXT: clang{{.*}} "-x" "ir"{{.*}}"-dragon-summary=[[T]]/steps.summary"{{.*}}"-dragon-lifetime=0"{{.*}}"-dragon-fat-binary=[[T]]/steps.fatbin" "-c" "[[T]]/steps.host.ll" "-o" "[[T]]/steps.host.o"
// CHECK-NEXT: clang{{.*}} "[[T]]/steps.cpu.bc" "-o" "[[T]]/steps.cpu.o"
// CHECK-NEXT: clang{{.*}} "-o" "prog" {{.*}}libdragonrt.so{{.*}} "[[T]]/steps.host.o" "[[T]]/steps.cpu.o"

// For the host processor alone there is no GPU code; an object is one file.
// RUN: dragon-cc -### --dragon-targets=cpu -fno-dragon-lifetime -fno-dragon-slicing -c %s -o prog.o 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: "--dragon-pipeline=directives=false slicing=false"
// CPU-NOT: ptxas
// CPU-NOT: fatbinary
// CPU: "-dragon-fat-binary={{.*}}no-gpu-code.fatbin"
// CPU: "-r" "-o" "prog.o"

// RUN: dragon-cc -### -Rpass=dragon -Rpass-missed=dragon --dragon-targets=cpu -c %s 2>&1 | FileCheck %s --check-prefix=REMARKS
// REMARKS: "--remarks-filter-passed=dragon" "--remarks-filter-missed=dragon" "--remark-format=emitRemark"

// RUN: not dragon-cc --dragon-targets=cpu -S %s 2>&1 | FileCheck %s --check-prefix=GOAL
// GOAL: can be compiled to an object or linked, no more
