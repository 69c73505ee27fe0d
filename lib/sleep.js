import { setTimeout } from 'k6/timers';

/** Waits on the event loop, so that other events of the VU go on. @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
