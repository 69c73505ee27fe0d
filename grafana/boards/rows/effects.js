/** When a panel's changes of users took effect in the data plane, and the flows of other users meanwhile. */
import { ofSections } from '../../parts/influx.js';
import { table } from '../../parts/panels.js';
import { units } from '../../parts/units.js';

/** @returns {import('../board.js').Row} */
export const effectRow = () => ({
  id: 1700,
  title: 'Users that change while others talk',
  collapsed: true,
  panels: [effects(), untouched()],
});

const effects = () =>
  table({
    id: 1701,
    title: 'Time to effect',
    description:
      "From the panel's answer until a new connection of the user carries data, or is refused: an interval in the median, and the slowest. Known when users-live has ended.",
    unit: units.ms,
    w: 12,
    empty: 'users-live has not ended',
    columns: [
      { name: 'change', of: 'row' },
      { name: 'changes', fitted: true, unit: units.count },
      { name: 'never', title: 'without effect', fitted: true, unit: units.count },
      { name: 'least', title: 'at least', fitted: true },
      { name: 'most', title: 'at most', fitted: true },
      { name: 'slowest', fitted: true },
    ],
    shows: ofSections('effects'),
  });

const untouched = () =>
  table({
    id: 1702,
    title: 'Flows of users whom nobody changed',
    description: 'Round trips before the changes and during them, by one probe over the same connections.',
    unit: units.ms,
    w: 12,
    empty: 'users-live has not ended',
    columns: [
      { name: 'phase', of: 'row' },
      { name: 'p50_ms', title: 'P50', fitted: true },
      { name: 'p95_ms', title: 'P95', fitted: true },
      { name: 'p99_ms', title: 'P99', fitted: true },
      { name: 'lost', title: 'flows lost', fitted: true, unit: units.count },
    ],
    shows: ofSections('untouched'),
  });
