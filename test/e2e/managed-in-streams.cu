// Managed memory that a kernel used last, in each call that hands memory to the kernel: it gets or gives the bytes, in
// full, and nothing beside them changes. Streams of C and C++, pipes and sockets.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -O0 %s -o program && %tight ./program > unoptimised.txt
// RUN: %build -O2 %s -o program && %plain ./program > plain.txt && %tight ./program > tight.txt
// RUN: diff plain.txt tight.txt && diff plain.txt unoptimised.txt
// RUN: FileCheck %s < tight.txt
// RUN: rm -rf %t.dir
//
// CHECK: fputs on managed text
// CHECK-NEXT: puts on managed text
// CHECK-NEXT: all right
#include "managed-io.h"

void streams() {
  FILE *input = fdopen(dup(file), "r");
  auto from = [&](const std::function<size_t()> &call) {
    rewind(input);
    return ssize_t(call());
  };
  reads("fread", Moved, [&](unsigned char *to) {
    return from([&] { return fread(to, 1, Moved, input); });
  });
  reads("fread_unlocked", Moved, [&](unsigned char *to) {
    return from([&] { return fread_unlocked(to, 1, Moved, input); });
  });
  reads("__fread_chk", Moved, [&](unsigned char *to) {
    return from([&] { return __fread_chk(to, Moved, 1, Moved, input); });
  });
  reads("__fread_unlocked_chk", Moved, [&](unsigned char *to) {
    return from(
        [&] { return __fread_unlocked_chk(to, Moved, 1, Moved, input); });
  });
  reads("fread of items", Moved, [&](unsigned char *to) {
    // The last item is not complete, its bytes come all the same.
    size_t items =
        from([&] { return fread(to, 1000, Moved / 1000 + 1, input); });
    REQUIRE(feof(input));
    return ssize_t(items * 1000 + Moved % 1000);
  });
  reads("fread, unbuffered", Moved, [&](unsigned char *to) {
    setvbuf(input, nullptr, _IONBF, 0);
    return from([&] { return fread(to, 1, Moved, input); });
  });
  fclose(input);
  reads("ifstream", Moved, [](unsigned char *to) {
    std::ifstream stream("input", std::ios::binary);
    stream.read(reinterpret_cast<char *>(to), Moved);
    return ssize_t(stream.gcount());
  });

  auto fetch = [] {
    FILE *written = fopen("output", "r");
    REQUIRE(fread(back.data(), 1, Moved, written) == Moved &&
            fgetc(written) == EOF);
    fclose(written);
  };
  auto to = [](const std::function<size_t(FILE *)> &call) {
    FILE *output = fopen("output", "w");
    ssize_t put = ssize_t(call(output));
    fclose(output);
    return put;
  };
  writes(
      "fwrite", Moved,
      [&](const unsigned char *from) {
        return to([&](FILE *output) { return fwrite(from, 1, Moved, output); });
      },
      fetch);
  writes(
      "fwrite_unlocked", Moved,
      [&](const unsigned char *from) {
        return to([&](FILE *output) {
          return fwrite_unlocked(from, 1, Moved, output);
        });
      },
      fetch);
  writes(
      "fwrite of one item", Moved,
      [&](const unsigned char *from) {
        return to([&](FILE *output) {
          return Moved * fwrite(from, Moved, 1, output);
        });
      },
      fetch);
  writes(
      "ofstream", Moved,
      [](const unsigned char *from) {
        std::ofstream stream("output", std::ios::binary);
        stream.write("", 0).write(reinterpret_cast<const char *>(from), Moved);
        return stream ? ssize_t(Moved) : -1;
      },
      fetch);
  // The filebuf has a part in its buffer when the rest comes: writev.
  writes(
      "ofstream in two parts", Moved,
      [](const unsigned char *from) {
        std::ofstream stream("output", std::ios::binary);
        stream.write(reinterpret_cast<const char *>(from), 10)
            .write(reinterpret_cast<const char *>(from) + 10, Moved - 10);
        return stream ? ssize_t(Moved) : -1;
      },
      fetch);

  // Text longer than a stream's buffer, and what fgets and getline do.
  memset(data, 'x', 100000);
  data[100000] = 0;
  strcpy(reinterpret_cast<char *>(data) + 200000, "puts on managed text");
  strcpy(reinterpret_cast<char *>(data) + 300000, "fputs on managed text\n");
  auto away = [] {
    std::vector<unsigned char> same(data, data + Bytes);
    onDevice();
    CHECK(cudaMemcpy(data, same.data(), Bytes, cudaMemcpyDefault));
  };
  away();
  FILE *text = fopen("text", "w+");
  REQUIRE(fputs(reinterpret_cast<char *>(data), text) >= 0 &&
          fputc('\n', text) == '\n');
  away();
  REQUIRE(fputs_unlocked(reinterpret_cast<char *>(data), text) >= 0);
  away();
  fputs(reinterpret_cast<char *>(data) + 300000, stdout);
  away();
  puts(reinterpret_cast<char *>(data) + 200000);
  rewind(text);
  onDevice();
  REQUIRE(fgets(reinterpret_cast<char *>(data), Bytes, text) &&
          strlen(reinterpret_cast<char *>(data)) == 100001);
  REQUIRE(data[0] == 'x' && data[99999] == 'x' && data[100000] == '\n');
  onDevice();
  REQUIRE(fscanf(text, "%100000s", reinterpret_cast<char *>(data)) == 1 &&
          strlen(reinterpret_cast<char *>(data)) == 100000);
  fclose(text);
}

// A call that sends from a thread of its own, as pipes and sockets hold little.
ssize_t whileSending(int to, const std::function<ssize_t()> &receive) {
  std::thread sender(
      [to] { REQUIRE(write(to, content.data(), Small) == ssize_t(Small)); });
  ssize_t got = receive();
  sender.join();
  return got;
}

void fetchFrom(int from) {
  for (size_t done = 0; done < Small;) {
    ssize_t got = read(from, back.data() + done, Small - done);
    REQUIRE(got > 0);
    done += size_t(got);
  }
}

void pipesAndSockets() {
  int ends[2], pair[2], messages[2];
  REQUIRE(pipe(ends) == 0);
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, messages) == 0);
  // A pipe gives what it has.
  reads("read of a pipe", 300, [&](unsigned char *to) {
    REQUIRE(write(ends[1], content.data(), 300) == 300);
    return read(ends[0], to, Moved);
  });
  iovec list;
  reads("vmsplice out", 300, [&](unsigned char *to) {
    REQUIRE(write(ends[1], content.data(), 300) == 300);
    list = {to, 300};
    return vmsplice(ends[0], &list, 1, 0);
  });
  writes(
      "write to a pipe", Small,
      [&](const unsigned char *from) { return write(ends[1], from, Small); },
      [&] { fetchFrom(ends[0]); });
  writes(
      "vmsplice", Small,
      [&](const unsigned char *from) {
        list = {const_cast<unsigned char *>(from), Small};
        return vmsplice(ends[1], &list, 1, 0);
      },
      [&] { fetchFrom(ends[0]); });

  reads("recv", Small, [&](unsigned char *to) {
    return whileSending(pair[1],
                        [&] { return recv(pair[0], to, Small, MSG_WAITALL); });
  });
  reads("recvfrom", Small, [&](unsigned char *to) {
    return whileSending(pair[1], [&] {
      return recvfrom(pair[0], to, Small, MSG_WAITALL, nullptr, nullptr);
    });
  });
  reads("__recv_chk", Small, [&](unsigned char *to) {
    return whileSending(pair[1], [&] {
      return __recv_chk(pair[0], to, Small, Small, MSG_WAITALL);
    });
  });
  reads("__recvfrom_chk", Small, [&](unsigned char *to) {
    return whileSending(pair[1], [&] {
      return __recvfrom_chk(pair[0], to, Small, Small, MSG_WAITALL, nullptr,
                            nullptr);
    });
  });
  msghdr header{};
  header.msg_iov = &list;
  header.msg_iovlen = 1;
  reads("recvmsg", Small, [&](unsigned char *to) {
    list = {to, Small};
    return whileSending(pair[1],
                        [&] { return recvmsg(pair[0], &header, MSG_WAITALL); });
  });
  writes(
      "send", Small,
      [&](const unsigned char *from) { return send(pair[1], from, Small, 0); },
      [&] { fetchFrom(pair[0]); });
  writes(
      "sendto", Small,
      [&](const unsigned char *from) {
        return sendto(pair[1], from, Small, 0, nullptr, 0);
      },
      [&] { fetchFrom(pair[0]); });
  writes(
      "sendmsg", Small,
      [&](const unsigned char *from) {
        list = {const_cast<unsigned char *>(from), Small};
        return sendmsg(pair[1], &header, 0);
      },
      [&] { fetchFrom(pair[0]); });

  // Three messages, the last one larger than its memory.
  mmsghdr three[3] = {};
  iovec lists[3];
  auto prepare = [&](const unsigned char *at) {
    for (int i = 0; i < 3; ++i) {
      lists[i] = {const_cast<unsigned char *>(at) + 100 * i, 100};
      three[i] = {};
      three[i].msg_hdr.msg_iov = &lists[i];
      three[i].msg_hdr.msg_iovlen = 1;
    }
  };
  reads("recvmmsg", 300, [&](unsigned char *to) {
    for (int i = 0; i < 3; ++i)
      REQUIRE(write(messages[1], content.data() + 100 * i, i == 2 ? 150 : 100) >
              0);
    prepare(to);
    REQUIRE(recvmmsg(messages[0], three, 3, 0, nullptr) == 3);
    REQUIRE(!(three[1].msg_hdr.msg_flags & MSG_TRUNC) &&
            (three[2].msg_hdr.msg_flags & MSG_TRUNC));
    return three[0].msg_len + three[1].msg_len + three[2].msg_len;
  });
  writes(
      "sendmmsg", 300,
      [&](const unsigned char *from) {
        prepare(from);
        REQUIRE(sendmmsg(messages[1], three, 3, 0) == 3);
        return three[0].msg_len + three[1].msg_len + three[2].msg_len;
      },
      [&] {
        for (int i = 0; i < 3; ++i)
          REQUIRE(read(messages[0], back.data() + 100 * i, 1000) == 100);
      });

  // A sender's address and the header itself in managed memory.
  int udp = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  if (udp >= 0 &&
      bind(udp, reinterpret_cast<sockaddr *>(&address), bytes) == 0) {
    REQUIRE(getsockname(udp, reinterpret_cast<sockaddr *>(&address), &bytes) ==
            0);
    onDevice();
    memcpy(data, &address, sizeof address);
    auto *named = reinterpret_cast<sockaddr *>(data);
    auto *size = reinterpret_cast<socklen_t *>(data + 1024);
    *size = sizeof address;
    REQUIRE(sendto(udp, data, 100, 0, named, sizeof address) == 100);
    memset(data, 0, sizeof address);
    REQUIRE(recvfrom(udp, back.data(), 1000, 0, named, size) == 100);
    REQUIRE(*size == sizeof address &&
            memcmp(data, &address, sizeof address) == 0);
    close(udp);
  }
  for (int fd : {ends[0], ends[1], pair[0], pair[1], messages[0], messages[1]})
    close(fd);
}

int main() {
  prepare();
  streams();
  pipesAndSockets();
  CHECK(cudaFree(data));
  puts("all right");
  return 0;
}
