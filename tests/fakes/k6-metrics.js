/** k6/metrics as far as lib/ uses it: every sample is kept. */
/** @type {{ metric: string, value: number | boolean, tags: Record<string, string> | undefined }[]} */
export const samples = [];

class Metric {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /** @param {number | boolean} value @param {Record<string, string>} [tags] */
  add(value, tags) {
    samples.push({ metric: this.name, value, tags });
  }
}

export class Counter extends Metric {}
export class Gauge extends Metric {}
export class Rate extends Metric {}
export class Trend extends Metric {}
