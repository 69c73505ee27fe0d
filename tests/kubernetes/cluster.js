/** A Kubernetes of one node for tests, with k6-operator and the real relay. `k6 x cluster` runs there as for a user. */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

import { K6, ROOT, cleanEnvironment, start } from '../support/k6.js';
import { descendants, until } from '../support/processes.js';
import { startInflux } from './influx.js';

const HERE = join(ROOT, 'tests', 'kubernetes');
const PARTS = join(ROOT, 'bin', 'kubernetes');
const ADDRESS = '10.99.0.1';
const PORT = 8080;
const PASSWORD = 'a-password-of-the-relay';
const RELAY_URL = `http://${ADDRESS}:${PORT}`;

/** @param {string} command @param {string[]} args */
const execute = (command, ...args) =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 26 });

/** The settings of the relay. */
const RELAY = {
  PULSAR_JWT_SECRET_KEY: 'k'.repeat(40),
  PULSAR_TRUSTED_HOSTS: JSON.stringify([ADDRESS]),
  PULSAR_ALLOWED_ORIGINS: JSON.stringify([RELAY_URL]),
  PULSAR_BOOTSTRAP_ADMIN_USERNAME: 'admin',
  PULSAR_BOOTSTRAP_ADMIN_PASSWORD: PASSWORD,
  PULSAR_BOOTSTRAP_ADMIN_EMAIL: 'admin@example.com',
  PULSAR_STORAGE_BACKEND: 'memory',
  PULSAR_MAX_MESSAGES_PER_TOPIC: '1000000',
  PULSAR_WS_MAX_PER_USER: '2000',
  PULSAR_ACCESS_TOKEN_EXPIRE_MINUTES: '120',
  PULSAR_LOG_LEVEL: 'WARNING',
  RATELIMIT_ENABLED: 'false',
  PYTHONDONTWRITEBYTECODE: '1',
};

/** Log settings: uvicorn writes only a line for each request. */
const ACCESS_LOG = {
  version: 1,
  disable_existing_loggers: false,
  handlers: { requests: { class: 'logging.StreamHandler', stream: 'ext://sys.stdout' } },
  loggers: { 'uvicorn.access': { handlers: ['requests'], level: 'INFO', propagate: false } },
};

export class Cluster {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'windtunnel-kubernetes-'));
    // The cgroups have the folder's name, so each cluster has different cgroups.
    this.directory = join(this.folder, `cluster-${process.pid}`);
    this.count = 0;
    this.runs = /** @type {string[]} */ ([]);
  }

  async up() {
    execute(join(HERE, 'cluster'), 'up', this.directory);
    // The output of `docker save` for the stage `runner` replaces an image made from files of this machine.
    const given = process.env.IMAGE_TAR;
    const images = ['pause', 'operator', 'windtunnel'].map((image) => {
      if (image === 'windtunnel' && given) return given;
      const tar = join(this.folder, `${image}.tar`);
      execute('python3', join(HERE, 'make-image.py'), image, tar);
      return tar;
    });
    execute(join(HERE, 'cluster'), 'load', this.directory, ...images);
    // The cluster has a separate network, and the machine's files.
    this.first = Number(readFileSync(join(this.directory, 'first.pid'), 'utf8'));
    this.network = `/proc/${this.first}/ns/net`;
    mkdirSync(join(this.folder, 'path'));
    const kubectl = join(this.folder, 'path', 'kubectl');
    writeFileSync(
      kubectl,
      `#!/bin/sh\nexec nsenter --net=${this.network} -- ${join(PARTS, 'kubectl')} "$@"\n`,
    );
    chmodSync(kubectl, 0o755);
    this.environment = {
      ...cleanEnvironment(),
      PATH: `${join(this.folder, 'path')}:${process.env.PATH}`,
      KUBECONFIG: join(this.directory, 'kubeconfig'),
      IMAGE: 'localhost/windtunnel:test',
      RUNNERS: '2',
      // Two runners, a coordinator and k6-operator fit on two CPUs.
      RUNNER_CPU: '400m',
      RUNNER_MEMORY: '256Mi',
      CONFIRM_REMOTE: ADDRESS,
      RELAY_PASSWORD: PASSWORD,
      ONLY: 'pulsar/concurrent',
      ENV: this.writeEnvironment('relay', {}),
    };
    await this.installOperator();
    this.environment.KUBECONFIG = this.asUser();
  }

  /** A kubeconfig for a user with the Role in docs/how-to/kubernetes.md. @returns {string} its path */
  asUser() {
    const page = readFileSync(join(ROOT, 'docs', 'kubernetes.md'), 'utf8');
    const role = join(this.folder, 'role.yaml');
    writeFileSync(role, /** @type {RegExpExecArray} */ (/```yaml\n([^]*?)```/.exec(page))[1]);
    this.kubectl('create', '--filename', role);
    return this.allowed('user', 'windtunnel');
  }

  /** A kubeconfig for a given user with a given Role. @param {string} user @param {string} role @returns {string} its path */
  allowed(user, role) {
    this.kubectl('create', 'serviceaccount', user);
    this.kubectl('create', 'rolebinding', user, `--role=${role}`, `--serviceaccount=default:${user}`);
    const path = join(this.folder, `kubeconfig-${user}`);
    const token = this.kubectl('create', 'token', user).trim();
    const own = readFileSync(join(this.directory, 'kubeconfig'), 'utf8');
    writeFileSync(path, own.replace(/token: '\w+'/, `token: '${token}'`));
    return path;
  }

  async installOperator() {
    writeFileSync(join(this.folder, 'operator.yaml'), this.kubectl('kustomize', join(PARTS, 'operator')));
    this.kubectl('apply', '--server-side', '--filename', join(this.folder, 'operator.yaml'));
    const deployment = 'deployment/k6-operator-controller-manager';
    this.kubectl('rollout', 'status', deployment, '--namespace=k6-operator-system', '--timeout=90s');
    // The API server serves a new resource some time after it accepted the definition.
    await until(() => this.serves('testruns.k6.io'), 'the resource testruns.k6.io');
  }

  /** Whether the API server lists a resource. @param {string} name */
  serves(name) {
    try {
      this.kubectl('get', name);
      return true;
    } catch {
      return false;
    }
  }

  /** kubectl as the cluster's administrator. @param {string[]} args @returns {string} */
  kubectl(...args) {
    return execFileSync('kubectl', args, {
      encoding: 'utf8',
      env: { ...this.environment, KUBECONFIG: join(this.directory, 'kubeconfig') },
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1 << 26,
    });
  }

  /** @param {string[]} args @returns {any[]} */
  items(...args) {
    return JSON.parse(this.kubectl('get', ...args, '--output=json')).items;
  }

  /**
   * An environment with the relay in the cluster.
   * @param {string} name
   * @param {Record<string, unknown>} more of the relay's system
   * @returns {string} its path
   */
  writeEnvironment(name, more) {
    const path = join(this.folder, `${name}.json`);
    const auth = { mode: 'login', username: 'admin', password_env: 'RELAY_PASSWORD' };
    const pulsar = { url: RELAY_URL, auth, websocket: { auth: 'subprotocol' }, ...more };
    writeFileSync(
      path,
      JSON.stringify({
        schema: 'windtunnel.environment/1',
        name,
        description: 'A test.',
        systems: { pulsar },
      }),
    );
    return path;
  }

  /** Starts the real relay in the cluster's network, with a line in its log for each request. */
  async startRelay() {
    const settings = join(this.folder, 'log.json');
    writeFileSync(settings, JSON.stringify(ACCESS_LOG));
    this.log = join(this.folder, 'requests.log');
    const out = openSync(this.log, 'w');
    const python = join(ROOT, '.venv', 'pulsar-relay', 'bin', 'python');
    const uvicorn = [python, '-m', 'uvicorn', 'pulsar_relay.main:app', '--app-dir', this.folder];
    const args = ['--host', ADDRESS, '--port', String(PORT), '--backlog', '4096', '--log-config', settings];
    this.relay = spawn('nsenter', [`--net=${this.network}`, '--', ...uvicorn, ...args], {
      env: { ...cleanEnvironment(), ...RELAY },
      cwd: this.folder,
      stdio: ['ignore', out, out],
    });
    await until(() => this.ask('/health').includes('200'), 'the relay');
  }

  /** Starts an InfluxDB in the cluster's network. */
  async startInflux() {
    this.influx = await startInflux(/** @type {string} */ (this.network), ADDRESS, this.folder);
    return this.influx;
  }

  /** An address that pods reach, without a listener. */
  nowhere = `http://${ADDRESS}:9`;

  /** The relay's answer, with its status at the end. @param {string[]} args of curl, the path first */
  ask(path, ...args) {
    try {
      const curl = ['curl', '--silent', '--write-out', ' %{http_code}', ...args, RELAY_URL + path];
      return execute('nsenter', `--net=${this.network}`, '--', ...curl);
    } catch {
      return '';
    }
  }

  /** Topics that the relay has. */
  topics() {
    const login = this.ask('/auth/login', '--data', `username=admin&password=${PASSWORD}`);
    const token = JSON.parse(login.slice(0, login.lastIndexOf(' '))).access_token;
    const answer = this.ask('/api/v1/topics', '--header', `authorization: Bearer ${token}`);
    return JSON.parse(answer.slice(0, answer.lastIndexOf(' ')));
  }

  /** Messages that the relay has accepted since an offset of its log, by the sender's address. @param {number} since */
  accepted(since) {
    /** @type {Map<string, number>} */
    const by = new Map();
    for (const line of this.requests().slice(since)) {
      const sender = /^(\S+):\d+ - "POST \/api\/v1\/messages HTTP\/1.1" 201/.exec(line)?.[1];
      if (sender) by.set(sender, (by.get(sender) ?? 0) + 1);
    }
    return by;
  }

  /** @returns {string[]} lines of the relay's log */
  requests() {
    return readFileSync(/** @type {string} */ (this.log), 'utf8').split('\n');
  }

  /**
   * `k6 x cluster`, as `make cluster` runs it.
   * @param {Record<string, string>} [variables]
   */
  run(variables = {}) {
    this.count += 1;
    const id = `test-kubernetes-${process.pid}-${this.count}`;
    const folder = join(ROOT, 'results', id);
    this.runs.push(folder);
    const run = start(K6, ['x', 'cluster', '--run-id', id], { env: { ...this.environment, ...variables } });
    return {
      ...run,
      id,
      folder,
      /** @param {string} name such as pulsar-concurrent */
      result: (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')),
    };
  }

  /** Kills the process of a pod. @param {RegExp} command that it was started with */
  kill(command) {
    const found = descendants(Number(this.first)).find((one) => command.test(one.command));
    if (!found) throw new Error(`no process ${command}`);
    process.kill(found.pid, 'SIGKILL');
  }

  /** Every object that a run may leave in the cluster. */
  left() {
    const kinds = 'testruns.k6.io,jobs,pods,services,secrets,configmaps,networkpolicies';
    return this.items(kinds, '--selector=windtunnel/run').map(
      ({ kind, metadata }) => `${kind} ${metadata.name}`,
    );
  }

  down() {
    this.relay?.kill('SIGKILL');
    this.influx?.stop();
    if (existsSync(join(this.directory, 'unshare.pid')))
      execute(join(HERE, 'cluster'), 'down', this.directory);
    for (const folder of [this.folder, ...this.runs]) rmSync(folder, { recursive: true, force: true });
  }
}
