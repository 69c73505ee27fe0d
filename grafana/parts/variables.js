/** The variables at the top of a board. Names of runs begin with their time, so the newest is first in descending order. */
import {
  ConstantVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { CLASS, DATASOURCE, OPERATION, RUN, SCENARIO, SYSTEM } from './influx.js';

/**
 * `k6 x bench` writes events before k6 writes a scenario's points, and for a scenario that could not be set
 * up. k6 alone writes only its measurements.
 */
const FIRST = ['events', 'operation_failed'];
/** The tag of events about the whole run. */
const NONE = "'-'";

/** Labels that are not the name. @type {Record<string, string>} */
const LABELS = { testid: 'Run', class: 'Machine' };

/**
 * @param {string} name
 * @param {string} description
 * @param {string[]} from measurements
 * @param {string[]} where
 */
function tagValues(name, description, from, where) {
  const tag = name === 'baseline' ? 'testid' : name;
  const measurements = from.map((measurement) => `"${measurement}"`).join(', ');
  const condition = where.length > 0 ? ` WHERE ${where.join(' AND ')}` : '';
  return new QueryVariableBuilder(name)
    .description(description)
    .datasource(DATASOURCE)
    .query({ refId: name, query: `SHOW TAG VALUES FROM ${measurements} WITH KEY = "${tag}"${condition}` })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .label(LABELS[name] ?? `${name[0].toUpperCase()}${name.slice(1)}`);
}

/** @param {QueryVariableBuilder} variable */
const several = (variable) =>
  variable
    .multi(true)
    .includeAll(true)
    .current({ selected: true, text: ['All'], value: ['$__all'] })
    .sort(VariableSort.NaturalAsc);

/** @param {string[]} where */
const testid = (where) =>
  tagValues('testid', 'The run that the board shows; the newest unless chosen.', FIRST, where).sort(
    VariableSort.AlphabeticalDesc,
  );

const baseline = () =>
  tagValues(
    'baseline',
    'A finished run to compare it with; the newest other one unless chosen.',
    ['results'],
    ['"testid" != ${testid:singlequote}', SYSTEM],
  ).sort(VariableSort.AlphabeticalDesc);

const scenario = () => several(tagValues('scenario', 'Scenarios of the run.', FIRST, [RUN, SYSTEM]));

/** @param {string} [regex] which of them are offered */
function operation(regex) {
  const variable = several(
    tagValues('operation', 'Operations of these scenarios.', ['operation_failed'], [RUN, SYSTEM, SCENARIO]),
  );
  return regex ? variable.regex(regex) : variable;
}

const system = () =>
  several(tagValues('system', 'Systems under test of the run.', FIRST, [RUN, `"system" != ${NONE}`]));

/** Variables of a board about all systems. */
export const allSystems = () => [testid([]), baseline(), system(), scenario(), operation()];

/** Variables of a board about one system. @param {string} name */
export const oneSystem = (name) => [
  new ConstantVariableBuilder('system').value(name),
  testid([`"system" = '${name}'`]),
  baseline(),
  scenario(),
  operation(),
];

/**
 * Variables of the board about data planes and protocols. Controls are not offered as operations: they stand
 * beside their operations.
 * @param {string[]} systems
 */
export const dataplanes = (systems) => [
  testid([`"system" =~ /^(${systems.join('|')})$/`]),
  baseline(),
  system().regex(`/^(?:${systems.join('|')})$/`),
  scenario(),
  operation('/^(?!.*direct$).+$/'),
];

/** Variables of the board about histories. A graph never mixes different machines, so the user chooses one class. */
export const ofTrend = () => [
  tagValues('class', 'The class of machine whose history is shown: the name of its file.', ['trend'], []),
  several(tagValues('system', 'Systems of the history.', ['trend'], [CLASS])),
  several(tagValues('scenario', 'Scenarios of the history.', ['trend'], [CLASS, SYSTEM])),
  several(
    tagValues(
      'operation',
      'Operations of these scenarios; – is the whole run.',
      ['trend'],
      [CLASS, SYSTEM, SCENARIO],
    ),
  ),
  several(
    tagValues('metric', 'Metrics of these operations.', ['trend'], [CLASS, SYSTEM, SCENARIO, OPERATION]),
  ),
];
