/** Faults around the measurements: the bench, boards, the gate, set-up. */

/** @type {import('../faults.js').Fault[]} */
export default [
  {
    name: 'full-disk',
    what: 'a run whose report did not fit on the disk ends as one that was written',
    file: 'k6/internal/bench/bench.go',
    from: 'if err != nil || readErr != nil {',
    to: 'if readErr != nil {',
    tests: [{ js: 'real/full-disk', name: 'full disk of 40k' }],
  },
  {
    name: 'left-after-an-interrupt',
    what: 'what a set-up made stays on the target after Ctrl-C',
    file: 'k6/internal/bench/outcome.go',
    from: 'b.interrupts.Any() || code == setupTimeout',
    to: 'code == setupTimeout',
    tests: [{ js: 'real/bad-input', name: 'topics are removed after Ctrl-C during the set-up too' }],
  },
  {
    name: 'board-drift',
    what: 'a board asks for a field that nothing writes',
    file: 'grafana/parts/influx.js',
    from: 'sum("hits") / sum("count")',
    to: 'sum("hits") / sum("counts")',
    tests: [{ js: 'unit/boards' }],
  },
  {
    name: 'gate-not-strict',
    what: 'a gate that is to fail where it cannot tell does not',
    file: 'ci/gate',
    from: 'is_strict && strict=--fail-inconclusive',
    to: 'is_strict || strict=--fail-inconclusive',
    tests: [{ js: 'real/gate-policy', name: 'too noisy' }],
  },
  {
    name: 'installs-unasked',
    what: 'SETUP=0 installs packages all the same',
    file: 'setup/prerequisites',
    from: '${SETUP:-1}',
    to: '${SETUP_OFF:-1}',
    tests: [{ js: 'unit/prerequisites', name: 'SETUP=0' }],
  },
];
