// Many runs of an executable without starting it anew: `program IN OUT 0000000 --serve` waits for requests, and each is a
// child that goes on into main as if it had been started by itself. A request is a line of words between tabs: the
// program's place, files for what it prints and for its errors, and settings of the environment. The answer is a line
// with the child's number, and then one with its status, as waitpid gives it.
#ifndef SERVER_H
#define SERVER_H
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace server {
inline void redirect(int number, const char *path, int flags) {
  int file = open(path, flags, 0600);
  if (file < 0 || dup2(file, number) < 0)
    _exit(97);
  close(file);
}

inline bool readLine(char *line, size_t room) {
  for (size_t at = 0; at < room; ++at) {
    if (read(0, line + at, 1) != 1)
      return false;
    if (line[at] == '\n') {
      line[at] = 0;
      return true;
    }
  }
  return false;
}

inline void become(char *line, char *place) {
  setpgid(0, 0);
  char *rest = line;
  strcpy(place, strsep(&rest, "\t"));
  redirect(1, strsep(&rest, "\t"), O_WRONLY | O_CREAT | O_TRUNC);
  redirect(2, strsep(&rest, "\t"), O_WRONLY | O_CREAT | O_TRUNC);
  redirect(0, "/dev/null", O_RDONLY);
  while (rest && *rest)
    putenv(strsep(&rest, "\t"));
}

/// Returns in children, which are to run the program that argv says.
inline void serve(int argc, char **argv) {
  static char line[4096];
  if (argc != 5 || strcmp(argv[4], "--serve") != 0)
    return;
  while (readLine(line, sizeof(line))) {
    pid_t child = fork();
    if (child == 0)
      return become(line, argv[3]);
    dprintf(1, "%d\n", (int)child);
    int status = -1;
    if (child > 0)
      waitpid(child, &status, 0);
    dprintf(1, "%d\n", status);
  }
  _exit(0);
}
} // namespace server
#endif
