/** k6/x/windtunnel/difference is no fake. */
import { asking } from './asked.js';

const ask = asking('k6/x/windtunnel/difference');

export const judge = ask('judge');
export const tellApart = ask('tellApart');
export const moreOften = ask('moreOften');
export const nextLook = ask('nextLook');
export const mostMinutes = ask('mostMinutes');
export const order = ask('order');
