// Stands in for @powersync/service-types: the service's configuration is described while its modules load, so
// the parts of a description must combine; no conversion ever reads one.
const description = { and: () => description, optional: () => description };

export const configFile = { DataSourceConfig: description };
export const enumLiteral = () => description;
export const orNull = () => description;
export const ReplicationMetric = undefined;
