/** What is chosen at the top of a board. Names of runs begin with their time, so that descending is newest first. */
import {
  ConstantVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE, RUN, SCENARIO, SYSTEM } from './influx.js';

/** k6 writes it from a scenario's first second on. */
const FIRST = 'vus';

/**
 * @param {string} name
 * @param {string} description
 * @param {string} from measurement
 * @param {string[]} where
 */
function tagValues(name, description, from, where) {
  const tag = name === 'baseline' ? 'testid' : name;
  const condition = where.length > 0 ? ` WHERE ${where.join(' AND ')}` : '';
  return new QueryVariableBuilder(name)
    .description(description)
    .datasource(DATASOURCE)
    .query({ refId: name, query: `SHOW TAG VALUES FROM "${from}" WITH KEY = "${tag}"${condition}` })
    .refresh(VariableRefresh.OnTimeRangeChanged);
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
  tagValues('testid', 'The run that the board shows; the newest unless chosen.', FIRST, where)
    .label('Run')
    .sort(VariableSort.AlphabeticalDesc);

const baseline = () =>
  tagValues('baseline', 'A finished run to compare it with; the newest other one unless chosen.', 'results', [
    '"testid" != ${testid:singlequote}',
    SYSTEM,
  ])
    .label('Baseline')
    .sort(VariableSort.AlphabeticalDesc);

const scenario = () =>
  several(tagValues('scenario', 'Scenarios of the run.', FIRST, [RUN, SYSTEM]).label('Scenario'));

/** @param {string} [regex] which of them are offered */
function operation(regex) {
  const variable = several(
    tagValues('operation', 'Operations of these scenarios.', 'operation_failed', [
      RUN,
      SYSTEM,
      SCENARIO,
    ]).label('Operation'),
  );
  return regex ? variable.regex(regex) : variable;
}

/** Of a board about all systems. */
export const allSystems = () => [
  testid([]),
  baseline(),
  several(tagValues('system', 'Systems under test of the run.', FIRST, [RUN]).label('System')),
  scenario(),
  operation(),
];

/** Of a board about one system. @param {string} system */
export const oneSystem = (system) => [
  new ConstantVariableBuilder('system').value(system),
  testid([`"system" = '${system}'`]),
  baseline(),
  scenario(),
  operation(),
];

/**
 * Of the board about data planes and protocols. Controls are not offered as operations: they stand beside theirs.
 * @param {string[]} systems
 */
export const dataplanes = (systems) => [
  testid([`"system" =~ /^(${systems.join('|')})$/`]),
  baseline(),
  several(tagValues('system', 'Systems under test of the run.', FIRST, [RUN]).label('System')).regex(
    `/^(?:${systems.join('|')})$/`,
  ),
  scenario(),
  operation('/^(?!.*direct$).+$/'),
];
