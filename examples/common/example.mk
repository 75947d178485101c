# Rules of all examples. A Makefile sets NAME, GEN_ARGS, RUN_ARGS and CHECK_ARGS and includes this file.
#   make NVCC=nvcc        builds the program, the generator and the checker
#   make NVCC=dragon-cc   the same with dragon-cc
#   make run              generates the inputs, runs the program and checks its output
NVCC ?= nvcc
NVCCFLAGS ?= -O2
ARCH ?= sm_90
CXX ?= c++
CXXFLAGS ?= -O2 -Wall -Wextra
COMMON := $(dir $(lastword $(MAKEFILE_LIST)))

all: $(NAME) gen check

$(NAME): $(NAME).cu
	$(NVCC) $(NVCCFLAGS) -arch=$(ARCH) -o $@ $<

gen check: %: %.cpp $(COMMON)Files.h
	$(CXX) -std=c++17 $(CXXFLAGS) -pthread -o $@ $<

run: all
	./gen $(GEN_ARGS)
	./$(NAME) $(RUN_ARGS)
	./check $(CHECK_ARGS)

clean:
	rm -f $(NAME) gen check *.bin

.PHONY: all run clean
