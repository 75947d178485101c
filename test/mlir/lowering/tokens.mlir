// RUN: dragon-opt --convert-dragon-to-llvm %s | FileCheck %s

// A stream is made where a chain of tokens begins, and ends with its last
// operation.
// CHECK-LABEL: llvm.func @chain
// CHECK: llvm.call @cudaStreamCreate
// CHECK: %[[S:.*]] = llvm.load
// CHECK-NOT: cudaStreamCreate
// CHECK: llvm.call @cudaMemcpyAsync(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[S]])
// CHECK: llvm.call @cudaMemcpyAsync(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[S]])
// CHECK-NOT: cudaStreamDestroy
// CHECK: llvm.call @cudaStreamSynchronize(%[[S]])
// CHECK: llvm.call @cudaStreamDestroy(%[[S]])
// CHECK-NOT: cudaStreamDestroy
// CHECK: llvm.return
func.func @chain(%a: memref<8xf32>, %b: memref<8xf32>) {
  %t0 = gpu.wait async
  %t1 = gpu.memcpy async [%t0] %a, %b : memref<8xf32>, memref<8xf32>
  %t2 = gpu.memcpy async [%t1] %b, %a : memref<8xf32>, memref<8xf32>
  gpu.wait [%t2]
  return
}

// Nobody waits for the last token.
// CHECK-LABEL: llvm.func @dropped
// CHECK: llvm.call @cudaStreamCreate
// CHECK: llvm.call @cudaMemcpyAsync
// CHECK-NOT: cudaStreamSynchronize
// CHECK: llvm.call @cudaStreamDestroy
func.func @dropped(%a: memref<8xf32>, %b: memref<8xf32>) {
  %t0 = gpu.wait async
  %t1 = gpu.memcpy async [%t0] %a, %b : memref<8xf32>, memref<8xf32>
  return
}

// One token is waited for twice: its stream ends once.
// CHECK-LABEL: llvm.func @twice
// CHECK: llvm.call @cudaStreamSynchronize
// CHECK-NOT: cudaStreamDestroy
// CHECK: llvm.call @cudaStreamSynchronize
// CHECK: llvm.call @cudaStreamDestroy
// CHECK-NOT: cudaStreamDestroy
// CHECK: llvm.return
func.func @twice() {
  %t0 = gpu.wait async
  gpu.wait [%t0]
  gpu.wait [%t0]
  return
}

// CHECK-LABEL: llvm.func @join
// CHECK: %[[S:.*]] = llvm.load
// CHECK: %[[T:.*]] = llvm.load
// CHECK: llvm.call @cudaEventCreateWithFlags
// CHECK: %[[E:.*]] = llvm.load
// CHECK: llvm.call @cudaEventRecord(%[[E]], %[[T]])
// CHECK: llvm.call @cudaStreamWaitEvent(%[[S]], %[[E]], %{{.*}})
// CHECK: llvm.call @cudaEventDestroy(%[[E]])
// CHECK: llvm.call @cudaMemcpyAsync(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[S]])
// CHECK: llvm.call @cudaStreamDestroy(%[[T]])
// CHECK: llvm.call @cudaStreamSynchronize(%[[S]])
// CHECK: llvm.call @cudaStreamDestroy(%[[S]])
func.func @join(%a: memref<8xf32>, %b: memref<8xf32>) {
  %s = gpu.wait async
  %t = gpu.wait async
  %u = gpu.memcpy async [%s, %t] %a, %b : memref<8xf32>, memref<8xf32>
  gpu.wait [%u]
  return
}

// A token goes around a loop: the stream ends behind it.
// CHECK-LABEL: llvm.func @loop
// CHECK: llvm.call @cudaStreamCreate
// CHECK: llvm.call @cudaMemcpyAsync
// CHECK-NOT: cudaStreamDestroy
// CHECK: llvm.br
// CHECK: llvm.call @cudaStreamSynchronize
// CHECK: llvm.call @cudaStreamDestroy
func.func @loop(%a: memref<8xf32>, %b: memref<8xf32>, %again: i1) {
  %t0 = gpu.wait async
  cf.br ^loop(%t0 : !gpu.async.token)
^loop(%t: !gpu.async.token):
  cf.cond_br %again, ^body, ^end
^body:
  %next = gpu.memcpy async [%t] %a, %b : memref<8xf32>, memref<8xf32>
  cf.br ^loop(%next : !gpu.async.token)
^end:
  gpu.wait [%t]
  return
}

// Whose stream it is the caller knows.
// CHECK-LABEL: llvm.func @foreign
// CHECK: llvm.call @cudaStreamSynchronize
// CHECK-NOT: cudaStreamDestroy
// CHECK: llvm.return
func.func @foreign(%t: !gpu.async.token) {
  gpu.wait [%t]
  return
}

// Without a token of its own, an operation is done when the next one begins.
// CHECK-LABEL: llvm.func @blocking
// CHECK: llvm.call @cudaMemcpyAsync
// CHECK: llvm.call @cudaStreamSynchronize
// CHECK: llvm.call @cudaStreamDestroy
func.func @blocking(%a: memref<8xf32>, %b: memref<8xf32>) {
  %t0 = gpu.wait async
  gpu.memcpy [%t0] %a, %b : memref<8xf32>, memref<8xf32>
  return
}
