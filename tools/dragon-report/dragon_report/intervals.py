"""Sets of times, as lists of (begin, end) that are sorted and apart. All is linear but the sort."""


def merged(begins, ends):
    """The union of intervals, which may come in any order."""
    pairs = sorted(zip(begins, ends))
    out = []
    if not pairs:
        return out
    first, last = pairs[0]
    for begin, end in pairs:
        if begin > last:
            if last > first:
                out.append((first, last))
            first, last = begin, end
        elif end > last:
            last = end
    if last > first:
        out.append((first, last))
    return out


def union(sets):
    return merged([begin for one in sets for begin, _ in one], [end for one in sets for _, end in one])


def total(intervals):
    return sum(end - begin for begin, end in intervals)


def split(whole, other):
    """(what of `whole` is in `other`, what is not)."""
    inside, outside = [], []
    index, count = 0, len(other)
    for begin, end in whole:
        while index < count and other[index][1] <= begin:
            index += 1
        here = begin
        at = index
        while at < count and other[at][0] < end:
            first, last = max(other[at][0], here), min(other[at][1], end)
            if first > here:
                outside.append((here, first))
            inside.append((first, last))
            here = last
            if other[at][1] > end:
                break
            at += 1
        index = at
        if here < end:
            outside.append((here, end))
    return inside, outside


def shares(intervals, begin, width, count):
    """How much of each of `count` buckets of `width` is covered, from 0 to 1."""
    partly = [0.0] * (count + 1)
    whole = [0] * (count + 2)  # the steps up and down of what covers whole buckets
    for first, last in intervals:
        first, last = (first - begin) / width, (last - begin) / width
        low, high = min(int(first), count), min(int(last), count)
        if low == high:
            partly[low] += last - first
        else:
            partly[low] += low + 1 - first
            partly[high] += last - high
            whole[low + 1] += 1
            whole[high] -= 1
    out, running = [], 0
    for index in range(count):
        running += whole[index]
        out.append(min(1.0, max(0.0, partly[index] + running)))
    return out
