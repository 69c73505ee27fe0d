import { Counter } from 'k6/metrics';
import { write } from './_result.js';
const errors = new Counter('errors');
export const options = { vus: 1, iterations: 1, thresholds: { errors: ['count<1'] } };
export default function () { errors.add(1); }
export const handleSummary = (data) => write(data, 'fails', 'fail');
