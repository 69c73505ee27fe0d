/** Faults in what is around them: boards, the gate, set-up. */

/** @type {import('../faults.js').Fault[]} */
export default [
  {
    name: 'board-drift',
    what: 'a board asks for a field that nothing writes',
    file: 'grafana/boards/influx.js',
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
