# long-trace.py EVENTS FILE: a trace as DRAGON_TRACE writes it, of a run of one second: kernels half of the time, copies to the
# device beside them and between them, files read by two threads, and the host.
import sys

count, path = int(sys.argv[1]), sys.argv[2]
KERNELS, COPIES = 1 << 30, (1 << 30) + 1
step = 1e6 * 4 / count  # microseconds in which there is one event of each of the four
with open(path, "w") as file:
    def event(text):
        file.write(text)

    file.write('{"displayTimeUnit":"ns","traceEvents":[')
    for lane, name in ((KERNELS, "kernels"), (COPIES, "copies to the device, queue 1")):
        event(f'{"," if lane != KERNELS else ""}\n{{"name":"thread_name","ph":"M","pid":7,"tid":{lane},"args":{{"name":"{name}"}}}}')
    for index in range(count // 4):
        at = index * step

        def zone(name, begin, length, lane, arguments):
            event(f',\n{{"name":"{name}","cat":"dragon","ph":"X","ts":{begin:.3f},"dur":{length:.3f},"pid":7,"tid":{lane},'
                  f'"args":{{{arguments}}}}}')

        slice_ = index % 100
        zone("kernel", at, step / 2, KERNELS, f'"bytes":0,"on":"sweep, blocks {slice_}-{slice_} of 100"')
        zone("to the device", at + step / 4, step / 2, COPIES, '"bytes":1024')
        zone("file read", at, step, 11 + index % 2, '"bytes":1024,"on":"/data/in.bin"')
        zone("evict", at + step / 2, step / 4, 10, '"bytes":0')
    file.write("\n]}\n")
