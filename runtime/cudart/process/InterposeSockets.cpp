//===- InterposeSockets.cpp - managed memory in calls on sockets ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See HostBuffers.h. A message is received and sent by one call: only streams,
// where that makes no difference, are sent in pieces, and received so with
// MSG_WAITALL. Several messages are several calls.
//
// Sources: recv(2), send(2), recvmmsg(2), sendmmsg(2).
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/HostBuffers.h"
#include "runtime/cudart/process/LibcCalls.h"

#include <ctime>

using namespace dragon;

namespace {

bool hasHostRange(const msghdr *message) {
  if (!HostRanges::any() || !message)
    return false;
  return HostRanges::overlaps(message, sizeof *message) ||
         HostRanges::overlaps(message->msg_name, message->msg_namelen) ||
         HostRanges::overlaps(message->msg_control, message->msg_controllen) ||
         dragon::hasHostRange(message->msg_iov, message->msg_iovlen);
}

ssize_t receive(int fd, msghdr *message, int flags) {
  const bool whole = (flags & MSG_WAITALL) && !(flags & MSG_PEEK);
  const msghdr asked = *message;
  HostTransfer part(HostTransfer::Reads);
  size_t done = 0;
  for (;;) {
    if (!part.next(asked.msg_iov, asked.msg_iovlen, done))
      return done ? ssize_t(done) : -1;
    msghdr plain = asked;
    plain.msg_iov = const_cast<iovec *>(part.vectors());
    plain.msg_iovlen = part.count();
    plain.msg_name = part.borrow(asked.msg_name, asked.msg_namelen);
    plain.msg_control = part.borrow(asked.msg_control, asked.msg_controllen);
    if (done) // what came with the first piece stays
      plain.msg_name = plain.msg_control = nullptr,
      plain.msg_namelen = plain.msg_controllen = 0;
    const ssize_t got = DRAGON_REAL(recvmsg)(fd, &plain, flags);
    if (got < 0)
      return done ? ssize_t(done) : got;
    part.finish(size_t(got));
    if (!done) {
      HostTransfer::give(asked.msg_name, plain.msg_name,
                         std::min(asked.msg_namelen, plain.msg_namelen));
      HostTransfer::give(asked.msg_control, plain.msg_control,
                         std::min(asked.msg_controllen, plain.msg_controllen));
      message->msg_namelen = plain.msg_namelen;
      message->msg_controllen = plain.msg_controllen;
    }
    message->msg_flags = plain.msg_flags;
    done += size_t(got);
    if (size_t(got) < part.bytes() || part.last() || !whole)
      return ssize_t(done);
  }
}

ssize_t sendAll(int fd, const msghdr &message, int flags) {
  HostTransfer part(HostTransfer::Writes);
  size_t done = 0;
  for (;;) {
    if (!part.next(message.msg_iov, message.msg_iovlen, done))
      return done ? ssize_t(done) : -1;
    msghdr plain = message;
    plain.msg_iov = const_cast<iovec *>(part.vectors());
    plain.msg_iovlen = part.count();
    plain.msg_name = part.borrow(message.msg_name, message.msg_namelen);
    plain.msg_control =
        part.borrow(message.msg_control, message.msg_controllen);
    if (done)
      plain.msg_control = nullptr, plain.msg_controllen = 0;
    const ssize_t got = DRAGON_REAL(sendmsg)(fd, &plain, flags);
    if (got < 0)
      return done ? ssize_t(done) : got;
    done += size_t(got);
    if (size_t(got) < part.bytes() || part.last())
      return ssize_t(done);
  }
}

bool hasHostRange(const mmsghdr *messages, unsigned count) {
  if (!HostRanges::any() || !messages)
    return false;
  if (HostRanges::overlaps(messages, count * sizeof *messages))
    return true;
  for (unsigned i = 0; i < count; ++i)
    if (hasHostRange(&messages[i].msg_hdr))
      return true;
  return false;
}

/// After this time no further message is waited for; null: there is none.
class Deadline {
public:
  explicit Deadline(const timespec *after) : Limited(after) {
    if (!Limited)
      return;
    ::clock_gettime(CLOCK_MONOTONIC, &End);
    End.tv_sec += after->tv_sec;
    End.tv_nsec += after->tv_nsec;
    End.tv_sec += End.tv_nsec / Second;
    End.tv_nsec %= Second;
  }
  bool isOver() const {
    timespec now;
    if (!Limited)
      return false;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > End.tv_sec ||
           (now.tv_sec == End.tv_sec && now.tv_nsec >= End.tv_nsec);
  }

private:
  static constexpr long Second = 1000000000;
  const bool Limited;
  timespec End{};
};

} // namespace

extern "C" {

ssize_t recvmsg(int fd, msghdr *message, int flags) {
  return hasHostRange(message) ? receive(fd, message, flags)
                               : DRAGON_REAL(recvmsg)(fd, message, flags);
}

ssize_t sendmsg(int fd, const msghdr *message, int flags) {
  return hasHostRange(message) ? sendAll(fd, *message, flags)
                               : DRAGON_REAL(sendmsg)(fd, message, flags);
}

ssize_t recv(int fd, void *memory, size_t bytes, int flags) {
  if (!HostRanges::overlaps(memory, bytes))
    return DRAGON_REAL(recv)(fd, memory, bytes, flags);
  iovec all = {memory, bytes};
  msghdr message{};
  message.msg_iov = &all;
  message.msg_iovlen = 1;
  return receive(fd, &message, flags);
}

ssize_t __recv_chk(int fd, void *memory, size_t bytes, size_t room, int flags) {
  return bytes > room ? DRAGON_REAL(__recv_chk)(fd, memory, bytes, room, flags)
                      : ::recv(fd, memory, bytes, flags);
}

ssize_t recvfrom(int fd, void *memory, size_t bytes, int flags, sockaddr *from,
                 socklen_t *fromBytes) {
  if (!HostRanges::overlaps(memory, bytes) &&
      !HostRanges::overlaps(from, from && fromBytes ? *fromBytes : 0) &&
      !HostRanges::overlaps(fromBytes, sizeof *fromBytes))
    return DRAGON_REAL(recvfrom)(fd, memory, bytes, flags, from, fromBytes);
  iovec all = {memory, bytes};
  msghdr message{};
  message.msg_iov = &all;
  message.msg_iovlen = 1;
  if (from && fromBytes) {
    message.msg_name = from;
    message.msg_namelen = *fromBytes;
  }
  const ssize_t got = receive(fd, &message, flags);
  if (got >= 0 && from && fromBytes)
    *fromBytes = message.msg_namelen;
  return got;
}

ssize_t __recvfrom_chk(int fd, void *memory, size_t bytes, size_t room,
                       int flags, sockaddr *from, socklen_t *fromBytes) {
  return bytes > room ? DRAGON_REAL(__recvfrom_chk)(fd, memory, bytes, room,
                                                    flags, from, fromBytes)
                      : ::recvfrom(fd, memory, bytes, flags, from, fromBytes);
}

ssize_t sendto(int fd, const void *memory, size_t bytes, int flags,
               const sockaddr *to, socklen_t toBytes) {
  if (!HostRanges::overlaps(memory, bytes) &&
      !HostRanges::overlaps(to, toBytes))
    return DRAGON_REAL(sendto)(fd, memory, bytes, flags, to, toBytes);
  iovec all = {const_cast<void *>(memory), bytes};
  msghdr message{};
  message.msg_iov = &all;
  message.msg_iovlen = 1;
  message.msg_name = const_cast<sockaddr *>(to);
  message.msg_namelen = to ? toBytes : 0;
  return sendAll(fd, message, flags);
}

ssize_t send(int fd, const void *memory, size_t bytes, int flags) {
  return HostRanges::overlaps(memory, bytes)
             ? ::sendto(fd, memory, bytes, flags, nullptr, 0)
             : DRAGON_REAL(send)(fd, memory, bytes, flags);
}

// As the kernel does it: the time is looked at between messages, and an error
// behind the first message is left to the next call.
int recvmmsg(int fd, mmsghdr *messages, unsigned count, int flags,
             timespec *timeout) {
  if (!hasHostRange(messages, count))
    return DRAGON_REAL(recvmmsg)(fd, messages, count, flags, timeout);
  const Deadline deadline(timeout);
  const bool waitForOne = flags & MSG_WAITFORONE;
  flags &= ~MSG_WAITFORONE;
  for (unsigned i = 0; i < count; ++i) {
    const ssize_t got = ::recvmsg(fd, &messages[i].msg_hdr, flags);
    if (got < 0)
      return i ? int(i) : -1;
    messages[i].msg_len = unsigned(got);
    if (deadline.isOver())
      return int(i + 1);
    if (waitForOne)
      flags |= MSG_DONTWAIT;
  }
  return int(count);
}

int sendmmsg(int fd, mmsghdr *messages, unsigned count, int flags) {
  if (!hasHostRange(messages, count))
    return DRAGON_REAL(sendmmsg)(fd, messages, count, flags);
  for (unsigned i = 0; i < count; ++i) {
    const ssize_t got = ::sendmsg(fd, &messages[i].msg_hdr, flags);
    if (got < 0)
      return i ? int(i) : -1;
    messages[i].msg_len = unsigned(got);
  }
  return int(count);
}

} // extern "C"
