/** Asks an InfluxDB for the points that a run streamed to it. */

/** @typedef {{ name: string, tags?: Record<string, string>, columns: string[], values: any[][] }} Series its tags are the tags in GROUP BY */

/** @param {string} url @param {Record<string, string>} headers @returns {Promise<string>} */
const fetched = async (url, headers) => (await fetch(url, { headers })).text();

/**
 * @param {Record<string, string>} outputs of the testbed influxdb, its secret one too
 * @param {typeof fetched} [get] for an InfluxDB outside this process's network
 */
export function influx(outputs, get = fetched) {
  const login = Buffer.from(`${outputs.INFLUX_USERNAME}:${outputs.INFLUX_PASSWORD}`).toString('base64');

  /** The series of an InfluxQL query, times in seconds. @param {string} query @param {string} [epoch] the unit of times */
  const ask = async (query, epoch = 's') => {
    const parameters = new URLSearchParams({ db: outputs.INFLUX_DATABASE, epoch, q: query });
    const answer = await get(`${outputs.INFLUX}/query?${parameters}`, { authorization: `Basic ${login}` });
    const { results, error } = JSON.parse(answer);
    if (error ?? results[0].error) throw new Error(`${query}: ${error ?? results[0].error}`);
    return /** @type {Series[]} */ (results[0].series ?? []);
  };

  return {
    ask,
    /** The rows of a query of one measurement, by the names of their columns. @param {string} query */
    rows: async (query) =>
      (await ask(query)).flatMap(({ columns, values }) =>
        values.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]]))),
      ),
    /** The sum of a field, 0 without points. @param {string} field @param {string} measurement @param {string} where */
    sum: async (field, measurement, where) => {
      const [series] = await ask(`SELECT sum(${field}) FROM ${measurement} WHERE ${where}`);
      return series ? series.values[0][1] : 0;
    },
  };
}
