// Figures as people read them.

/** Nanoseconds, as microseconds of three significant digits; a dash where there is no figure. */
export function microseconds(nanoseconds) {
  if (nanoseconds === undefined) return '–';
  const value = nanoseconds / 1000;
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${value.toFixed(digits)} µs`;
}

/** The times of those that every table names. */
export const timeCells = ({ typescript, older, bsonrow }) =>
  [typescript, older, bsonrow].map((contender) => microseconds(contender?.nsPerDocument));

export const number = (value) => value?.toLocaleString('en') ?? '–';

export const ratio = (value) => value?.toFixed(value < 10 ? 2 : 1) ?? '–';

/** A title of at most `length` characters: the middle gives way, the ends tell files of one folder apart. */
export function shortened(title, length) {
  if (title.length <= length) return title;
  const tail = Math.floor(length / 3);
  return `${title.slice(0, length - tail - 1)}…${title.slice(-tail)}`;
}

/** Where and when figures were taken. */
export const describeRun = ({ node, machine, date }) =>
  `Node.js ${node} on ${machine.cpu}, ${machine.cores} cores, ${machine.system}, ${date.slice(0, 10)}`;

/** Scenarios by group, in the order in which groups first appear. */
export function byGroup(scenarios) {
  const groups = new Map();
  for (const scenario of scenarios) {
    groups.set(scenario.group, [...(groups.get(scenario.group) ?? []), scenario]);
  }
  return groups;
}
