"""Signals: handlers of the program's own, for faults and for what it is sent, in the middle of CUDA calls too; threads
that block all of them. Managed memory works all the same."""

from .state import HOST


class Signals:
    def managed_ready(self):
        return [m for m in self.memories if m.kind == "managed" and m.allocated and not m.shared]

    def own_fault_handler(self):
        """Set when there is managed memory, which then is looked at."""
        rng = self.rng
        if self.said is not None or not self.managed_ready():
            return False
        how = rng.choice(["handler", "handler", "ignore", "default", "action"])
        keep = f"before{self.count()}"
        self.emit("{")
        if how == "handler":
            self.emit(f"auto {keep} = signal(SIGSEGV, unexpectedSignal);")
        elif how == "action":
            self.emit(f"auto {keep} = ownHandler(SIGSEGV);")
        else:
            self.emit(f"auto {keep} = signal(SIGSEGV, {'SIG_IGN' if how == 'ignore' else 'SIG_DFL'});")
        for _ in range(rng.randint(1, 2)):
            if self.touch_managed() is False:
                return False
        if rng.random() < 0.5:
            self.emit(f"sigaction(SIGSEGV, &{keep}, nullptr);" if how == "action" else f"signal(SIGSEGV, {keep});")
        else:
            self.emit(f"(void){keep};")
        self.emit("}")
        return True

    def raised(self):
        """A signal that the program sends itself; the handler changes memory."""
        rng = self.rng
        ready = [(m, r) for m in self.memories if m.on_host and m.allocated and not m.shared for r in m.defined.ranges]
        if self.said is not None or not ready:
            return False
        memory, (low, high) = rng.choice(ready)
        words = rng.randint(1, min(high - low, self.scaled(50_000)))
        if memory.kind == "managed":
            self.device_waits()
        self.perform(HOST, [(memory, low, low + words, "w")])
        number = rng.choice(["SIGUSR1", "SIGUSR2"])
        self.emit(f"changeAtSignal({number}, {self.pointer(memory, low)}, {words});")
        self.emit(rng.choice([f"raise({number});", f"pthread_kill(pthread_self(), {number});"]))
        return True

    def blocked(self):
        """A thread that blocks all signals looks at managed memory."""
        ready = [m for m in self.managed_ready() if m.defined.longest()]
        if self.said is not None or not ready:
            return False
        memory = self.rng.choice(ready)
        low, high = memory.defined.longest()
        self.device_waits()
        self.perform(HOST, [(memory, low, high, "w")])
        seen = f"seen{self.count()}"
        self.emit(f"uint32_t {seen} = 0;")
        self.emit("std::thread([&] {")
        self.emit("blockSignals();")
        self.emit(f"{seen} = sum({self.pointer(memory, low)}, {high - low});")
        self.emit(f"for (size_t i = {low}; i < {high}; i += 700)")
        self.emit(f"  {memory.text}[i] += 2;")
        self.emit("}).join();")
        self.say(seen)
        return True

    def alarms(self):
        """A timer's signals while steps run; its handler counts."""
        if self.said is not None or self.depth > 1:
            return False
        timer = f"timer{self.count()}"
        self.emit("{")
        self.emit(f"Timer {timer}({self.rng.choice([150, 400, 1500])});")
        self.depth += 1
        for _ in range(self.rng.randint(1, 3)):
            self.step()
        self.depth -= 1
        self.emit("}")
        return True
