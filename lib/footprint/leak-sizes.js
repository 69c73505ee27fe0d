/** The sizes of footprint/leak in each profile: the error rates of its decision hold for them. */

export const LEAK_PROFILES = {
  smoke: { warmup: 2, cycles: 18, block: 2, connections: 60, mib: 5, associations: 13, lingerS: 0 },
  quick: { warmup: 6, cycles: 48, block: 3, connections: 500, mib: 32, associations: 100, lingerS: 0 },
  full: { warmup: 12, cycles: 192, block: 6, connections: 2000, mib: 128, associations: 20, lingerS: 330 },
};

/** Growth of memory in a whole run that is never a leak, bytes: a program's own start-up goes on for a while. */
export const MEMORY_SLACK = 8 * 2 ** 20;
