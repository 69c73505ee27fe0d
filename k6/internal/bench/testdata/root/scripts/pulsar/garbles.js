import { write } from './_result.js';
export const options = { vus: 1, iterations: 1 };
export default function () {}
export const handleSummary = (data) => write(data, 'garbles', 'splendid');
