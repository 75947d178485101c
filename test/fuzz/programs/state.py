"""What a random program knows of its memory while it is made: which words are defined, and who may be using them.

Two things must never happen in a generated program: that it reads a word that nothing has written, and that two
uses of a word, one of them a write, are not ordered. So each memory keeps the ranges that are surely defined, and
each agent (the host, a stream) the last operation of every other agent that surely ends before its next one begins.
"""

import copy

HOST = "host"
LEGACY = 0  # the default stream


class Impossible(Exception):
    """What was begun does not go here; nothing of it is kept."""


class Ranges:
    """Sorted, disjoint, half-open ranges of words."""

    def __init__(self, ranges=()):
        self.ranges = list(ranges)

    def add(self, low, high):
        if low >= high:
            return
        kept = []
        for a, b in self.ranges:
            if b < low or a > high:
                kept.append((a, b))
            else:
                low, high = min(low, a), max(high, b)
        self.ranges = sorted(kept + [(low, high)])

    def covers(self, low, high):
        return low >= high or any(a <= low and high <= b for a, b in self.ranges)

    def meet(self, other):
        result = []
        for a, b in self.ranges:
            for c, d in other.ranges:
                if max(a, c) < min(b, d):
                    result.append((max(a, c), min(b, d)))
        return Ranges(sorted(result))

    def longest(self):
        return max(self.ranges, key=lambda r: r[1] - r[0], default=None)

    def __eq__(self, other):
        return self.ranges == other.ranges


class Memory:
    """A buffer: `text` is what the program calls it, an expression of type uint32_t *."""

    def __init__(self, text, words, kind):
        self.text, self.words, self.kind = text, words, kind
        self.allocated = False
        self.defined = Ranges()
        self.uses = []  # (agent, time, low, high, writes)
        self.group = None  # the array that it is an element of
        self.shared = False  # with other threads, so nobody writes it now
        self.home = None  # how it is allocated and freed: see variables.py

    @property
    def on_device(self):
        return self.kind in ("device", "async", "managed")

    @property
    def on_host(self):
        return self.kind in ("host", "pinned", "managed")

    def full(self):
        return self.allocated and self.defined.covers(0, self.words)


def earliest(known, other):
    """What is known either way; of itself an agent knows all. One that has lived on one way only keeps what it knew."""
    result = {agent: dict(times) for agent, times in other.items() if agent not in known}
    for agent, times in known.items():
        if agent not in other:
            result[agent] = dict(times)
            continue
        result[agent] = {a: min(t, other[agent][a]) for a, t in times.items() if a in other[agent]}
        result[agent][agent] = max(times.get(agent, 0), other[agent].get(agent, 0))
    return result


class Order:
    """Who has surely ended before whom. Agents are HOST and the numbers of streams; those in `blocking` wait for the
    default stream and are waited for by it."""

    def __init__(self, streams, blocking):
        self.now = 0
        self.blocking = set(blocking)
        self.known = {agent: {} for agent in [HOST, LEGACY, *streams]}
        self.memories = []
        self.retired = 0
        self.log = None  # while a loop's body is made
        self.before_threads = self.with_threads = None

    @staticmethod
    def _merge(into, other):
        for agent, time in other.items():
            into[agent] = max(into.get(agent, 0), time)

    def view(self, agent):
        """What the next operation of the agent comes after."""
        result = dict(self.known[agent])
        if agent != HOST:
            self._merge(result, self.known[HOST])
        if agent == LEGACY:
            for stream in self.blocking & self.known.keys():
                self._merge(result, self.known[stream])
        elif agent in self.blocking:
            self._merge(result, self.known[LEGACY])
        return result

    def races(self, agent, uses):
        """The agents that must be waited for before the agent uses [(memory, low, high, writes)]."""
        view = self.view(agent)
        found = set()
        for memory, low, high, writes in uses:
            for other, time, a, b, wrote in memory.uses:
                # What the host has done, it has done.
                if other not in (agent, HOST) and (writes or wrote) and max(a, low) < min(b, high) and view.get(other, 0) < time:
                    found.add(other)
        return found

    def perform(self, agent, uses):
        if self.log is not None:
            self.log.append(("perform", agent, list(uses)))
        self.now += 1
        self.known[agent] = self.view(agent)
        self.known[agent][agent] = self.now
        for memory, low, high, writes in uses:
            memory.uses = [u for u in memory.uses if self.known[HOST].get(u[0], 0) < u[1]]
            memory.uses.append((agent, self.now, low, high, writes))

    def host_waits(self, stream):
        if self.log is not None:
            self.log.append(("host_waits", stream))
        self._merge(self.known[HOST], self.known[stream])

    def host_waits_for_all(self):
        if self.log is not None:
            self.log.append(("host_waits_for_all",))
        for agent in self.known:
            self._merge(self.known[HOST], self.known[agent])

    def stream_waits(self, stream, other):
        """By an event that is recorded in `other` now."""
        if self.log is not None:
            self.log.append(("stream_waits", stream, other))
        self.known[stream] = self.view(stream)
        self._merge(self.known[stream], self.view(other))

    # Threads run from threads_begin to threads_end. What they do is performed first, one after another, and what the
    # program itself does meanwhile is performed from threads_run on: what a thread waits for, the program has not waited for.

    def threads_begin(self):
        if self.log is not None:
            self.log.append(("threads_begin",))
        self.before_threads = copy.deepcopy(self.known)

    def threads_run(self):
        if self.log is not None:
            self.log.append(("threads_run",))
        self.with_threads = copy.deepcopy(self.known)
        self.known = earliest(self.known, self.before_threads)

    def threads_end(self):
        """The program knows what each thread knew when it ended."""
        if self.log is not None:
            self.log.append(("threads_end",))
        for agent, times in self.with_threads.items():
            if agent in self.known:
                self._merge(self.known[agent], times)

    def begin(self, stream, blocking):
        """A new stream."""
        if self.log is not None:
            self.log.append(("begin", stream, blocking))
        self.known[stream] = {}
        if blocking:
            self.blocking.add(stream)

    def retire(self, stream):
        """The stream is destroyed. What is queued there runs all the same, but nobody can wait for it by its name, nor
        does the default stream; the next stream of this name is another one."""
        if self.log is not None:
            self.log.append(("retire", stream))
        self.blocking.discard(stream)
        self.retired += 1
        gone = f"gone{self.retired}"
        for known in self.known.values():
            if stream in known:
                known[gone] = known.pop(stream)
        self.known[gone] = self.known.pop(stream)
        for memory in self.memories:
            memory.uses = [(gone if use[0] == stream else use[0], *use[1:]) for use in memory.uses]

    @staticmethod
    def is_gone(agent):
        return isinstance(agent, str) and agent != HOST

    def share(self, memories):
        """After a swap nobody knows which is which."""
        if self.log is not None:
            self.log.append(("share", list(memories)))
        uses = [u for m in memories for u in m.uses]
        for memory in memories:
            memory.uses = list(dict.fromkeys(uses))

    def again(self, log):
        """Runs the log of a loop's body once more; False at the first race."""
        for what, *rest in log:
            if what == "perform" and self.races(*rest):
                return False
            if getattr(self, what)(*rest) is False:
                return False
        return True

    def branch(self, then, otherwise):
        """Either log, who knows which; each sees what was before."""
        outer, self.log = self.log, None
        before, known = {m: list(m.uses) for m in self.memories}, copy.deepcopy(self.known)
        fine = self.again(then)
        first, known_first = {m: m.uses for m in self.memories}, self.known
        for memory in self.memories:
            memory.uses = before.get(memory, [])
        self.known = known
        fine = self.again(otherwise or []) and fine
        for memory in self.memories:
            memory.uses = list(dict.fromkeys(memory.uses + first.get(memory, [])))
        self.known = earliest(self.known, known_first)
        self.log = outer
        if outer is not None:
            outer.append(("branch", then, otherwise))
        return fine


class State:
    """All of it, to go back to where a branch began and to join branches."""

    def __init__(self, memories, order):
        self.memories, self.order = memories, order

    def save(self):
        return ([(m, m.allocated, Ranges(m.defined.ranges), list(m.uses)) for m in self.memories],
                copy.deepcopy(self.order.known))

    def restore(self, saved):
        memories, known = saved
        for memory, allocated, defined, uses in memories:
            memory.allocated, memory.defined, memory.uses = allocated, Ranges(defined.ranges), list(uses)
        self.order.known = copy.deepcopy(known)

    def join(self, saved):
        """The present one or the saved one, who knows."""
        memories, known = saved
        for memory, allocated, defined, uses in memories:
            assert memory.allocated == allocated, f"{memory.text} is freed on one way only"
            memory.defined = memory.defined.meet(defined)
            memory.uses = list(dict.fromkeys(memory.uses + uses))
        self.order.known = earliest(self.order.known, known)
