// The little of CUDA and libc that the tests of host passes use, as clang's
// CUDA front end would hand it to the optimiser, without the real headers.
#ifndef CUDA_H
#define CUDA_H

#define NULL ((void *)0)
typedef unsigned long size_t;
typedef struct _IO_FILE FILE;
typedef void *cudaStream_t;
enum { H2D = 1, D2H = 2, D2D = 3 };

#ifdef __cplusplus
extern "C" {
#endif
int cudaMalloc(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMallocHost(void **, size_t);
int cudaFree(void *);
int cudaFreeHost(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyAsync(void *, const void *, size_t, int, cudaStream_t);
int cudaMemset(void *, int, size_t);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
int cudaStreamCreate(cudaStream_t *);
int cudaStreamSynchronize(cudaStream_t);
int cudaIpcGetMemHandle(void *, void *);
int cudaLaunchKernel(const void *, void **);
int __cudaPushCallConfiguration(unsigned long, int, unsigned long, int, size_t,
                                cudaStream_t);

void *malloc(size_t);
void *calloc(size_t, size_t);
void free(void *);
void exit(int) __attribute__((noreturn));
int printf(const char *, ...);
FILE *fopen(const char *, const char *);
int fclose(FILE *);
int fseek(FILE *, long, int);
size_t fread(void *, size_t, size_t, FILE *);
size_t fwrite(const void *, size_t, size_t, FILE *);
int open(const char *, int, ...);
long read(int, void *, size_t);
long pread(int, void *, size_t, long);
long write(int, const void *, size_t);
long pwrite(int, const void *, size_t, long);
int close(int);
#ifdef __cplusplus
}
#endif

// Host stubs: KERNEL2(k, float *, int) is a kernel of two parameters.
#define KERNEL1(name, A)                                                       \
  void __device_stub__##name(A a) {                                            \
    void *args[] = {&a};                                                       \
    cudaLaunchKernel((const void *)&__device_stub__##name, args);              \
  }
#define KERNEL2(name, A, B)                                                    \
  void __device_stub__##name(A a, B b) {                                       \
    void *args[] = {&a, &b};                                                   \
    cudaLaunchKernel((const void *)&__device_stub__##name, args);              \
  }
#define KERNEL3(name, A, B, C)                                                 \
  void __device_stub__##name(A a, B b, C c) {                                  \
    void *args[] = {&a, &b, &c};                                               \
    cudaLaunchKernel((const void *)&__device_stub__##name, args);              \
  }
#define LAUNCH_ON(stream, name, ...)                                           \
  (__cudaPushCallConfiguration(1, 1, 256, 1, 0, stream)                        \
       ? (void)0                                                               \
       : __device_stub__##name(__VA_ARGS__))
#define LAUNCH(name, ...) LAUNCH_ON(NULL, name, __VA_ARGS__)

#endif
