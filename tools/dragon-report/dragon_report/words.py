"""What things are called on the page."""

# Classes of time: (name, what it means). timeline.CLASSES says which one a moment belongs to if several things happen.
CLASSES = {
    "far": ("kernels that use host memory", "a kernel ran that fetches a part of its data over the link while it runs"),
    "kernel": ("kernels", "a kernel ran, with all its data in device memory"),
    "within": ("copies within the device", "no kernel ran; data were copied or filled on the device"),
    "link-in": ("to the device", "no kernel ran; data were on their way from host memory to the device"),
    "link-out": ("from the device", "no kernel ran; data were on their way from the device to host memory"),
    "file-read": ("reading files", "no kernel ran and nothing was on the link; files or swap were read"),
    "file-write": ("writing files", "no kernel ran and nothing was on the link; files or swap were written"),
    "host": ("work on the host", "only the runtime worked, on the host: it planned, made room, or copied within host memory"),
    "nothing": ("nothing recorded", "the trace has nothing for this time: the program's own host code ran, or it waited"),
}

# Lanes of the timeline.
LANES = {
    "kernel": "kernels",
    "link-in": "copies to the device",
    "link-out": "copies from the device",
    "within": "copies within the device",
    "file-read": "files read",
    "file-write": "files written",
}

# What the threads of the host did: the zones of the trace.
ZONES = {
    "launch": "calls of launches, each from the call until its work is handed to the device",
    "launches together": "launches that ran together, part by part",
    "plan": "deciding what a launch needs, and in which parts it runs",
    "plan wavefront": "deciding how launches that follow one another run together",
    "bring in": "seeing that data are on the device, which includes fetching them and making room",
    "fetch": "fetching data to the device",
    "fetch ahead": "fetching data that later launches will need",
    "evict": "making room in device memory",
    "copy in": "the program's own copies to the device",
    "copy out": "the program's own copies from the device",
    "copy within": "the program's own copies between buffers on the device",
    "fill": "the program's own fills (cudaMemset)",
    "write to file": "bringing results to the program's files",
    "host access": "accesses of the program's host code to managed memory that was on the device",
    "settle": "saving data that the program is about to change or to free",
    "copy of the program's memory": "fetching data from the program's own host memory",
    "read of the program's memory": "reading the program's own host memory",
    "write to the program's memory": "writing results to the program's own host memory",
    "pin the program's memory": "making the program's own host memory known to the GPU's driver",
    "map in host memory": "making host memory known to a kernel that will use it over the link",
    "make frames": "making room for pages that kernels fetch",
    "bring the page table up to date": "telling kernels that fetch pages where these are",
    "estimate accesses": "estimating what a kernel uses most",
    "read indices": "reading arrays of indices, which say what a kernel will touch",
    "library call": "calls of libraries such as cuBLAS",
}

DIRECTIONS = {
    "file_to_host": "files to host",
    "host_to_device": "host to device",
    "device_to_host": "device to host",
    "host_to_file": "host to files",
    "swap_to_host": "swap to host",
    "host_to_swap": "host to swap",
    "device_to_device": "within the device",
    "device_to_peer": "device to another GPU",
    "peer_to_device": "another GPU to device",
    "peer_to_host": "another GPU to host",
    "host_to_peer": "host to another GPU",
}

# Whose traffic the statistics compare the run's with.
TRAFFIC = {
    "oracle": "the least that any choice of what stays would have moved",
    "reference_pager": "a driver that fetches pages when kernels touch them",
    "reference_pager_with_directives": "such a driver, told what the compiler found",
    "host_mapped_accesses": "of this run: accesses of kernels to host memory",
}


def named(name):
    """'read_only' as people write it."""
    return {
        "read_only": "read-only",
        "write_only": "write-only",
        "host_mapped_launches": "host-mapped launches",
        **DIRECTIONS
    }.get(name, name.replace("_", " "))


def both(names):
    """'a', 'a and b', 'a, b and c'."""
    names = list(names)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1] if names else ""
