/**
 * Does QUIC work through a SOCKS5 proxy, and how fast?
 *
 * A client of HTTP/3 over QUIC fetches pages and downloads through UDP ASSOCIATE, and a client of HTTP/2 over TLS over TCP fetches the
 * same through CONNECT. Both have their control beside them: the same direct. Both clients and the far end are the sidecar's. Every byte
 * is checked at the client, and the far end counts what it sent.
 */
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { controlName, planeScenario, withControl } from '../../lib/dataplane/scenario.js';
import { envCount, sizesOf } from '../../lib/profiles.js';
import {
  FETCH,
  HTTPS,
  PAGE,
  TITLES,
  downloadMib,
  fetchByBoth,
  loadsOf,
  quicSections,
} from '../../lib/udp/quic.js';

const PROFILES = {
  smoke: { rounds: 1, pages: 5, downloads: 3, mib: 1 },
  quick: { rounds: 4, pages: 10, downloads: 2, mib: 8 },
  full: { rounds: 10, pages: 20, downloads: 4, mib: 32 },
};
const base = sizesOf(
  PROFILES,
  'pages and downloads are fetched one after the other, so that its shape does not apply',
);
const rounds = envCount('ROUNDS', base.rounds);
const mib = downloadMib(base.mib);
const mtu = envCount('MTU');

const CONNECTED = { latencyIs: 'from the begin to the end of the handshake', series: 'connected' };
const ROWS = /** @type {const} */ ([
  { name: 'connect', title: 'Connection', ...CONNECTED },
  { name: 'page', title: 'Page', ...FETCH },
  { name: 'download', title: 'Download', ...FETCH },
]);
const least = { connect: 0, page: base.pages * rounds, download: base.downloads * rounds };
const nameOf = (/** @type {string} */ what, /** @type {string} */ http) => `${what}_${http}`;

const script = planeScenario({
  system: 'udp',
  name: 'quic',
  title: 'QUIC and HTTP/3 through SOCKS5 UDP ASSOCIATE, beside HTTP/2',
  load: roundsLoad(equalRounds(rounds)),
  reaches: ['h2'],
  echo: 'web',
  parameters: {
    rounds,
    pages: base.pages,
    page_objects: PAGE.objects,
    object_bytes: PAGE.bytes,
    downloads: base.downloads,
    download_mib: mib,
    mtu,
  },
  operations: Object.assign(
    {},
    ...ROWS.flatMap(({ name, title, ...about }) =>
      HTTPS.map((http) =>
        withControl(nameOf(name, http), {
          ...about,
          title: `${title} by ${TITLES[http]}`,
          ...(least[name] > 0 && { least: least[name] }),
        }),
      ),
    ),
  ),
  round(_round, index, plane) {
    const names =
      (/** @type {string[]} */ ...of) =>
      (/** @type {import('../../lib/udp/quic.js').Http} */ http, /** @type {boolean} */ direct) =>
        of.map((one) => (direct ? controlName(nameOf(one, http)) : nameOf(one, http)));
    const [pages, downloads] = loadsOf(base, mib, mtu);
    fetchByBoth(plane, index, 'pages', pages, names('page', 'connect'));
    fetchByBoth(plane, index, 'downloads', downloads, names('download'));
  },
  more: () => ({
    sections: quicSections(
      ROWS.map(({ name, title }) => ({ title, operation: (http) => nameOf(name, http) })),
    ),
  }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
