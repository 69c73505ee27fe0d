/** Faults in probes, links and processes, in Rust. */

/** @type {import('../faults.js').Fault[]} */
export default [
  {
    name: 'lost-datagram',
    what: 'the last datagram is never counted as lost',
    file: 'sidecar/src/probe/udp/ledger.rs',
    from: 'while self.oldest < self.next {',
    to: 'while self.oldest + 1 < self.next {',
    tests: [{ rust: 'unit', name: 'probe::udp::ledger' }],
  },
  {
    name: 'corrupt-payload',
    what: 'a payload is right where its first four bytes are',
    file: 'sidecar/src/net/payload.rs',
    from: '            && payload[head..] == *self.of(sequence)\n',
    to: '',
    tests: [{ rust: 'unit', name: 'net::payload' }],
  },
  {
    name: 'probe-percentile',
    what: 'the 99th percentile of a probe is its 90th',
    file: 'sidecar/src/probe/recorder.rs',
    from: 'p99_ns: at(0.99),',
    to: 'p99_ns: at(0.90),',
    tests: [{ rust: 'unit', name: 'probe::recorder' }],
  },
  {
    name: 'far-end-before',
    what: 'datagrams that the far end sent for an earlier probe count for this one',
    file: 'sidecar/src/probe/far_end.rs',
    from: 'now.datagrams_sent - before.datagrams_sent',
    to: 'now.datagrams_sent',
    tests: [{ rust: 'unit', name: 'probe::far_end' }],
  },
  {
    name: 'line-in-bytes',
    what: 'a line of 8 Mbit/s carries 64',
    file: 'sidecar/src/link/pipe.rs',
    from: 'head.bytes.len() as u64 * 8 * 1_000_000_000',
    to: 'head.bytes.len() as u64 * 1_000_000_000',
    tests: [{ rust: 'unit', name: 'link::pipe' }],
  },
  {
    name: 'queue-drop-uncounted',
    what: 'a packet that a full queue does not take is counted nowhere',
    file: 'sidecar/src/link/pipe.rs',
    from: '            counts.queue_dropped += 1;\n',
    to: '',
    tests: [{ rust: 'unit', name: 'link::pipe' }],
  },
  {
    name: 'cpu-of-children',
    what: 'the CPU time of children that ended is lost',
    file: 'sidecar/src/process/reading.rs',
    from: 'true => entry.own_ns + entry.reaped_ns,',
    to: 'true => entry.own_ns,',
    tests: [{ rust: 'unit', name: 'process::usage' }],
  },
  {
    name: 'secret-in-base64',
    what: 'a password stays in a log in the encoding of an Authorization header',
    file: 'sidecar/src/process/redact.rs',
    from: 'STANDARD_NO_PAD.encode(secret),',
    to: 'STANDARD_NO_PAD.encode(secret) + "=",',
    tests: [{ rust: 'unit', name: 'process::redact' }],
  },
  {
    name: 'wire-gap',
    what: 'a connection of which packets are missing is seen as whole',
    file: 'sidecar/src/wire/flows.rs',
    from: 'self.gaps |= flow.ways',
    to: 'self.gaps &= flow.ways',
    tests: [{ rust: 'unit', name: 'wire::flows' }],
  },
  {
    name: 'leaked-process',
    what: 'a sidecar that is killed leaves what it started running',
    file: 'sidecar/src/process/guard.rs',
    from: `                    self.orphaned = true;
                    return self.stop();`,
    to: `                    self.orphaned = true;
                    return;`,
    tests: [{ rust: 'together', name: 'orphans::a_sidecar_that_is_killed_leaves_nothing' }],
  },
];
