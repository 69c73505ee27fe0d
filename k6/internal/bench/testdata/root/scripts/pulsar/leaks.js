import { write } from './_result.js';
export const options = { vus: 1, iterations: 1 };
export default function () {
  console.log(`the password is ${__ENV.PULSAR_PASSWORD}`);
  console.log('ws://127.0.0.1/ws?token=got-by-login&topic=t');
  console.error('token=got-by-login');
  console.log(`the sidecar's is ${__ENV.SIDECAR_TOKEN}`);
  console.error(`encoded ${encodeURIComponent(__ENV.PULSAR_PASSWORD)}`);
}
export const handleSummary = (data) => write(data, 'leaks', 'pass', { notes: [`note ${__ENV.PULSAR_PASSWORD}`] });
