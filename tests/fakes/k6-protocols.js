/** k6/x/windtunnel/protocols is no fake. */
import { asking } from './asked.js';

const ask = asking('k6/x/windtunnel/protocols');
export const matrix = ask('matrix');
export const sides = ask('sides');
