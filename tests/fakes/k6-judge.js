/** k6/x/windtunnel/judge is no fake. */
import { asking } from './asked.js';

const ask = asking('k6/x/windtunnel/judge');

export const carries = ask('carries');
export const disturbances = ask('disturbances');
export const judge = ask('judge');
export const recordOf = ask('recordOf');
export const thresholds = ask('thresholds');
export const undecided = ask('undecided');
