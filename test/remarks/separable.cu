// Device code that is linked has its remarks at the link: they name the lines of the sources, and static kernels as these do.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %dragon-cc --cuda-path=%cuda -arch=sm_90 --dragon-targets=cpu -Rpass-missed=dragon -dc %s -o unit.o 2>&1 | count 0
// RUN: %dragon-cc --cuda-path=%cuda --dragon-targets=cpu -Rpass-missed=dragon -dlink unit.o -o linked.o 2>&1 | FileCheck %s
// RUN: %dragon-cc --cuda-path=%cuda --dragon-targets=cpu -dlink unit.o -o linked.o 2>&1 | count 0
// RUN: rm -rf %t.dir

// CHECK: {{^}}{{.*}}separable.cu:[[#@LINE+1]]:1: remark: kernel 'wait' not sliced: waits in a loop for what another block writes (separable.cu:[[#@LINE+2]]);
static __global__ void wait(volatile int *flag) {
  while (*flag == 0)
    ;
}

void launch(int *flag) { wait<<<1, 1>>>(flag); }
