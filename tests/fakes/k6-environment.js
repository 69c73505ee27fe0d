/** k6/x/windtunnel/environment is no fake. */
import { asking } from './asked.js';

const ask = asking('k6/x/windtunnel/environment');

export const problems = ask('problems');
export const thresholdProblems = ask('thresholdProblems');
export const dialectProblems = ask('dialectProblems');
export const isLoopback = ask('isLoopback');
export const fromShell = ask('fromShell');
export const endsBadly = ask('endsBadly');
export const connection = ask('connection');
export const tlsMend = ask('tlsMend');
