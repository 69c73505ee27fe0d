/** k6/timers: Node's own. */
export const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
