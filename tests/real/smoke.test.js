/** One smoke run of all scenarios against the real systems, and the checks of each system and of the boards. */
import { after } from 'node:test';
import { endSmokeRun } from '../support/smoke-run.js';
import './smoke/boards.js';
import './smoke/dataplane.js';
import './smoke/footprint.js';
import './smoke/panel.js';
import './smoke/protocols.js';
import './smoke/relay.js';
import './smoke/streaming.js';
import './smoke/tproxy.js';
import './smoke/udp.js';
import './smoke/users.js';

after(endSmokeRun);
