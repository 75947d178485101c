"""Streams that live for a moment, destroyed with work queued or without, and functions of the host that streams call."""

from .state import LEGACY


class Streams:
    prefer = None  # the stream that most steps go to now

    def next_stream(self):
        self.last_stream = getattr(self, "last_stream", 100) + 1
        return self.last_stream

    def new_stream(self):
        rng = self.rng
        stream = self.next_stream()
        name = f"brief{stream}"
        self.variables[name] = "cudaStream_t {0}"
        self.stream_names = {**self.stream_names, stream: name}
        self.streams = [*self.streams, stream]
        blocking = rng.random() < 0.5
        self.emit(f"cudaStream_t {name};")
        if blocking:
            self.emit(f"CHECK(cudaStreamCreate(&{name}));")
        else:
            self.emit(rng.choice([f"CHECK(cudaStreamCreateWithFlags(&{name}, cudaStreamNonBlocking));",
                                  f"CHECK(cudaStreamCreateWithPriority(&{name}, cudaStreamNonBlocking, 0));"]))
        self.order.begin(stream, blocking)
        return stream

    def destroy_stream(self, stream, really=True):
        """Its work may still be queued: then who needs the results waits for the device."""
        if really:
            self.emit(f"CHECK(cudaStreamDestroy({self.stream_names[stream]}));")
        self.order.retire(stream)
        self.streams = [s for s in self.streams if s != stream]

    def brief_stream(self):
        """A stream for the next few steps, and maybe an event for who comes then."""
        rng, before = self.rng, self.prefer
        if self.depth > 2 or len(self.streams) > 5:
            return False
        self.emit("{")
        stream = self.new_stream()
        self.prefer = stream
        self.depth += 1
        made = 0
        for _ in range(rng.randint(1, 3)):
            made += self.step()
        self.depth -= 1
        self.prefer = before
        if not made:
            return False
        style = rng.choice(["nothing", "nothing", "wait", "event", "device"])
        if style == "wait":
            self.host_waits(stream)
        elif style == "device":
            self.device_waits()
        elif style == "event":
            self.brief_event(stream)
        self.destroy_stream(stream)
        self.emit("}")
        return True

    def brief_event(self, stream):
        """Recorded, waited for by another stream or the host, and destroyed at once."""
        rng, name = self.rng, f"moment{self.count()}"
        other = rng.choice([LEGACY, *self.streams])
        self.emit(f"cudaEvent_t {name};")
        self.emit(f"CHECK(cudaEventCreate{rng.choice([f'(&{name})', f'WithFlags(&{name}, cudaEventDisableTiming)'])});")
        self.emit(f"CHECK(cudaEventRecord({name}, {self.stream_text(stream)}));")
        if rng.random() < 0.5:
            self.emit(f"CHECK(cudaEventSynchronize({name}));")
            self.order.host_waits(stream)
        elif other != stream:
            self.emit(f"CHECK(cudaStreamWaitEvent({self.stream_text(other)}, {name}, 0));")
            self.order.stream_waits(other, stream)
        self.emit(f"CHECK(cudaEventDestroy({name}));")

    def brief_streams(self):
        """A stream for each round of a loop."""
        if self.depth > 1:
            return False
        rounds, variable = self.rng.randint(2, 4), f"r{self.count()}"
        self.variables[variable] = "int {0}"
        return self.loop(f"for (int {variable} = 0; {variable} < {rounds}; ++{variable}) {{", rounds, self.brief_stream)

    def host_function(self):
        """A stream calls a function of the host, which changes or fills host memory."""
        rng, stream = self.rng, self.any_stream()
        source = self.host_source(self.scaled(200_000))
        if source and rng.random() < 0.6:
            memory, first, words = source
            mode, function = "w", "addOnHost"
        else:
            memory = self.host_memory(1)
            if not memory:
                return False
            words = rng.randint(1, min(memory.words, self.scaled(200_000)))
            first = rng.choice([0, rng.randint(0, memory.words - words)])
            mode, function = "d", "fillOnHost"
        self.perform(stream, [(memory, first, first + words, mode)])
        work = f"new HostWork{{{self.pointer(memory, first)}, {self.number(words)}, {rng.randint(1, 99)}}}"
        if rng.random() < 0.75:
            self.emit(f"CHECK(cudaLaunchHostFunc({self.stream_text(stream)}, {function}, {work}));")
        else:
            self.emit(f"CHECK(cudaStreamAddCallback({self.stream_text(stream)}, {function}InCallback, {work}, 0));")
        return True
