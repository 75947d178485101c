// Variables and functions of managed.cu.
struct Pair {
  int a;
  float b;
};

__global__ void fill();
int own();
int back();
