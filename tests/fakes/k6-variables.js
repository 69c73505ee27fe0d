/** k6/x/windtunnel/variables: its list is data, and its checks of values are real. */
import { readFileSync } from 'node:fs';
import { asking } from './asked.js';

/** @type {{ name: string }[]} */
const entries = JSON.parse(readFileSync(new URL('../../k6/lists/variables.json', import.meta.url), 'utf8'));

/** @param {string} name */
export function entry(name) {
  const found = entries.find((variable) => variable.name === name);
  return found ? JSON.stringify(found) : '';
}

export const wrong = asking('k6/x/windtunnel/variables')('wrong');
export const misspelt = () => '';
