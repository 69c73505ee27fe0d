/** A SOCKS5 proxy that never dials: it grants each request, and returns each payload without a far end. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
const UDP_ASSOCIATE = 3;

/** @param {number} port of an IPv4 address on loopback */
const granted = (port) => Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, port >> 8, port & 0xff]);

export async function startAloneProxy() {
  const relay = createSocket('udp4');
  // The header with the target of a datagram is also the header with the source of its answer.
  relay.on('message', (datagram, { port, address }) => relay.send(datagram, port, address));
  relay.bind(0, LOOPBACK);
  await once(relay, 'listening');
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', (request) => {
        const association = request[1] === UDP_ASSOCIATE;
        socket.write(granted(association ? relay.address().port : 0));
        if (association) socket.resume();
        else socket.pipe(socket);
      });
    });
  });
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `socks5://${LOOPBACK}:${port}`,
    stop() {
      server.close();
      relay.close();
    },
  };
}
