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

// Host code is compiled before anything is known of kernels: what would tell is said, once for each buffer.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %dragon-cc --cuda-path=%cuda -arch=sm_90 --dragon-targets=cpu -Rpass-missed=dragon -Rpass-analysis=dragon -DMAPS -dc %s -o unit.o 2>&1 | FileCheck %s --check-prefix=UNSEEN
// RUN: rm -rf %t.dir
#ifdef MAPS
extern __global__ void step(int *to);
int main() {
  int *d;
  // UNSEEN: separable.cu:[[#@LINE+1]]:3: remark: 'd' not mapped: what kernel 'step' launched at line [[#@LINE+3]] does with it is not known in this compilation; add -flto
  cudaMalloc(&d, 4096);
  // UNSEEN: separable.cu:[[#@LINE+1]]:3: remark: what kernel 'step' does with buffers is not known in this compilation, where it counts as reading and writing all of them; add -flto to each compilation and to the link [-Rpass-analysis=dragon]
  step<<<1, 1>>>(d);
  cudaFree(d);
}
#endif
