/** The exit codes, from their only list. */
import { readFileSync } from 'node:fs';

/** @type {Record<'pass' | 'usage' | 'inconclusive' | 'setup' | 'fail' | 'interrupted', { code: number }>} */
const list = JSON.parse(readFileSync(new URL('../../k6/lists/exit-codes.json', import.meta.url), 'utf8'));

export const PASS = list.pass.code;
export const USAGE = list.usage.code;
export const INCONCLUSIVE = list.inconclusive.code;
export const SETUP = list.setup.code;
export const FAIL = list.fail.code;
export const INTERRUPTED = list.interrupted.code;
