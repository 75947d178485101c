// `texture` is a program's own name unless it, or what it includes, binds texture references.
// RUN: %cc -fsyntax-only -Werror %s

class texture {
public:
  int width = 1;
};

int use() { return texture().width; }
