// A managed variable is one for the GPU's driver too; what cannot work is an error that names it.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %cc -ptx -arch=sm_80 %s -o - | FileCheck %s --check-prefix=PTX
// PTX: .visible .global .attribute(.managed) .align 4 .u32 counter = 5;
// RUN: not %cc -c -arch=sm_80 -DINITIALISER %s 2>&1 | FileCheck %s --check-prefix=STATIC
// STATIC: error: managed variable 'counter' has its address in an initialiser of a static variable, where it is not known yet; take it in a function
// With relocatable device code other units have it as well (conformance/cuda/language/managed-across-files.cu); without the one
// that defines it there is none.
// RUN: %cc -rdc=true -c -arch=sm_80 --dragon-targets=cpu %s -o defines.o
// RUN: %cc -rdc=true -c -arch=sm_80 --dragon-targets=cpu -DUSER %s -o uses.o
// RUN: %cc -rdc=true -arch=sm_80 --dragon-targets=cpu defines.o uses.o -o program && env DRAGON_BACKEND=cpu ./program
// RUN: not %cc -rdc=true -arch=sm_80 --dragon-targets=cpu uses.o -o program 2>&1 | FileCheck %s --check-prefix=EXTERN
// EXTERN: undefined {{.*}}counter

#ifdef USER
extern __managed__ int counter;
int other() { return ++counter; }
#else

__managed__ int counter = 5;

#ifdef INITIALISER
int *address = &counter;
#endif

__global__ void kernel() { ++counter; }

int main() {
  counter = 3;
  kernel<<<1, 1>>>();
  return cudaDeviceSynchronize() || counter != 4;
}
#endif
