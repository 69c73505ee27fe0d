import { setTimeout } from 'k6/timers';

/** Waits without blocking the event loop of the VU. @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
