/** k6/x/windtunnel/protocols is no fake. */
import { asking } from './asked.js';

export const matrix = asking('k6/x/windtunnel/protocols')('matrix');
