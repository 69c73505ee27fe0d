/** Copies a run's points in InfluxDB as the points of another run. */
import { influx } from './influx.js';

/** @param {string} text of a tag in line protocol */
const escaped = (text) => text.replaceAll(/[ ,=]/g, '\\$&');

/** @param {unknown} value @param {string} type of a field */
function written(value, type) {
  if (type === 'string') return `"${String(value).replaceAll(/["\\]/g, '\\$&')}"`;
  return type === 'integer' ? `${value}i` : String(value);
}

/**
 * @param {Record<string, string>} outputs of the testbed influxdb, its secret one too
 * @param {string} testid
 * @param {string} copy its testid
 */
export async function copyRun(outputs, testid, copy) {
  const { ask } = influx(outputs);
  const named = (/** @type {string} */ what) => ask(`SHOW ${what} KEYS`);
  const tags = new Map((await named('TAG')).map(({ name, values }) => [name, values.flat().map(String)]));
  const login = Buffer.from(`${outputs.INFLUX_USERNAME}:${outputs.INFLUX_PASSWORD}`).toString('base64');
  for (const { name, values: fields } of await named('FIELD')) {
    const own = tags.get(name) ?? [];
    const found = await ask(`SELECT * FROM "${name}" WHERE "testid" = '${testid}'`, 'ms');
    const lines = found.flatMap(({ columns, values }) =>
      values.map((row) => {
        const all = Object.fromEntries(columns.map((column, index) => [column, row[index]]));
        const key = own
          .filter((tag) => all[tag])
          .map((tag) => `${tag}=${escaped(tag === 'testid' ? copy : String(all[tag]))}`);
        const kept = fields
          .filter(([field]) => all[field] !== null && all[field] !== undefined)
          .map(([field, type]) => `${field}=${written(all[field], type)}`);
        return `${[name, ...key].join(',')} ${kept.join(',')} ${all.time}`;
      }),
    );
    const answer = await fetch(`${outputs.INFLUX}/write?db=${outputs.INFLUX_DATABASE}&precision=ms`, {
      method: 'POST',
      headers: { authorization: `Basic ${login}` },
      body: lines.join('\n'),
    });
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
  }
}
