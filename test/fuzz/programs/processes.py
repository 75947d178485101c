"""Other processes: forked children, which see what their parent has read and may change its input file, and programs that
are started. What the parent has read before stays what it was; what it reads later is what the file holds then."""

from .state import HOST, Impossible


class Processes:
    def changed(self):
        """The input is another one now; what the FILE has buffered would be the old one. Threads may be reading either."""
        if self.threads_run:
            raise Impossible
        self.changes_input = True
        self.emit('REQUIRE(freopen(inputPath, "rb", in) == in);')

    def forked(self):
        rng = self.rng
        if self.said is not None or self.rounds > 4:
            return False
        style = rng.choice(["nothing", "look", "look", "read", "change", "change", "rewrite", "rewrite", "replace"])
        child, changes = "return 0;", False
        if style == "look":
            source = self.host_source(self.scaled(100_000))
            if not source:
                return False
            memory, first, words = source
            self.perform(HOST, [(memory, first, first + words, "r")])
            child = f"return int(sum({self.pointer(memory, first)}, {words}) & 127);"
        elif style == "read":
            bytes_ = 4 * rng.randint(1, self.scaled(50_000))
            self.inputs = max(self.inputs, bytes_)
            child = f"return int(sumOfFile({bytes_}) & 127);"
        elif style == "change":
            child, changes = f"return changeInput({rng.randint(0, self.scaled(60_000))}, {rng.randint(1, self.scaled(200_000))}, {rng.randint(0, 99)});", True
        elif style in ("rewrite", "replace"):
            child, changes = f"return {style}Input({rng.randint(0, 99)});", True
        result = f"child{self.count()}"
        if rng.random() < 0.5:
            self.emit(f"int {result} = inChild([&] {{ {child} }});")
        else:
            self.emit("fflush(stdout);")
            self.emit(f"pid_t {result}Process = fork();")
            self.emit(f"if ({result}Process == 0)")
            self.emit(f"  _exit({child[len('return '):-1]});")
            self.emit(f"int {result} = waitForChild({result}Process);")
        self.emit(f'printf("%d\\n", {result});')
        if changes:
            self.changed()
        return True

    def child_program(self):
        """A command: one that does nothing, or one that changes the input."""
        rng = self.rng
        if self.said is not None or self.rounds > 4:
            return False
        how = rng.choice(["runBySystem", "runBySpawn", "runByPopen", "runByExec"])
        style = rng.choice(["nothing", "nothing", "change", "rewrite", "replace"])
        if style == "nothing":
            self.emit(f'{how}("{rng.choice(["true", "exit 0", ": nothing"])}");')
            return True
        command = {"change": f"dd if=/dev/zero of=%1$s bs=4096 count={rng.randint(1, 40)} seek={rng.randint(0, 3)} conv=notrunc",
                   "rewrite": "dd if=/dev/zero of=%1$s bs=%2$zu count=1",
                   "replace": "dd if=/dev/zero of=%1$s.new bs=%2$zu count=1 && mv %1$s.new %1$s"}[style]
        self.inputs = max(self.inputs, 4096 * 44)
        self.emit(f'{how}(withInput("{command.replace(" &&", " 2>/dev/null &&")} 2>/dev/null").c_str());')
        self.changed()
        return True
