/** Certificates, made by openssl, and a server that takes TLS in front of one that does not. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectSecurely, createServer } from 'node:tls';

/**
 * @typedef {{ cert: string, key: string }} Pair in PEM
 * @typedef {Pair & { name: string }} Made
 */

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
/** The settings add no extensions. Only `openssl ca` can date a certificate back. */
const CONFIG = (/** @type {string} */ folder) => `
[req]
distinguished_name = names
[names]
[ca]
default_ca = own
[own]
database = ${folder}/index.txt
new_certs_dir = ${folder}
rand_serial = yes
unique_subject = no
default_md = sha256
policy = policy
copy_extensions = copy
[policy]
commonName = supplied
`;

/** Makes certificates in a folder. @param {string} folder */
export function certificates(folder) {
  const file = (/** @type {string} */ name) => join(folder, name);
  const config = file('openssl.cnf');
  writeFileSync(config, CONFIG(folder));
  writeFileSync(file('index.txt'), '');
  /** @param {string[]} args */
  const openssl = (...args) =>
    execFileSync('openssl', [...args, '-config', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  /** @param {string} name @returns {Made} */
  const made = (name) => ({
    name,
    cert: readFileSync(file(`${name}.pem`), 'utf8'),
    key: readFileSync(file(`${name}.key`), 'utf8'),
  });
  /** @param {string[]} extensions */
  const added = (extensions) => extensions.flatMap((text) => ['-addext', text]);
  return {
    file,
    /**
     * A certificate for two days; self-signed unless `by` signs it.
     * @param {string} name
     * @param {{ extensions?: string[], by?: Made }} [of]
     */
    issue(name, { extensions = ['subjectAltName=DNS:proxy.test,IP:127.0.0.1'], by } = {}) {
      const signed = by ? ['-CA', file(`${by.name}.pem`), '-CAkey', file(`${by.name}.key`)] : [];
      const out = ['-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)];
      openssl(
        'req',
        ...['-x509', ...NEW_KEY, '-days', '2', '-subj', `/CN=${name}`],
        ...[...out, ...added(extensions), ...signed],
      );
      return made(name);
    },
    /** A self-signed certificate that was valid in January 2020. @param {string} name */
    expired(name) {
      const [key, csr, out] = ['key', 'csr', 'pem'].map((end) => file(`${name}.${end}`));
      const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
      openssl('req', '-new', ...NEW_KEY, '-keyout', key, '-out', csr, ...subject);
      const dates = ['-startdate', '20200101000000Z', '-enddate', '20200201000000Z'];
      openssl('ca', '-batch', '-notext', '-selfsign', '-keyfile', key, '-in', csr, '-out', out, ...dates);
      return made(name);
    },
  };
}

/** Extensions of an authority's certificate. */
export const AUTHORITY = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign'];

/**
 * Takes TLS by OpenSSL, through Node.js, and passes the bytes on to a port of this machine.
 * @param {number} port
 * @param {import('node:tls').TlsOptions} options
 */
export async function startTLS(port, options) {
  /** @type {Set<import('node:stream').Duplex>} */
  const open = new Set();
  /** @type {string[]} */
  const spoken = [];
  const server = createServer(options, (secured) => {
    spoken.push(secured.getProtocol() ?? '');
    const plain = connect(port, '127.0.0.1');
    plain.setNoDelay(true);
    secured.setNoDelay(true);
    for (const [one, other] of [
      [secured, plain],
      [plain, secured],
    ]) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => open.delete(one));
      one.pipe(other);
    }
  });
  server.on('tlsClientError', () => {});
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const own = /** @type {import('node:net').AddressInfo} */ (server.address()).port;
  return {
    port: own,
    address: `127.0.0.1:${own}`,
    url: `socks5://127.0.0.1:${own}`,
    /** The TLS version of each connection so far. */
    spoken,
    stop: () => {
      server.close();
      open.forEach((one) => one.destroy());
    },
  };
}

/** A connection of Node.js in TLS, as `connect` of node:net gives one without. @param {import('node:tls').ConnectionOptions} options */
export const secureSocket = (options) =>
  /** @type {import('node:net').Socket} */ (connectSecurely({ servername: 'proxy.test', ...options }));
