// What C++ gives device code: recursion, function pointers, virtual functions,
// lambdas, templates, local classes, new and delete, variadic templates.
// RUN: %conforms %s
#include "conformance.h"
#include <new>

__device__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

typedef int (*Operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ Operation Table[2] = {add, multiply};

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ Square(float side) : side(side) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ Circle(float radius) : radius(radius) {}
  __device__ float area() const override { return 3 * radius * radius; }
};

template <typename... T> __device__ int total(T... values) {
  return (values + ... + 0);
}

template <typename F> __device__ int twice(F f, int x) { return f(f(x)); }

__global__ void kernel(int *out) {
  int t = threadIdx.x;
  Shape *shape = t % 2 ? static_cast<Shape *>(new Circle(t)) : new Square(t);
  int area = (int)shape->area();
  delete shape;
  int k = 3;
  out[4 * t] = fibonacci(t);
  out[4 * t + 1] = Table[t % 2](t, 10);
  out[4 * t + 2] = area;
  out[4 * t + 3] = twice([=](int x) { return x * k; }, t) + total(1, 2, t);
}

int main() {
  int *out = onDevice<int>(64);
  kernel<<<1, 16>>>(out);
  auto h = fetch(out, 64);
  int a = 0, b = 1;
  for (int t = 0; t < 16; ++t) {
    REQUIRE(h[4 * t] == a);
    REQUIRE(h[4 * t + 1] == (t % 2 ? t * 10 : t + 10));
    REQUIRE(h[4 * t + 2] == (t % 2 ? 3 : 1) * t * t);
    REQUIRE(h[4 * t + 3] == t * 9 + 3 + t);
    int c = a + b;
    a = b, b = c;
  }
  return 0;
}
