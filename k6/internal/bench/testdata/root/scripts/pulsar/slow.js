import { sleep } from 'k6';
import { write } from './_result.js';
export const options = { vus: 1, iterations: 1 };
export default function () { sleep(60); }
export function teardown() { console.log('teardown ran'); }
export const handleSummary = (data) => write(data, 'slow', 'inconclusive');
