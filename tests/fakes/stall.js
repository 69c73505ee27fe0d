/** A time in which a fake answers nothing. */

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @typedef {{ ms: number, laterMs?: number }} Length of the stall, and its delay after begin(): none unless given */

export class Stall {
  constructor() {
    this.from = Infinity;
    this.until = -Infinity;
  }

  /** @param {Length} length */
  begin({ ms, laterMs = 0 }) {
    this.from = performance.now() + laterMs;
    this.until = this.from + ms;
  }

  /** Waits for the end of a stall. */
  async pass() {
    for (let now = performance.now(); now >= this.from && now < this.until; now = performance.now())
      await sleep(this.until - now);
  }
}
