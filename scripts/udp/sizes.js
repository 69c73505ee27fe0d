/**
 * Which sizes of datagrams come through a SOCKS5 proxy, each way?
 *
 * From 1 byte to 65,507, the largest that UDP has. Each size is sent TRIES times through the proxy and direct. The answers and the
 * far end's counts show whether a size was lost, truncated, split or garbled, and on which way. Further sizes then narrow the
 * largest safe size down to one byte.
 */
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { QUIC_BYTES } from '../../lib/dataplane/quic-size.js';
import { planeScenario, withControl } from '../../lib/dataplane/scenario.js';
import { envCount, envList, sizesOf } from '../../lib/profiles.js';
import { MOST_BYTES, OPERATION, measureSize, narrowDown } from '../../lib/udp/sizes.js';
import { sizesSections } from '../../lib/udp/sizes-shown.js';

/** @param {number} from @param {number} to @param {number} step */
const range = (from, to, step) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);

const LARGE = [2048, 4096, 8192, 16_384, 65_497, MOST_BYTES];
const AROUND = [32_768, 2047, 2049, 8191, 8193, 16_383, 16_385, 49_152, 65_000];
const SMALL = [1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024, 1100];
const PROFILES = {
  smoke: { tries: 2, sizes: [1, 64, 512, 1024, 1180, 1220, 1252, 1350, 1410, 1472, ...LARGE] },
  quick: {
    tries: 5,
    sizes: [...SMALL, ...range(1180, 1252, 4), ...range(1350, 1472, 4), 1472, 1500, ...LARGE, ...AROUND],
  },
  full: {
    tries: 20,
    sizes: [...SMALL, ...range(1180, 1252, 1), ...range(1350, 1472, 1), 1500, ...LARGE, ...AROUND],
  },
};

const base = sizesOf(PROFILES, 'sizes are tried one after the other, so that its shape does not apply');
const tries = envCount('TRIES', base.tries);
const timeoutMs = envCount('TIMEOUT_MS', 'udp/sizes');
const asked = envList('SIZES', base.sizes.join(',')).map(Number);
const sizes = [...new Set([...asked, QUIC_BYTES])].sort((a, b) => a - b);
const judged = sizes.filter((size) => size <= QUIC_BYTES);
const of = { tries, timeoutMs };

const script = planeScenario({
  system: 'udp',
  name: 'sizes',
  title: 'Sizes of datagrams through SOCKS5 UDP ASSOCIATE',
  // The last round narrows down.
  load: roundsLoad(equalRounds(sizes.length + 1)),
  reaches: ['udp'],
  parameters: { sizes: sizes.join(','), tries, timeout_ms: timeoutMs },
  operations: withControl(OPERATION, {
    title: 'Datagrams of at most 1,200 bytes',
    latencyIs: 'from the datagram sent to its answer received',
    least: judged.length * tries,
  }),
  round(_round, index, plane) {
    if (index < sizes.length) measureSize(plane, sizes[index], index, of);
    else narrowDown(plane, of);
  },
  more: () => ({ sections: sizesSections() }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
