"""dragon-report: reads records, statistics and traces, and writes one page.

  cli       the command line
  records, stats, trace, info, pages, sources    one input each: what is wrong with it is an InputError
  intervals, timeline, kernels, costs            what they say together
  markup, units                                  safe HTML; numbers with units
  page, overview, flow, lanes, kernelview, sourceview    the parts of the page, from the top
"""
