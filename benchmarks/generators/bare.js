// The smallest k6 script that publishes the messages of pulsar/ingest and pulsar/concurrent.
import http from 'k6/http';
import { check } from 'k6';

const clients = Number(__ENV.CLIENTS);
const topics = Number(__ENV.TOPICS);

export const options = {
  scenarios: {
    closed: {
      executor: 'per-vu-iterations',
      vus: clients,
      iterations: Number(__ENV.MESSAGES) / clients,
      maxDuration: '10m',
    },
  },
};

export function setup() {
  const form = { username: __ENV.PULSAR_USERNAME, password: __ENV.PULSAR_PASSWORD };
  return {
    token: http.post(`${__ENV.PULSAR_URL}/auth/login`, form).json('access_token'),
    startedAt: Date.now(),
  };
}

export default function publish({ token }) {
  const body = JSON.stringify({
    topic: `bare-${__ITER % topics}`,
    payload: { seq: __ITER, text: 'x'.repeat(100) },
  });
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
  const response = http.post(`${__ENV.PULSAR_URL}/api/v1/messages`, body, { headers });
  check(response, { created: ({ status }) => status === 201 });
}

export function teardown({ startedAt }) {
  console.log(`seconds ${(Date.now() - startedAt) / 1000}`);
}
