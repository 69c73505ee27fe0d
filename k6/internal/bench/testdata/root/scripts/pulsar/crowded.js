// Others spoil the first CROWDED measurements. WRONG adds an error that no busy machine causes, LOST one that a busy machine causes.
import { write } from './_result.js';
export const options = { vus: 1, iterations: 1 };
const told = `${__ENV.RESULT_DIR}/logs/measured`;
let measured = 0;
try {
  measured = Number(open(told));
} catch {
  // It is the first.
}
if (measured > 0 !== Boolean(__ENV.MEASURED_AGAIN)) throw new Error('it is not told that it is measured again');
const disturbed = measured < Number(__ENV.CROWDED);
const reason = (kind, text) => ({ role: 'cause', kind, text, count: 1 });
const reasons = [reason('machine', 'neighbours: CPU 1: 40.0 %'), reason('generator', 'generator lateness: op')];
if (__ENV.LOST) reasons.push({ ...reason('error', 'op: 2 × lost'), busy_machine: true });
if (__ENV.WRONG) reasons.push(reason('samples', 'samples: op: too few'));
export default function () {}
export const handleSummary = (data) => ({
  ...write(data, 'crowded', disturbed ? 'inconclusive' : 'pass', disturbed ? { reasons } : {}),
  [told]: String(measured + 1),
});
