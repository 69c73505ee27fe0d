/**
 * Does QUIC work through each protocol, and how fast?
 *
 * The fetches of udp/quic through rows of the matrix, with new processes in each turn: pages and downloads by HTTP/3 over QUIC and by
 * HTTP/2 over TLS over TCP, each beside the same without a proxy.
 */
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { currentProfile, envCount, sizesOf } from '../../lib/profiles.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { measureQuic, quicOperations, quicRowsSection, withoutQuic } from '../../lib/protocols/http3-rows.js';
import { candidateLeft, selectedRows, sidesOf } from '../../lib/protocols/sides.js';
import { downloadMib } from '../../lib/udp/quic.js';

const PROFILES = {
  smoke: { turns: 1, pages: 3, downloads: 1, mib: 1 },
  quick: { turns: 4, pages: 10, downloads: 2, mib: 8 },
  full: { turns: 10, pages: 20, downloads: 4, mib: 32 },
};
/** A smoke run has one row over TCP and one over QUIC. */
const SMOKE_ROWS = currentProfile() === 'smoke' ? 'trojan,hysteria2' : undefined;

const base = sizesOf(PROFILES, 'rows take turns under one load, so that its shape does not apply');
const turns = envCount('TURNS', base.turns);
const sizes = { ...base, mib: downloadMib(base.mib), mtu: envCount('MTU') };
const rows = selectedRows('protocols/http3', SMOKE_ROWS);
const { baseline } = sidesOf();
const able = rows.filter((row) => withoutQuic(row, baseline) === null);
if (able.length === 0) throw 'PROTOCOL: none of these rows can carry QUIC with this engine';

const script = planeScenario({
  ...startsRows,
  name: 'http3',
  title: 'QUIC and HTTP/3 through protocols, beside HTTP/2',
  load: roundsLoad(equalRounds(turns * able.length)),
  echo: 'web',
  parameters: {
    rows: rows.map(({ row }) => row).join(','),
    engine: baseline.engine,
    ...baseline.settings,
    turns,
    pages: sizes.pages,
    downloads: sizes.downloads,
    download_mib: sizes.mib,
    mtu: sizes.mtu,
  },
  operations: quicOperations(able, { page: sizes.pages * turns, download: sizes.downloads * turns }),
  round(_round, index, plane) {
    measureQuic(plane, able[index % able.length], baseline, Math.floor(index / able.length), sizes);
  },
  more: () => ({ sections: [quicRowsSection(rows, baseline)] }),
  notes: candidateLeft(),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
