/** Clients of proxies' own APIs, which speak gRPC. */
import { Client } from 'k6/net/grpc';
import { pathOf } from '../file.js';

const FOLDER = pathOf(import.meta.resolve('./stats.proto')).replace(/\/[^/]*$/, '');

/** In the init phase. @param {string[]} files of this folder, with the services */
export function clientOf(...files) {
  const client = new Client();
  client.load([FOLDER], ...files);
  return client;
}
