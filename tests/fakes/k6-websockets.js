/** k6/websockets: a socket whose events the test fires. */
export class WebSocket {
  /** @type {WebSocket[]} */
  static made = [];

  /** @param {string} url @param {string[]} protocols */
  constructor(url, protocols) {
    this.url = url;
    this.protocols = protocols;
    /** @type {string[]} */
    this.sent = [];
    WebSocket.made.push(this);
  }

  /** @param {string} text */
  send(text) {
    this.sent.push(text);
  }

  close() {}
}
