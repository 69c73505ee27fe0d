/** Debian's InfluxDB in a cluster's network, as testbeds/influxdb runs it on loopback. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { influx } from '../support/influx.js';
import { ROOT, cleanEnvironment } from '../support/k6.js';
import { until } from '../support/processes.js';

const TESTBED = join(ROOT, 'testbeds', 'influxdb');
const PASSWORD = 'a-password-of-influxdb';

/** The testbed's settings for another address. @param {string} data its folder @param {string} address HOST:PORT */
function settings(data, address) {
  const text = readFileSync(join(TESTBED, 'influxdb.conf.j2'), 'utf8')
    .replace(/^\{%-.*%\}\n/, '')
    .replace(/\{\{ \(data ~ '(\/\w+)'\) \| tojson \}\}/g, (_, part) => JSON.stringify(data + part))
    .replace('127.0.0.1:{{ vars.http_port }}', address);
  if (/\{[{%]/.test(text)) throw new Error(`influxdb.conf.j2 has what is not known here:\n${text}`);
  return text;
}

/**
 * @param {string} network the file of a network namespace
 * @param {string} host an address there that pods reach
 * @param {string} folder that exists
 */
export async function startInflux(network, host, folder) {
  const own = join(folder, 'influxdb');
  mkdirSync(own);
  writeFileSync(join(own, 'influxdb.conf'), settings(own, `${host}:8086`));
  const variables = {
    INFLUX: `http://${host}:8086`,
    INFLUX_USERNAME: 'windtunnel',
    INFLUX_PASSWORD: PASSWORD,
    INFLUX_DATABASE: 'windtunnel',
  };
  const command = ['python3', join(TESTBED, 'start.py'), '/usr/bin/influxd'];
  const child = spawn('nsenter', [`--net=${network}`, '--', ...command], {
    cwd: own,
    env: { ...cleanEnvironment(), ...variables, INFLUX_RETENTION: '1d' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const output of [child.stdout, child.stderr]) output.on('data', (text) => (said += text));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`InfluxDB ended: ${said}`);
    return /^windtunnel may write$/m.test(said);
  }, 'InfluxDB');
  // The address exists only in that network.
  const get = async (/** @type {string} */ url, /** @type {Record<string, string>} */ headers) => {
    const told = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
    return execFileSync('nsenter', [`--net=${network}`, '--', 'curl', '--silent', ...told, url], {
      encoding: 'utf8',
    });
  };
  return { variables, ...influx(variables, get), stop: () => child.kill('SIGKILL') };
}
