export const options = { vus: 1, iterations: 1 };
export function setup() { throw new Error('nothing listens at http://127.0.0.1:1; start the relay'); }
export default function () {}
