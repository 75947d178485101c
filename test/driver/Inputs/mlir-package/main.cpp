#include "dragon/mlir/Passes.h"

int main() { dragon::ir::registerDragonPasses(); }
