/**
 * What does a second hop cost?
 *
 * Each chain has two rows of lib/protocols/matrix.js: the first row's server sends its traffic to the second row's client, whose
 * server sends it to the target. The chains and their single rows are measured in turn, each turn with new processes. CPU and
 * memory of a chain include both hops; the CPU time of each hop shows that both carry the traffic. With LINK the last hop
 * crosses the link, and the first hop runs at the link's near end.
 */
import { said } from 'k6/x/windtunnel/record';
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { linkOf } from '../../lib/link.js';
import { currentProfile, envCount, envList, sizesOf } from '../../lib/profiles.js';
import { defaultOf } from '../../lib/variables.js';
import { chainsOf } from '../../lib/protocols/chains.js';
import { digestOf } from '../../lib/protocols/digest.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { MeasuredChain } from '../../lib/protocols/measured-chain.js';
import { shownOf } from '../../lib/protocols/result.js';
import { rowOperations } from '../../lib/protocols/row-operation.js';
import { candidateLeft, sidesOf, targetsOf } from '../../lib/protocols/sides.js';
import { secondsOver } from '../../lib/protocols/transfer.js';

/** `quiet_s` is the quiet period at the end of a turn, s: deferred work of a program counts too. */
const PROFILES = {
  smoke: { turns: 1, handshakes: 20, round_trips: 200, datagrams: 100, transfer_s: 0.1, quiet_s: 0 },
  quick: { turns: 5, handshakes: 50, round_trips: 500, datagrams: 200, transfer_s: 0.25, quiet_s: 0.5 },
  full: { turns: 10, handshakes: 200, round_trips: 2000, datagrams: 1000, transfer_s: 0.5, quiet_s: 1 },
};
/** Sizes over a link: a round trip takes as long as a thousand on loopback, and varies little. */
const PROFILES_OVER_LINK = {
  smoke: { turns: 1, handshakes: 3, round_trips: 5, datagrams: 20, transfer_s: 0.5, quiet_s: 0 },
  quick: { turns: 5, handshakes: 5, round_trips: 20, datagrams: 50, transfer_s: 1, quiet_s: 0.5 },
  full: { turns: 10, handshakes: 10, round_trips: 60, datagrams: 200, transfer_s: 2, quiet_s: 1 },
};

const profiles = linkOf('protocols/chain') ? PROFILES_OVER_LINK : PROFILES;
const sizes = sizesOf(profiles, 'chains are compared under one load, so that its shape does not apply');
const turns = envCount('TURNS', sizes.turns);
const targets = targetsOf();
const { baseline } = sidesOf();
const digests = { baseline: digestOf(baseline) };
/** A smoke run only checks that everything works; other profiles take the chains from the registry. */
const CHAINS =
  currentProfile() === 'smoke'
    ? 'trojan+shadowsocks-2022,vless-reality+trojan'
    : String(defaultOf('CHAINS', 'protocols/chain'));
const { alone, chains } = chainsOf(envList('CHAINS', CHAINS), baseline.engine);
const all = [...alone, ...chains];
const rows = all.map(({ row }) => row);
const able = all.filter(({ row }) => row.engines[baseline.engine] === true);

/** @type {Record<string, MeasuredChain>} of this VU, the only one */
const measured = {};

/** The measurements of a turn. @param {import('../../lib/protocols/turn.js').Turn} turn @param {MeasuredChain} chain */
function measure(turn, chain) {
  if (!turn.reach(sizes)) return;
  const bytes = chain.transferBytes(turn, secondsOver(sizes.transfer_s, turn.plane.data.link));
  turn.bulk(bytes);
  turn.extras(sizes, bytes, chain.row.udp);
}

const script = planeScenario({
  ...startsRows,
  name: 'chain',
  title: 'Two hops',
  load: roundsLoad(equalRounds(turns), candidateLeft()),
  parameters: {
    chains: chains.map(({ row }) => row.row).join(','),
    ...sizes,
    turns,
    ...baseline.settings,
  },
  operations: rowOperations(rows, [baseline]),
  echo: 'events',
  round(_round, index, plane) {
    // Each turn begins with a different row.
    for (let step = 0; step < able.length; step += 1) {
      const chain = able[(step + index) % able.length];
      measured[chain.row.row] ??= new MeasuredChain(plane, chain, baseline, {
        measure,
        quietS: sizes.quiet_s,
      });
      measured[chain.row.row].go(index);
    }
  },
  more: () =>
    shownOf(said(), {
      rows,
      baseline,
      candidate: null,
      turns,
      extraTurns: turns,
      targets,
      digests,
      covers: false,
    }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
